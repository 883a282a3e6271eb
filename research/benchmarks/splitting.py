"""Compares the sentence splitter with spaCy's ``senter`` alone, on one core and the same pages."""

from __future__ import annotations

import time

from research.benchmarks.row import Row
from retrieval.corpora.corpus import readable_pages
from retrieval.corpora.sources import open_corpus
from retrieval.text.sentence_splitter import SentenceSplitter, boundaries, bounds_of, load_senter

ROUNDS = 3


def measure() -> list[Row]:
    """Split all of ``vital``; times are processor times, so that other programs matter little."""
    texts = [page.text for page in readable_pages(open_corpus("vital"))]
    splitter = SentenceSplitter()
    split = list(splitter.split(texts))  # loads spaCy
    rates: list[float] = []
    for _ in range(ROUNDS):
        started = time.process_time()
        split = list(splitter.split(texts))
        rates.append(len(texts) / (time.process_time() - started))
    started = time.process_time()
    by_senter = _by_senter(texts)
    senter_rate = len(texts) / (time.process_time() - started)
    rate = sorted(rates)[ROUNDS // 2]
    same = sum(ours == theirs for ours, theirs in zip(split, by_senter, strict=True))
    return [
        Row("pages split a second of processor time", f"{rate:,.0f}", "3,000"),
        Row("pages split so by spaCy's `senter` alone", f"{senter_rate:,.0f}"),
        Row(
            f"pages with the same sentences as by `senter` alone, of {len(texts):,}",
            f"{100 * same / len(texts):.2f} %",
            "99.5 %",
        ),
        Row("possible boundaries left to `senter`", f"{100 * _left_over(texts):.1f} %"),
    ]


def _by_senter(texts: list[str]) -> list[list[tuple[int, int]]]:
    documents = load_senter().pipe(texts, batch_size=64)
    return [
        bounds_of(text, [sentence.start_char for sentence in document.sents])
        for text, document in zip(texts, documents, strict=True)
    ]


def _left_over(texts: list[str]) -> float:
    read = [boundaries(text) for text in texts]
    clear = sum(len(starts) for starts, _ in read)
    unclear = sum(len(stretch.unclear) for _, stretches in read for stretch in stretches)
    return unclear / (clear + unclear)
