"""What settings are made of."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue

from whilly.config.values import checked_host, checked_path, checked_reference

Seconds = Annotated[float, Field(ge=0, le=10**9, allow_inf_nan=False)]
Dollars = Annotated[Decimal, Field(ge=0, le=10**9, allow_inf_nan=False)]
VariableName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*\*?$")]
RepositoryPath = Annotated[str, AfterValidator(checked_path)]
AbsolutePath = Annotated[str, Field(pattern=r"^/[^\x00]*$")]
HostName = Annotated[str, AfterValidator(checked_host)]
SecretReference = Annotated[str, AfterValidator(checked_reference)]
SENSITIVE: dict[str, JsonValue] = {"sensitive": True}


class Section(BaseModel):
    """A table of settings: frozen, and closed to names it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)
