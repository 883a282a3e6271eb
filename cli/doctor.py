"""``esoteric doctor``: checks files and services; it loads no model, which would take seconds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import asdict, astuple, dataclass

import click

from cli.errors import printable, reports_errors
from cli.options import json_option
from retrieval.errors import EsotericError
from retrieval.llm_judge.ollama import found
from retrieval.models.folders import NamedModel
from settings import EMBEDDED_BROKER, BadSetting, Settings
from worker.broker import reach_broker
from worker.database import Database
from worker.health import worker_health
from worker.job_store import JobStore
from worker.worker_store import WorkerStore


@dataclass(frozen=True, slots=True)
class Finding:
    """What was checked, whether it works, what was found, and how to fix it (``mend``)."""

    subject: str
    works: bool
    detail: str
    mend: str


@click.command("doctor", epilog="Example: esoteric doctor")
@json_option
@reports_errors
def command(as_json: bool) -> None:
    """Say what works here, what does not and how to fix it; exit 1 if something is broken."""
    report(_findings(), as_json)


def report(findings: Iterable[Finding], as_json: bool) -> None:
    """Print what was found, each as soon as it is; exit 1 if something is broken."""
    works, documents = True, []
    for finding in findings:
        works &= finding.works
        documents.append(asdict(finding))
        if not as_json:
            mark = "ok    " if finding.works else "broken"
            click.echo(printable(f"{mark}  {finding.subject}: {finding.detail}"))
            if finding.mend:
                click.echo(f"        {printable(finding.mend)}")
    if as_json:
        click.echo(json.dumps({"findings": documents}))
    if not works:
        raise SystemExit(1)


def _findings() -> list[Finding]:
    try:
        settings = Settings.from_environment()
    except BadSetting as error:
        return [Finding("settings", False, str(error), "")]
    checks = dict(_CHECKS)
    for model in settings.named_models:
        checks[model.variable] = _named_model(model)
    if settings.report_models is not None:
        checks["models of the report"] = _report_models
    if settings.recipes is not None:
        checks["recipes of your own"] = _recipes
    return [_checked(subject, check, settings) for subject, check in checks.items()]


def _checked(subject: str, check: Callable[[Settings], str], settings: Settings) -> Finding:
    try:
        return Finding(subject, True, check(settings), "")
    except EsotericError as error:
        return Finding(subject, False, error.message, error.hint)


def _runtime(settings: Settings) -> str:
    from retrieval.models.networks import import_onnx_runtime

    import_onnx_runtime()
    return "ONNX Runtime, 8 bits"


def _parser(settings: Settings) -> str:
    from retrieval.text.english import english_folder

    return english_folder().name


def _base_weights(settings: Settings) -> str:
    from retrieval.models.encoders import MiniLMEncoder
    from retrieval.models.packaged import MPNET, minilm_folder, packaged_parts

    minilm_folder()
    packaged_parts()
    return f"{MiniLMEncoder.name}, {MPNET}"


def _trained_models(settings: Settings) -> str:
    from retrieval.models.papers.bart import weight_files
    from retrieval.models.shipped import trained_folders
    from retrieval.models.trained_model import read_config, read_difference, version_of

    found = []
    for folder in trained_folders():
        config = read_config(folder)
        read_difference(folder, config["sha256"])
        found.append(version_of(config))
    if settings.bart:
        weight_files(settings.bart)
        found.append(f"titles by {settings.bart}")
    return ", ".join(found)


def _verifier(settings: Settings) -> str:
    from retrieval.models.own_verifier import (
        UNCALIBRATED,
        SequenceClassifier,
        calibrate_command,
        read_calibration,
        read_classifier,
    )

    if settings.verifier is None:
        return "the shipped one"
    files = read_classifier(settings.verifier)
    calibration = read_calibration(files)
    found = f"{SequenceClassifier(files, calibration).version}, labels {', '.join(files.labels)}"
    if calibration == UNCALIBRATED:
        return (
            f"{found}; not calibrated, so its confidence is too high or too low."
            f" Run: {calibrate_command(settings.verifier)}"
        )
    return found


def _named_model(model: NamedModel) -> Callable[[Settings], str]:
    return lambda _: model.version()


def _report_models(settings: Settings) -> str:
    from retrieval.models.papers.report_models import present_models

    return f"{present_models(settings.report_models)}, for the recipes report and card"


def _recipes(settings: Settings) -> str:
    from retrieval.recipes.recipe_files import recipes_with
    from retrieval.recipes.recipes import RECIPES

    own = [name for name in recipes_with(settings.recipes) if name not in RECIPES]
    return f"{', '.join(own) or 'none'}, from {settings.recipes}"


def _index(settings: Settings) -> str:
    from retrieval.index.open import open_index
    from retrieval.models.document_encoders import DPR_ENCODER, choice_of, text_encoder

    index = open_index(settings.store, settings.snapshots)
    info = index.open(None).info()
    if settings.report_models is None or choice_of(info.encoder) != DPR_ENCODER:
        index.open(text_encoder(settings.model_folders).name)
    index.diagnose()
    vectors = f"vectors of {info.encoder}" if info.encoder else "no vectors"
    return f"{info.name}, {info.documents} documents, {vectors}, built {info.built_at[:10]}"


def _database(settings: Settings) -> str:
    with closing(Database(settings.database_url)) as database:
        database.check()
        counts = JobStore(database).counts()
    return ", ".join(f"{number} {state}" for state, number in counts.items() if number) or "empty"


def _language_model(settings: Settings) -> str:
    """Return which language model gives the verdict, and what the workers report; sends nothing."""
    if settings.llm is None:
        here = found()
        offered = "set ESOTERIC_LLM to use one"
        if here is not None:
            offered = f"Ollama runs here: {here.offer}"
        return f"none: verdicts are the verifier's ({offered})"
    with closing(Database(settings.database_url)) as database:
        asked = worker_health(WorkerStore(database)).language_model
    if asked is not None and asked.problem is not None:
        raise EsotericError(*astuple(asked.problem))
    decides = "decides" if settings.llm.decides else "adds its opinion"
    return f"{settings.llm.name} {decides}; claims and evidence are sent there"


def _queue(settings: Settings) -> str:
    reach_broker(settings)
    return "embedded" if settings.broker_url == EMBEDDED_BROKER else "redis"


_CHECKS: dict[str, Callable[[Settings], str]] = {
    "runtime of the models": _runtime,
    "language model (parser)": _parser,
    "base weights": _base_weights,
    "trained models": _trained_models,
    "verifier": _verifier,
    "index": _index,
    "database": _database,
    "language model (verdict)": _language_model,
    "queue": _queue,
}
