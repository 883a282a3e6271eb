"""The command ``esoteric``: each subcommand is in a file of its own, loaded when it is used."""

from __future__ import annotations

from importlib import import_module

import click

_COMMANDS = {
    "up": "start the web pages and the worker",
    "check": "check one claim",
    "batch": "check many claims",
    "index": "build an index, or describe it",
    "train": "train one of the models",
    "recipes": "list the recipes",
    "doctor": "say what works here and what does not",
}


class LazyCommands(click.Group):
    """Imports a subcommand's module only when it is asked for; ``--help`` stays fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the subcommand, or ``None`` as click wants for an unknown name."""
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the subcommands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.command(
    cls=LazyCommands,
    epilog='Example: esoteric check "Sputnik 1 was launched by the United States."',
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="esoteric")
def main() -> None:
    """Find the sentences that support or refute a claim, and a verdict that rests on them."""
