"""The command ``esoteric``: each subcommand is in its own file, loaded when it is used."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from io import TextIOWrapper
from typing import Any

import click

from cli.errors import WrongUsage

_COMMANDS = {
    "up": "start the web pages and the worker",
    "check": "check one claim",
    "batch": "check many claims",
    "mcp": "offer checks to a program that speaks the Model Context Protocol",
    "index": "build an index, or describe it",
    "sources": "list the corpora that are searched where they are, and what is kept of them",
    "models": "fetch models that are not shipped",
    "recipes": "list the recipes",
    "backup": "write all claims and results into a file",
    "restore": "bring them back from that file",
    "users": "say who may log in",
    "doctor": "say what works here and what does not",
    "verify": "check that what the home keeps is whole",
}


class LazyCommands(click.Group):
    """Imports a subcommand's module only when it is asked for; ``--help`` stays fast."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the group's own options; an error in them is one line."""
        with _one_line():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Read the subcommand's arguments and run it."""
        with _one_line():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, those of other packages last."""
        return list(_commands())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the subcommand, or ``None`` as click wants for an unknown name."""
        if cmd_name not in _commands():
            return None
        package, _ = _commands()[cmd_name]
        command: click.Command = import_module(f"{package}.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the subcommands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in _commands().items()])


@cache
def _commands() -> dict[str, tuple[str, str]]:
    """Return the package and the summary of each command: ours, then those of other packages.

    A package adds commands with an entry point of the group ``esoteric.commands`` that names a
    table like ``_COMMANDS``; each command is in a module of that package with the command's name.
    """
    found = {name: ("cli", summary) for name, summary in _COMMANDS.items()}
    for point in entry_points(group="esoteric.commands"):
        with suppress(ModuleNotFoundError):  # the image has no research
            found |= {name: (point.module, summary) for name, summary in point.load().items()}
    return found


@contextmanager
def _one_line() -> Iterator[None]:
    try:
        yield
    except click.exceptions.NoArgsIsHelpError:
        raise
    except click.UsageError as error:
        raise WrongUsage(error) from error


def _show_version(ctx: click.Context, _option: click.Parameter, asked: bool) -> None:
    if not asked:
        return
    from importlib.metadata import PackageNotFoundError, version

    try:
        click.echo(f"esoteric {version('esoteric')}")
    except PackageNotFoundError:
        click.echo("esoteric, run from its source without being installed")
    ctx.exit()


@click.command(
    cls=LazyCommands,
    epilog='Example: esoteric check "Sputnik 1 was launched by the United States."',
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)
def main() -> None:
    """Find sentences that support or refute a claim, and give a verdict from them."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal may lack some characters
            stream.reconfigure(errors="replace")
