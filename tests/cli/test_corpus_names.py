"""What ``--corpus`` names: one corpus, or it is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.options import AmbiguousCorpus, corpora_asked
from settings import Settings
from tests.app.index import describe_index
from worker.corpora.corpus_store import CorpusStore
from worker.corpora.errors import CorpusNotReady


def test_a_name_that_several_corpora_have_is_refused_with_all_of_them(tmp_path: Path) -> None:
    describe_index(tmp_path)
    settings = Settings.from_environment({"ESOTERIC_HOME": str(tmp_path)})
    store = CorpusStore(settings.documents, {})
    papers, other, third = (store.make(title) for title in ("Papers", "Other", "Third"))
    # Titles that an older version allowed.
    for name, title in ((other, papers.upper()), (third, "Default")):
        file = store.place(name) / "corpus.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"title": title}))

    for asked, meant in ((papers, (papers, other)), ("DEFAULT", ("default", third))):
        with pytest.raises(AmbiguousCorpus) as caught:
            corpora_asked(settings, [asked])
        assert all(name in caught.value.message for name in meant)
    with pytest.raises(CorpusNotReady):  # its title is its own, and it has no files
        corpora_asked(settings, ["papers"])
    assert corpora_asked(settings, []) is None
