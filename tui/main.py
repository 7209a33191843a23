"""The `merito` command. Commands are found by name and imported only when they are called, so
that `merito --help` stays quick."""

from __future__ import annotations

import errno
import importlib
import os
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

import click

from core.errors import MeritoError, UsageMistake

COMMANDS = {
    "demo": "A short real run on the sample databases: fail, repair, profit.",
    "console": "Open the operator console.",
    "ask": "Ask one question about one database.",
    "run": "Run a stream of questions.",
    "replay": "Play a stored run again, with no model and no database.",
    "memory": "List, search, review, export, import and audit memories.",
    "sql": "Run one statement in the sandbox, by hand.",
    "eval": "Score predictions as Spider or BIRD do.",
    "select": "Choose among candidate queries, for every question of a pool.",
    "specs": "Build, search and share the memories that selection reads.",
    "bench": "Reproduce the papers' studies: strategies compared on one set of questions.",
    "report": "Compare stored runs: tables, plots, and the questions on which they part.",
    "serve": "The console in a browser, read-only and on this machine alone unless told otherwise.",
    "models": "List, get and check the models.",
    "doctor": "What is installed, reachable and wrong, each with its mend.",
}
"""Every command with its one line of help: the listing needs no import."""

EXIT_FAILURES = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130


class LazyGroup(click.Group):
    """A group whose commands live in `tui/commands/<name>.py` as `command`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order of the table: the most wanted first."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import the command's module; None where there is none of that name."""
        if name not in COMMANDS:
            return None
        module = importlib.import_module(f"tui.commands.{name}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The listing, from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with the nearest name where there is no such command."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, 1)
            hint = f" Did you mean '{near[0]}'?" if near else " 'merito --help' lists them."
            raise click.UsageError(f"There is no command '{args[0]}'.{hint}", ctx)
        return super().resolve_command(ctx, args)


def _version() -> str:
    from importlib.metadata import version

    return version("merito")


def _show_version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(f"merito {_version()}")
        ctx.exit()


@click.group(
    cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show_version,
    help="Print the version.",
)
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Text-to-SQL repair with causal memory, watched and steered from the terminal.

    Start with 'merito demo'. With no command, the console opens.

    \b
    Example:
      merito ask shop.sqlite "Which customers never ordered?"
    """
    if ctx.invoked_subcommand is None:
        console = cli.get_command(ctx, "console")
        assert console is not None
        ctx.invoke(console)


def main(args: list[str] | None = None) -> None:
    """Run the command line and leave with its exit code; never with a traceback, and never later
    for a thread that still computes something which nobody waits for."""
    code = run(args)
    if any(
        not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()
    ):
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)
    sys.exit(code)


def run(args: list[str] | None = None) -> int:
    """Run the command line. Returns 0 done, 1 failures to see, 2 usage, 130 interrupted."""
    if sys.stdout is None:  # closed by the shell: >&-
        sys.stdout = _nowhere()
    try:
        result: Any = cli.main(args=args, prog_name="merito", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.UsageError as wrong:
        wrong.show()
        return EXIT_USAGE
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted. What was finished is kept.", err=True)
        return EXIT_INTERRUPTED
    except MeritoError as wrong:
        _say(f"merito: {_printable(str(wrong))}")
        return EXIT_USAGE if isinstance(wrong, UsageMistake) else EXIT_FAILURES
    except BrokenPipeError:
        # The reader of our pipe has gone (`merito ... | head`): nobody is left to tell.
        sys.stderr.close()
        return EXIT_FAILURES
    except Exception as unexpected:
        if isinstance(unexpected, OSError) and unexpected.errno == errno.ENOSPC:
            return _say_no_room()
        return _report(unexpected)


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")


def _say_no_room() -> int:
    # What waits in its buffer cannot be written either, and the interpreter would try at its end.
    sys.stdout = _nowhere()
    click.echo("merito: there is no room left to write the output; make some.", err=True)
    return EXIT_FAILURES


def _say(line: str) -> None:
    """Told aside. Nothing is imported for it before there is something to tell."""
    from tui.view.wrapping import say

    say(line, err=True)


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)


def _report(unexpected: Exception) -> int:
    """Put the traceback into the log, and one line on the screen."""
    import traceback

    from tui.settings import log_file, log_words

    with log_file().open("a", encoding="utf-8", errors="replace") as log:
        traceback.print_exception(unexpected, file=log)
    line = _printable(f"{type(unexpected).__name__}: {unexpected}".splitlines()[0][:300])
    _say(f"merito: something unforeseen went wrong ({line}).")
    _say(f"{_printable(log_words())} Nothing that was finished is lost.")
    return EXIT_FAILURES


if __name__ == "__main__":
    main()
