"""What results were measured with, so that no folder mixes results of different data or code."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from research.evaluation.choice import Choice
from retrieval.errors import BadSource
from retrieval.llm_judge.choice import LanguageModelChoice
from retrieval.models.folders import ModelFolders
from retrieval.models.shipped import judge_name, models_digest
from retrieval.recipes.recipes import Recipe
from settings import CHECKOUT


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The claims and systems to measure, and the folder for the results.

    ``choice``: which of the claims are asked. ``own``: recipes from files, by their names, which
    ``systems`` names too. ``command`` is shown in the report.
    """

    claims: Path
    out: Path
    systems: Sequence[str]
    choice: Choice
    threads: int
    folders: ModelFolders
    command: str
    own: Mapping[str, Recipe] = field(default_factory=dict)


FILE = "provenance.json"
PAIRS = "pairs"  # the folder of results on pairs, which have their own description
_WORDS = {
    "wiki_pages": "wiki pages",
    "claims": "claims",
    "verifier": "verifiers",
    "models": "models",
    "vectors": "vectors",
    "code": "code",
}
# The code that decides an answer, with the thresholds. Code that only counts answers may change
# without computing them again.
_CODE = ("retrieval", *(f"research/evaluation/{name}" for name in ("baselines.py", "systems.py")))
_DATA = "research/evaluation/changed_recipes.yaml"


@dataclass(frozen=True, slots=True)
class Provenance:
    """Everything that decides the answers.

    The verifier and the encoder of the index's vectors by name, the rest by SHA-256.
    """

    wiki_pages: str
    claims: str
    verifier: str
    models: str
    vectors: str
    code: str


def provenance_of(
    wiki_pages: str,
    claims: str,
    folders: ModelFolders,
    vectors: str,
    llm: LanguageModelChoice | None = None,
    root: Path = CHECKOUT,
) -> Provenance:
    """Return the provenance of answers given now; ``wiki_pages`` and ``claims`` are digests.

    ``llm``: the language model that is asked at the end.

    Raises:
        ModelUnavailable: a model is missing or damaged.
    """
    return Provenance(
        wiki_pages=wiki_pages,
        claims=claims,
        verifier=_judges(folders, llm),
        models=models_digest(folders),
        vectors=vectors,
        code=_digest_of_code(root),
    )


def _judges(folders: ModelFolders, llm: LanguageModelChoice | None) -> str:
    if llm is None:
        return judge_name(folders)
    decides = "decides" if llm.decides else "adds its opinion"
    return f"{judge_name(folders)}; {llm.name} {decides}"


def claim_folder(folder: Path, provenance: Provenance) -> None:
    """Use ``folder`` for results with this provenance; it may have such results already.

    Raises:
        BadSource: it contains results of something else, or other files.
    """
    path = folder / FILE
    if not path.exists():
        # Another process may be writing the same file there at this moment.
        others = {entry.name for entry in folder.iterdir()} if folder.is_dir() else set()
        if others - {FILE, PAIRS}:
            raise _refused(folder, "contains files that are not results of an evaluation")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(asdict(provenance), indent=1) + "\n", encoding="utf-8")
        except OSError as error:
            raise _refused(folder, f"cannot be used for results ({error.strerror})") from error
        return
    try:
        found = Provenance(**json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError) as error:
        raise _refused(folder, f"contains a {FILE} that cannot be read") from error
    different = [
        word for name, word in _WORDS.items() if getattr(found, name) != getattr(provenance, name)
    ]
    if different:
        raise _refused(folder, f"contains results of other {' and '.join(different)}")


def _digest_of_code(root: Path) -> str:
    """Return one digest of the modules' code, without comments and layout."""
    modules = sorted(
        module
        for place in _CODE
        for module in ([root / place] if place.endswith(".py") else (root / place).rglob("*.py"))
    )
    dumps = (ast.dump(ast.parse(module.read_text(encoding="utf-8"))) for module in modules)
    names = (module.relative_to(root).as_posix() for module in modules)
    code = [f"{name} {dump}" for name, dump in zip(names, dumps, strict=True)]
    everything = "\n".join([*code, (root / _DATA).read_text(encoding="utf-8")])
    return hashlib.sha256(everything.encode()).hexdigest()


def _refused(folder: Path, why: str) -> BadSource:
    hint = "Name another folder for the results, or remove this one."
    return BadSource("other_results", f"{folder} {why}.", hint)
