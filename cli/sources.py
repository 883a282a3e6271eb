"""``esoteric sources``."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from cli.errors import reports_errors, say
from cli.options import json_option
from retrieval.sources.opening import KEPT
from retrieval.words import counted
from settings import Settings


@click.command("sources", epilog="Example: esoteric sources --clear")
@click.option("--clear", is_flag=True, help="Remove the stored articles.")
@json_option
@reports_errors
def command(clear: bool, as_json: bool) -> None:
    """List the sources of ESOTERIC_SOURCES, what is sent to them, and their stored articles.

    Articles that were read are stored in ESOTERIC_HOME for 30 days after their last use, 500 MB at
    most, so they need not be requested again and can be read without the network.
    """
    from retrieval.sources.kept import KeptArticles

    settings = Settings.from_environment()
    kept = KeptArticles(settings.home / KEPT)
    holdings = kept.holdings()
    if clear:
        kept.clear()
        say(f"{counted(sum(one.articles for one in holdings), 'article')} removed.")
        holdings = []
    if as_json:
        document = {
            "sources": [asdict(one) | {"sent": one.sent} for one in settings.sources.values()],
            "kept": [asdict(one) for one in holdings],
        }
        click.echo(json.dumps(document))
        return
    for one in settings.sources.values():
        click.echo(f"{one.name}: {one.kind}:{one.place}. {one.sent}".rstrip())
    if not settings.sources:
        click.echo("No sources. Name one: ESOTERIC_SOURCES=wikipedia=mediawiki:en")
    for held in holdings:
        articles = counted(held.articles, "article")
        click.echo(f"Stored of {held.place}: {articles}, {held.bytes / 1e6:.1f} MB.")
