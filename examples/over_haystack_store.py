"""Check claims over documents that Haystack keeps in Elasticsearch.

Needs ``elasticsearch-haystack`` 7.1 and a running Elasticsearch. From the root of the checkout:

    .venv/bin/pip install -r requirements-haystack.txt
    export HAYSTACK_TELEMETRY_ENABLED=False
    .venv/bin/python examples/over_haystack_store.py http://127.0.0.1:9200

It writes five short documents into the index ``esoteric-example`` of that node, reads them through
``HaystackStore`` and checks two claims. For documents of your own leave out ``write`` and name
their index. The first run unpacks the models, which takes a minute.
"""

from __future__ import annotations

import sys
from dataclasses import replace

from elasticsearch import ApiError, TransportError
from haystack import Document
from haystack.document_stores.types import DuplicatePolicy
from haystack_integrations.document_stores.elasticsearch import ElasticsearchDocumentStore

from retrieval.errors import EsotericError
from retrieval.index.haystack_store import HaystackStore
from retrieval.models import runtime
from retrieval.models.encoders import MiniLMEncoder
from retrieval.pipeline.assembly import pipeline_over, resources_over
from retrieval.pipeline.check import Pipeline
from retrieval.recipes.recipes import DEFAULT_RECIPE, RECIPES, RetrievalConfig
from retrieval.types import Progress, Report
from settings import Settings

INDEX = "esoteric-example"
TEXTS = {
    "Aldersund": "Aldersund is a harbour town on the island of Norrey. It was founded in 1612 by"
    " the merchant Elin Marrack. About 8,000 people live there.",
    "Elin Marrack": "Elin Marrack (1571-1640) was a merchant and shipowner. She was born in the"
    " village of Tarn and traded in salt and herring.",
    "Norrey": "Norrey is an island in the northern sea. Its highest hill is Skarfell, at 410"
    " metres. The island has no railway.",
    "Skarfell": "Skarfell is a hill on Norrey. A stone tower from 1788 stands on its top.",
    "Herring": "Herring are small fish that swim in large schools. They have been salted for trade"
    " since the Middle Ages.",
}
CLAIMS = (
    "Aldersund was founded by a woman who was born in the village of Tarn.",
    "The highest hill of Norrey is more than 1,000 metres high.",
)


def write(store: ElasticsearchDocumentStore) -> None:
    """Write the documents, in the place of those that an earlier run wrote."""
    documents = [
        Document(
            id=title,
            content=text,
            meta={"title": title, "url": f"https://example.org/{title.replace(' ', '_')}"},
        )
        for title, text in TEXTS.items()
    ]
    store.write_documents(documents, policy=DuplicatePolicy.OVERWRITE)


def open_pipeline(store: ElasticsearchDocumentStore) -> Pipeline:
    """Return what checks claims over the documents of ``store``."""
    settings = Settings.from_environment()
    folders = settings.model_folders
    runtime.use_threads(settings.threads)
    runtime.keep_in(folders.networks)
    encoder = MiniLMEncoder()
    # Documents are encoded when a claim first meets them: of 200, the default, most of the time.
    recipe = replace(RECIPES[DEFAULT_RECIPE], settings=RetrievalConfig(text_limit=50))
    return pipeline_over(resources_over(HaystackStore(store, encoder), encoder, folders), recipe)


def show(report: Report) -> None:
    """Print the verdict and the sentences that it rests on."""
    print(f"{report.claim}\n  {report.verdict.label} ({report.verdict.confidence:.2f})")
    for item in report.evidence:
        if item.selected:
            print(f"  - {item.sentence.text} [{item.title}, {item.url}]")


def ignore(_: Progress) -> None:
    """Show no progress."""


def main(url: str) -> None:
    """Write the documents to the node at ``url`` and check the claims."""
    store = ElasticsearchDocumentStore(hosts=url, index=INDEX)
    write(store)
    pipeline = open_pipeline(store)
    for claim in CLAIMS:
        show(pipeline.check(claim, ignore))


if __name__ == "__main__":
    if len(sys.argv) != 2 or not sys.argv[1].startswith(("http://", "https://")):
        sys.exit(f"usage: {sys.argv[0]} URL")
    try:
        main(sys.argv[1])
    except EsotericError as error:
        sys.exit(f"{sys.argv[0]}: {error}")
    except (ApiError, TransportError) as error:
        sys.exit(
            f"{sys.argv[0]}: Elasticsearch at {sys.argv[1]} cannot be used ({error}). Check that it"
            " runs and that its address is right."
        )
