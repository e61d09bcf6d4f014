"""A click group whose commands are imported when they are used."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, final

import click
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whilly.cli.commands import Lazy


@final
class LazyGroup(click.Group):
    """Knows its commands by name and help; imports one when it is used."""

    def __init__(self, *, table: Mapping[str, Lazy], **attrs: object) -> None:
        super().__init__(**attrs)  # type: ignore[arg-type]  # click's own decorator passes them on in the same way
        self._table = table

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._table)

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = self._table.get(cmd_name)
        if entry is None:
            return None
        module, _, attribute = entry.target.partition(":")
        command = getattr(importlib.import_module(module), attribute)
        if not isinstance(command, click.Command):
            raise TypeError(entry.target)
        return command

    @override
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in self._table.items()])

    @override
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in self._table and not name.startswith("-"):
            import difflib  # noqa: PLC0415  (costs time that only this error needs)

            nearest = difflib.get_close_matches(name, self._table, n=1, cutoff=0.5)
            hint = f"Did you mean `whilly {nearest[0]}`?" if nearest else "See `whilly --help`."
            ctx.fail(f"There is no command `{name}`. {hint}")
        return super().resolve_command(ctx, args)
