"""``esoteric mcp``."""

from __future__ import annotations

import click

from cli.errors import reports_errors
from settings import Settings


@click.command(
    "mcp",
    epilog='Example: esoteric mcp, which a client starts with {"mcpServers": {"esoteric":'
    ' {"command": "/path/to/.venv/bin/esoteric", "args": ["mcp"]}}}',
)
@reports_errors
def command() -> None:
    """Offer checks to a program that speaks the Model Context Protocol (MCP).

    Reads requests from standard input and answers on standard output until the input ends. Its
    tools are check_claim, search_evidence, list_corpora and get_result. If the service (esoteric
    up) is running, it checks the claims and keeps them in its history. Otherwise this process does,
    with its first check taking longest, because the models are loaded then.
    """
    from cli.mcp_server import mcp_server

    mcp_server(Settings.from_environment()).run("stdio")
