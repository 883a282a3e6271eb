"""``esoteric doctor``."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import click

from cli.errors import printable, reports_errors
from retrieval.errors import EsotericError
from settings import EMBEDDED_BROKER, BadSetting, Settings


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at, whether it works, what was seen, and what mends it."""

    subject: str
    works: bool
    detail: str
    mend: str


@click.command("doctor", epilog="Example: esoteric doctor")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@reports_errors
def command(as_json: bool) -> None:
    """Say what works here and what does not, each with its mend; exit 1 if something is broken."""
    findings = _findings()
    if as_json:
        click.echo(json.dumps({"findings": [asdict(finding) for finding in findings]}))
    else:
        for finding in findings:
            mark = "ok    " if finding.works else "broken"
            click.echo(f"{mark}  {finding.subject}: {printable(finding.detail)}")
            if finding.mend:
                click.echo(f"        {printable(finding.mend)}")
    if not all(finding.works for finding in findings):
        raise SystemExit(1)


def _findings() -> list[Finding]:
    try:
        settings = Settings.from_environment()
    except BadSetting as error:
        return [Finding("settings", False, str(error), "")]
    return [_examined(subject, look, settings) for subject, look in _LOOKS.items()]


def _examined(subject: str, look: Callable[[Settings], str], settings: Settings) -> Finding:
    try:
        return Finding(subject, True, look(settings), "")
    except EsotericError as error:
        return Finding(subject, False, error.message, error.hint)


def _encoder(settings: Settings) -> str:
    from retrieval.encoders.minilm_encoder import MiniLMEncoder

    encoder = MiniLMEncoder()
    encoder.warm_up()
    return f"{encoder.name}, {encoder.dimension} dimensions"


def _parser(settings: Settings) -> str:
    from retrieval.language.english import EnglishParser

    parser = EnglishParser()
    parser.warm_up()
    return "en_core_web_sm"


def _readers(settings: Settings) -> str:
    from retrieval.models import reader, verifier

    models = [reader(), verifier(settings.packaged_models, in_search=True)]
    for model in models:
        model.warm_up()
    told = " and ".join(model.version for model in models)
    return f"{told}, in {models[0].precision}"


def _stage_models(settings: Settings) -> str:
    from retrieval.dense.query_encoder import QueryEncoder
    from retrieval.generation.bart import BartTitleModel
    from retrieval.generation.minilm import MiniLMTitleModel
    from retrieval.models import DENSE, PROVER, READER, SELECTOR, TITLES, path_reader
    from retrieval.selection.utility_model import UtilityModel
    from retrieval.sufficiency.proof_model import ProofModel
    from retrieval.trained.trained_model import TrainedModel

    models: list[TrainedModel[Any, Any]] = [
        path_reader(),
        ProofModel(PROVER),
        QueryEncoder(DENSE),
        MiniLMTitleModel(TITLES),
        UtilityModel(SELECTOR, READER),
    ]
    for model in models:
        model.warm_up()
    told = [model.version for model in models]
    if settings.bart:
        BartTitleModel(settings.bart).warm_up()
        told.append(f"titles by {settings.bart}")
    return ", ".join(told)


def _index(settings: Settings) -> str:
    from retrieval.encoders.minilm_encoder import MiniLMEncoder
    from retrieval.index.embedded_index import EmbeddedIndex

    store = EmbeddedIndex(settings.index).open(MiniLMEncoder.name)
    store.verify()
    info = store.info()
    vectors = f"vectors of {info.encoder}" if info.encoder else "no vectors"
    return f"{info.name}, {info.documents} documents, {vectors}, built {info.built_at[:10]}"


def _database(settings: Settings) -> str:
    jobs = importlib.import_module("worker.jobs")
    store = jobs.JobStore(settings.database_url)
    try:
        counts = store.counts()
    finally:
        store.close()
    return ", ".join(f"{number} {state}" for state, number in counts.items() if number) or "empty"


def _queue(settings: Settings) -> str:
    from worker.broker import reach_broker

    reach_broker(settings)
    return "embedded" if settings.broker_url == EMBEDDED_BROKER else "redis"


_LOOKS: dict[str, Callable[[Settings], str]] = {
    "language model (parser)": _parser,
    "encoder": _encoder,
    "reader and verifier of evidence": _readers,
    "models of the other stages": _stage_models,
    "index": _index,
    "database": _database,
    "queue": _queue,
}
