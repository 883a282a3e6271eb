"""Compares Elasticsearch with the embedded index: same pages, claims and machine, in one run.

python -m research.benchmarks.elastic --url elasticsearch://HOST:PORT/NAME --work FOLDER [--pages
300000]
    [--around DATA/fever-dev/wiki-pages --claims DATA/fever-dev/dev.jsonl] [--node-pid PID]

Writes research/reports/elasticsearch-benchmark.md. The index NAME and the folders ``pages`` and
``index`` in FOLDER are built again. Temporary indices ``bench-knn-…`` are created on the node.
"""

from __future__ import annotations

from pathlib import Path

import click

from research.benchmarks import processor
from research.benchmarks.elastic import builds, claims, projection, recall, report
from research.benchmarks.scale.serving import CLAIMS
from retrieval.index.elastic.location import ElasticLocation
from settings import Settings


@click.command()
@click.option("--url", required=True, help="elasticsearch://HOST:PORT/NAME; NAME is built again.")
@click.option("--work", type=click.Path(file_okay=False, path_type=Path), required=True)
@click.option("--pages", type=click.IntRange(min=1), default=300_000, show_default=True)
@click.option(
    "--around",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="FEVER's wiki-pages, to mix with the synthetic ones.",
)
@click.option(
    "--claims",
    "annotated",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Annotated claims about these; the first decided ones are checked.",
)
@click.option("--node-pid", type=int, help="The node's process, if it runs on this machine.")
def main(
    url: str,
    work: Path,
    pages: int,
    around: Path | None,
    annotated: Path | None,
    node_pid: int | None,
) -> None:
    """Build both indexes, send them the same searches and write the report."""
    settings = Settings.from_environment()
    try:
        location = ElasticLocation.read(url, settings.store_api_key, settings.store_ca)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--url") from error
    texts = claims.texts(annotated)
    warm, asked = texts[: claims.WARM], texts[claims.WARM : claims.WARM + CLAIMS]
    if not asked:
        raise click.UsageError(f"There must be more than {claims.WARM} decided claims.")
    work.mkdir(parents=True, exist_ok=True)
    parts: list[str] = []

    def write(title: str, text: str) -> None:
        parts.append(f"## {title}\n\n{text}")
        click.echo(f"{parts[-1]}\n")

    click.echo(f"{processor.described()}\n")
    builds.make_pages(work, pages, around)
    embedded = builds.embedded(work)
    elastic = builds.elastic(work, location, url, settings.snapshots)
    write("Build", builds.described(embedded, elastic))
    pairs = claims.checked((work / "index", location), settings, warm, asked)
    write("Claims", claims.described(pairs, node_pid))
    write("Agreement", claims.agreement(pairs))
    write("Recall", recall.described(work / "index", location, settings, asked))
    write("5.4 million pages on three nodes", projection.described(elastic))
    command = _command(location, pages, around, annotated, node_pid)
    report.write(command, embedded.documents, len(asked), parts)


def _command(
    location: ElasticLocation,
    pages: int,
    around: Path | None,
    annotated: Path | None,
    node_pid: int | None,
) -> str:
    """Return the command without credentials, with placeholders for folders."""
    command = (
        f"python -m research.benchmarks.elastic --url {location} --work FOLDER --pages {pages}"
    )
    for option, path in (("--around", around), ("--claims", annotated)):
        if path is not None:
            command += f" {option} DATA/{path.parent.name}/{path.name}"
    return command if node_pid is None else f"{command} --node-pid PID"


if __name__ == "__main__":
    main()
