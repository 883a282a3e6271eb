"""Breaks a running service again and again, and counts what becomes of its claims.

python -m research.benchmarks.faults --rounds N --out FOLDER [--queue folder|redis]
    [--store embedded|elasticsearch] [--seed N]

The service has a home, a port and servers of its own, and searches a few invented texts; models are
those of ESOTERIC_HOME. Each round does one fault at a random moment: processes are killed or
paused, servers too, the database is locked or read-only, the disk is full, messages are lost,
clocks are moved, a language model answers badly. FOLDER gets faults.md and faults.json, and the
logs if something was found. Elasticsearch is started from the folder that
ESOTERIC_TEST_ELASTICSEARCH names. A long campaign can be run in parts with seeds of their own:
python -m research.benchmarks.faults.report FOLDER... prints their tables as one.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

import click

from research.benchmarks import processor
from research.benchmarks.faults import campaign, report
from research.benchmarks.faults.servers import ELASTICSEARCH
from research.benchmarks.faults.service import Service


@click.command()
@click.option("--rounds", type=click.IntRange(min=1), required=True, help="Number of faults.")
@click.option("--queue", type=click.Choice(["folder", "redis"]), default="folder")
@click.option("--store", type=click.Choice(["embedded", "elasticsearch"]), default="embedded")
@click.option("--seed", type=int, default=0, help="Of the first round; each next one has one more.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True)
def main(rounds: int, queue: str, store: str, seed: int, out: Path) -> None:
    """Run the campaign; the status is 1 if something was found."""
    if store == "elasticsearch" and ELASTICSEARCH not in os.environ:
        raise click.UsageError(f"Set {ELASTICSEARCH} to a folder with bin/elasticsearch.")
    if shutil.which("cc") is None:
        raise click.UsageError("Install a C compiler (cc), which makes what moves the clocks.")
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        service = Service(Path(folder), queue, store)
        try:
            results = campaign.run(service, rounds, seed, click.echo)
            if results.findings:
                shutil.copytree(service.home / "logs", out / "logs", dirs_exist_ok=True)
            disk = "" if service.has_disk else "; full disk: as a limit of the size of files"
        finally:
            service.remove_disk()
    command = shlex.join(["python", "-m", "research.benchmarks.faults", *sys.argv[1:]])
    text = f"`{command}`; {processor.described()}{disk}.\n\n{report.text(results)}"
    (out / "faults.md").write_text(text, encoding="utf-8")
    results.write(out)
    click.echo(text)
    sys.exit(1 if results.findings else 0)


if __name__ == "__main__":
    main()
