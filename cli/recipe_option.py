"""The option ``--recipe`` of commands that check claims."""

from __future__ import annotations

import click

recipe_option = click.option(
    "--recipe",
    metavar="NAME|FILE.yaml",
    help="A recipe (see: esoteric recipes), or the file of one.  [default: combined, or report over"
    " vectors of DPR]",
)
