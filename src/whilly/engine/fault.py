"""What it means for people that the ledger's database does not do what it is asked."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import sqlalchemy as sa

from whilly.domain.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

_AGAIN = "then run the same command again: nothing is lost"
_REMEDIES = {
    "readonly database": "let yourself write it: chmod u+w {files} (or: sudo chown $(id -u) {files})",
    "read-only transaction": "ask for a database that can be written, or change storage.database_url",
    "disk is full": f"free some disk space, {_AGAIN}",
    "disk full": f"free some disk space, {_AGAIN}",
    "disk i/o error": f"free some disk space or mend the disk, {_AGAIN}",
    "no space left": f"free some disk space, {_AGAIN}",
    "database is locked": f"end what locks it, {_AGAIN}",
    "unable to open": "check the disk, the permissions of {files} and storage.database_url",
}
"""Part of what a database says, in lower case → what helps."""
_ANYTHING = f"free some disk space, or see what `whilly doctor` says of it, {_AGAIN}"


def name_place(engine: sa.Engine) -> None:
    """Let every error of this database say where it is."""
    place = engine.url.database if engine.dialect.name == "sqlite" else engine.url.render_as_string()

    def note(context: sa.engine.ExceptionContext) -> None:
        if context.sqlalchemy_exception is not None:
            context.sqlalchemy_exception.add_detail(place or "")

    sa.event.listen(engine, "handle_error", note)


def explain_fault(error: BaseException) -> Unavailable | None:
    """The same error for people; None when it is not that the database could not be used."""
    for each in _chain(error):
        if isinstance(each, sa.exc.OperationalError | sa.exc.InternalError | sa.exc.InterfaceError):
            return _explain(each)
    return None


def _explain(error: sa.exc.DBAPIError) -> Unavailable:
    said = str(error.orig).strip()
    place = next(iter(error.detail), "")
    message = f"the ledger {place} cannot be read or written: {said}".replace("ledger  ", "ledger ")
    remedy = next((remedy for sign, remedy in _REMEDIES.items() if sign in said.lower()), _ANYTHING)
    return Unavailable(message, remedy=remedy.format(files=f"{shlex.quote(place)}*" if place else ".whilly/whilly.db*"))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
