"""Settings of the places where issues and pull requests live."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, Field

from whilly.config.tables.fields import SENSITIVE, SecretReference, Section
from whilly.config.values import checked_url

Url = Annotated[str, AfterValidator(checked_url)]


class ForgeTable(Section):
    """A forge: `[forges.NAME]`. github.com is known without a table."""

    kind: Literal["", "github", "gitea", "forgejo", "gitlab"] = Field(
        default="", description="Whose API it speaks; empty is the table's own name, or `github` for any other name."
    )
    url: Url = Field(
        default="", description="Where Whilly reaches it; empty is the public service of `github` and `gitlab`."
    )
    public_url: Url = Field(default="", description="Where people see it, if that is another address: for links.")
    token: SecretReference = Field(
        default="",
        json_schema_extra=SENSITIVE,
        description="Reference to the token: `keyring:whilly/work`, `env:NAME`, `file:/path`.",
    )
    reserve_percent: float = Field(
        default=10,
        ge=0,
        le=100,
        description="The share of the token's rate limit that Whilly leaves to the people who use it, too.",
    )

    def speaks(self, name: str) -> str:
        """Whose API the forge of this name speaks: one of the kinds."""
        return self.kind or (name if name in get_args(ForgeTable.model_fields["kind"].annotation) else "github")


class TrackerTable(Section):
    """A tracker that is no forge: `[trackers.NAME]`."""

    kind: Literal["", "jira", "plane"] = Field(
        default="", description="Whose API it speaks; empty is the table's own name, or `jira` for any other name."
    )
    url: Url = Field(default="", description="Where Whilly reaches it.")
    public_url: Url = Field(default="", description="Where people see it, if that is another address: for links.")
    workspace: str = Field(default="", description="The short name of the workspace in Plane's addresses.")
    username: str = Field(
        default="", description="The mail address of the account, for Jira Cloud; empty for a personal access token."
    )
    token: SecretReference = Field(
        default="",
        json_schema_extra=SENSITIVE,
        description="Reference to the token: `keyring:whilly/jira`, `env:NAME`, `file:/path`.",
    )

    def speaks(self, name: str) -> str:
        """Whose API the tracker of this name speaks: one of the kinds."""
        return self.kind or (name if name in get_args(TrackerTable.model_fields["kind"].annotation) else "jira")
