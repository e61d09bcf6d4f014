"""Entry point of the command line."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

import click

from whilly.cli.commands import COMMANDS
from whilly.cli.exit_codes import ExitCode
from whilly.cli.invocation import Invocation
from whilly.cli.lazy import LazyGroup
from whilly.cli.render_error import render_error, render_refusal, render_surprise
from whilly.cli.translate import Refused, translate
from whilly.config.environment import process_environment
from whilly.domain.errors import WhillyError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_COMPLETE = "_WHILLY_COMPLETE"


def _print_version(ctx: click.Context, _: click.Parameter, is_wanted: bool) -> None:  # noqa: FBT001  (click's protocol)
    if not is_wanted:
        return
    from importlib.metadata import version  # noqa: PLC0415  (costs time that only this option needs)

    click.echo(f"whilly {version('whilly')}")
    ctx.exit()


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("-C", "directory", metavar="DIR", type=click.Path(exists=True, file_okay=False), help="Work in DIR.")
@click.option("--debug", is_flag=True, help="Show where an error came from.")
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Show the version."
)
@click.pass_context
def whilly(ctx: click.Context, directory: str | None, *, debug: bool) -> None:
    """Give work items to coding agents; verify, repair and integrate what they do."""
    if directory is not None:
        os.chdir(directory)
    ctx.obj = Invocation(debug, ctx.obj)
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(argv: Sequence[str] | None = None, checkpoint: Callable[[str], None] | None = None) -> int:
    """Do what the command line says; the exit code.

    Args:
        argv: without the program's name; by default those of the process.
        checkpoint: for tests that end the process at a moment of its life.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Whatever the locale says; a lone surrogate from a file's name must not end a report half-way.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        code = _dispatch(arguments, checkpoint)
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes once more at exit, which would complain on standard error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.BROKEN_PIPE
    return code


def _dispatch(arguments: list[str], checkpoint: Callable[[str], None] | None) -> int:
    try:
        return _invoke(arguments, checkpoint)
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("whilly: interrupted", err=True)
        return ExitCode.INTERRUPTED
    except click.ClickException as error:
        error.show()
        return ExitCode.INVALID
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001  (the outermost scope: people get a message, never a traceback)
        return _fail(error, is_debug="--debug" in arguments)


def _invoke(arguments: list[str], checkpoint: Callable[[str], None] | None) -> int:
    if instruction := process_environment().get(_COMPLETE):
        from click.shell_completion import shell_complete  # noqa: PLC0415  (costs time that only completion needs)

        return shell_complete(whilly, {}, "whilly", _COMPLETE, instruction)
    translation = translate(arguments, COMMANDS)
    if isinstance(translation, Refused):
        raise click.UsageError(render_refusal(translation))
    for note in translation.notes:
        click.echo(f"whilly: {note}", err=True)
    with whilly.make_context("whilly", list(translation.argv), obj=checkpoint) as ctx:
        result = whilly.invoke(ctx)
    return result if isinstance(result, int) else ExitCode.DONE


def _explain(error: Exception) -> WhillyError | None:
    try:
        from whilly.cli.explain_failure import explain_failure  # noqa: PLC0415  (costs time that only errors need)

        return explain_failure(error)
    except ImportError:
        # It is the installation that is broken.
        return None


def _fail(error: Exception, *, is_debug: bool) -> int:
    if is_debug:
        import traceback  # noqa: PLC0415  (costs time that only this option needs)

        traceback.print_exception(error)
    told = error if isinstance(error, WhillyError) else _explain(error)
    if told is not None:
        click.echo(render_error(told), err=True)
        return ExitCode.INVALID
    click.echo(render_surprise(error), err=True)
    return ExitCode.FAILED
