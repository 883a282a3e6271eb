"""``esoteric calibrate``."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.errors import printable, reports_errors
from settings import Settings

if TYPE_CHECKING:
    from retrieval.models.folders import ModelFolders


@click.command(
    "calibrate", epilog="Example: esoteric calibrate --verifier ../my-nli-model --data pairs.jsonl"
)
@click.option(
    "--verifier",
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder with the model, as for ESOTERIC_VERIFIER.",
)
@click.option(
    "--data",
    required=True,
    type=click.Path(exists=True, path_type=Path),
    help="Claims with evidence: JSON lines as for evaluate --pairs, or a folder of such files. Or"
    " the folder with the training data (docs/models.md), to fit to whole searches as well.",
)
@reports_errors
def command(verifier: Path, data: Path) -> None:
    """Calibrate the confidence of your own verifier.

    The calibration is written to esoteric-calibration.json in the model's folder.
    """
    from cli.progress import LongWork
    from research.training.verifier.calibration import calibrate_to_pairs, pairs_to_fit
    from retrieval.models import runtime
    from retrieval.models.own_verifier import read_classifier

    settings = Settings.from_environment()
    folders = replace(settings.model_folders, verifier=verifier)
    runtime.use_threads(settings.threads)
    runtime.keep_in(folders.networks)
    files = read_classifier(verifier)
    pairs = pairs_to_fit(data)
    with_searches = all((data / part / "dev.jsonl").is_file() for part in ("vital", "fever-dev"))
    if with_searches:
        _check_index(settings)
    with closing(LongWork("Reading", len(pairs), 0)) as work:
        figures = calibrate_to_pairs(
            files, pairs, lambda done, of: work.show(done, f"{done} of {of} pairs")
        )
    _show(figures)
    if with_searches:
        _show(fit_to_searches(settings, data, folders))
    click.echo(printable(str(files.calibration_file)), err=True)


def fit_to_searches(settings: Settings, data: Path, folders: ModelFolders) -> dict[str, float]:
    """Fit the calibration of the verifier of ``folders`` to searches; see ``calibrate``.

    ``data`` contains everyday claims, which are checked against the served index, as are the fresh
    ones of the project, and FEVER's claims with their pages, which are indexed first
    (``claims_to_fit``).
    """
    from cli.progress import IndexBar
    from research.evaluation.evaluate import index_of, indexed
    from research.training.verifier.calibration import Claims, calibrate, claims_to_fit
    from retrieval.corpora.wiki.fever import FeverCorpus
    from retrieval.index.embedded.embedded_index import EmbeddedIndex
    from retrieval.models.document_encoders import DOCUMENT_ENCODERS, default_choice

    everyday, fresh, fever = claims_to_fit(data)
    _check_index(settings)  # an error is reported before the long work
    pages = FeverCorpus(data / "fever-dev" / "wiki-pages")
    encoder = default_choice(folders)
    index = index_of(pages, encoder, settings.home / "evaluation")
    with closing(IndexBar("Indexing FEVER's pages")) as bar:
        indexed(
            pages,
            EmbeddedIndex(index, settings.threads),
            DOCUMENT_ENCODERS[encoder](folders),
            bar.show,
        )
    return calibrate(
        {
            "everyday": Claims(everyday, settings.store),
            "fresh": Claims(fresh, settings.store),
            "fever": Claims(fever, index),
        },
        settings.snapshots,
        settings.threads,
        folders,
    )


def _check_index(settings: Settings) -> None:
    """Raise ``IndexUnavailable`` if the served index cannot be searched."""
    from retrieval.index.open import open_index
    from retrieval.models.document_encoders import text_encoder

    open_index(settings.store, settings.snapshots).open(text_encoder(settings.model_folders).name)


def _show(figures: dict[str, float]) -> None:
    click.echo(", ".join(f"{name} {value:.3g}" for name, value in figures.items()))
