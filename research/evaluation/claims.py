"""Reads annotated claims: of FEVER, of the served corpus, and pairs of a claim and evidence.

FEVER's format: Thorne et al. 2018, section 3. Claims over the served corpus are the project's own,
HoVer's (Jiang et al. 2020, "HoVer: A Dataset for Many-Hop Fact Extraction and Claim Verification")
or FEVEROUS' (Aly et al. 2021, "FEVEROUS: Fact Extraction and VERification Over Unstructured and
Structured information").
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from retrieval.corpora.corpus import BadPage
from retrieval.corpora.json_lines import opened, record_in
from retrieval.errors import BadSource
from retrieval.text.context import SEPARATOR, evidence_set_text, evidence_text
from retrieval.types import LABELS, NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Label

_START = 256  # bytes that show whether a file is a list

SentenceKey: TypeAlias = tuple[str, int]
"""A page id and the number of a sentence on that page."""


def read_json_lines(path: Path, keys: tuple[str, ...]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each line's number and object; blank lines are skipped.

    Raises:
        BadSource: the file cannot be read, is not UTF-8, or a line is not a JSON object
            with a string under each of ``keys``.
    """
    with opened(path) as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                record = record_in(f"{path}, line {number}", line, keys)
                if isinstance(record, BadPage):
                    raise BadSource("source_not_json", record.message, record.hint)
                yield number, record


@dataclass(frozen=True, slots=True)
class AnnotatedClaim:
    """A claim with its label and gold evidence.

    ``evidence``: alternative sets of sentences, each sufficient alone. Claims with the
    label NOT ENOUGH INFO (undecided claims) have none.
    """

    text: str
    label: Label
    evidence: tuple[tuple[SentenceKey, ...], ...]

    @property
    def gold(self) -> frozenset[SentenceKey]:
        """Every sentence that is in some evidence set."""
        return frozenset(sentence for group in self.evidence for sentence in group)

    @property
    def pages(self) -> frozenset[str]:
        """Every page with gold evidence."""
        return frozenset(page for page, _ in self.gold)

    @property
    def needs_several_pages(self) -> bool:
        """Whether no evidence set is on a single page."""
        return bool(self.evidence) and all(
            len({page for page, _ in group}) > 1 for group in self.evidence
        )


@dataclass(frozen=True, slots=True)
class FeverClaim(AnnotatedClaim):
    """A claim of a file: its id, and its place (``where``) as file and line."""

    id: int
    where: str

    @property
    def group(self) -> str | int:
        """The page that the claim was made from; its own id if the page is unknown."""
        return self.evidence[0][0][0] if self.evidence else self.id


def page_key(page: str) -> str:
    """Return the page id in NFC, for comparisons: releases differ in the form of accents."""
    return unicodedata.normalize("NFC", page)


def read_fever_claims(path: Path) -> list[FeverClaim]:
    """Return the claims in the order of the file.

    Raises:
        BadSource: the file cannot be read, or a line is no such claim; the
            message names file and line.
    """
    claims = [
        FeverClaim(
            text=record["claim"],
            label=label,
            evidence=_evidence_sets(record, label, where),
            id=_id(record, where),
            where=where,
        )
        for where, record, label in labelled_records(path)
    ]
    seen: dict[int, str] = {}
    for claim in claims:
        if claim.id in seen:
            raise BadSource(
                "bad_claims",
                f"{claim.where}: the id {claim.id} is in {seen[claim.id]} already.",
                "Remove or renumber one of the two.",
            )
        seen[claim.id] = claim.where
    if not claims:
        raise BadSource("bad_claims", f"{path} contains no claims.", "Give a file of FEVER claims.")
    return claims


def labelled_records(path: Path) -> Iterator[tuple[str, dict[str, Any], Label]]:
    """Yield file and line, record and label of each line; raises ``BadSource``."""
    for number, record in read_json_lines(path, ("claim", "label")):
        if not any(record.values()):
            continue  # the training file of FEVEROUS begins with an empty record
        where = f"{path}, line {number}"
        if record["label"] not in LABELS:
            raise bad_line(where, f"the label is not one of {', '.join(LABELS)}")
        if not record["claim"].strip():
            raise bad_line(where, "the claim is empty")
        label: Label = record["label"]
        yield where, record, label


def text_under(record: Mapping[str, Any], key: str, where: str) -> str | None:
    """Return the text under ``key``, or ``None``; raises ``BadSource``."""
    value = record.get(key)
    if value is not None and not isinstance(value, str):
        raise bad_line(where, f"the value of {key!r} is not a text")
    return value or None


def sentence_keys(pairs: Iterable[Any], where: str) -> tuple[SentenceKey, ...]:
    """Return (page, sentence) pairs of an annotation; raises ``BadSource``."""
    keys = []
    for page, sentence in pairs:
        if not isinstance(page, str) or not isinstance(sentence, int) or sentence < 0:
            raise bad_line(where, "an evidence entry is not a page with a sentence number")
        keys.append((page_key(page), sentence))
    return tuple(keys)


def _id(record: dict[str, Any], where: str) -> int:
    number = record.get("id")
    if not isinstance(number, int) or isinstance(number, bool):
        raise bad_line(where, "no whole number under 'id'")
    return number


def _evidence_sets(
    record: dict[str, Any], label: Label, where: str
) -> tuple[tuple[SentenceKey, ...], ...]:
    if label == NOT_ENOUGH_INFO:
        return ()
    try:
        sets = tuple(
            sentence_keys(((page, sentence) for _, _, page, sentence in group), where)
            for group in record["evidence"]
        )
    except (KeyError, TypeError, ValueError) as error:
        raise bad_line(where, "no evidence in FEVER's form") from error
    if not sets or not all(sets):
        raise bad_line(where, f"{label} without evidence")
    return sets


def bad_line(where: str, what: str) -> BadSource:
    """Return the error that says what is wrong with a line of claims."""
    return BadSource("bad_claims", f"{where}: {what}.", "Correct or remove that line.")


@dataclass(frozen=True, slots=True)
class CorpusClaim(AnnotatedClaim):
    """A claim over the served corpus.

    ``evidence``: as for any claim, but a decided claim of FEVEROUS may have none. ``kind``: what
    makes it hard, such as ``two-hop``. ``texts``: the sentences of ``evidence``, in the same shape,
    where the file has them. ``tempting``: a sentence that shares the topic of an undecided claim
    and does not settle it. ``two_labels``: the file does not tell REFUTES from NOT ENOUGH INFO;
    such a claim that is not supported has the label REFUTES here.
    """

    kind: str
    texts: tuple[tuple[str, ...], ...] = ()
    tempting: SentenceKey | None = None
    two_labels: bool = False

    @property
    def label_in_file(self) -> str:
        """The label as its file has it, where that says less than ``label``."""
        return NOT_SUPPORTED if self.two_labels and self.label != SUPPORTS else self.label

    @property
    def right(self) -> frozenset[Label]:
        """The labels that are right."""
        merged = self.label_in_file == NOT_SUPPORTED
        return frozenset((REFUTES, NOT_ENOUGH_INFO) if merged else (self.label,))


def read_corpus_claims(path: Path) -> list[CorpusClaim]:
    """Return the claims in the order of the file: the project's own, HoVer's or FEVEROUS'.

    A line of ours is ``{"claim", "label", "kind", "evidence"}``, where the evidence is a list of
    sets ``[[document id, sentence number], ...]``, each sufficient alone; ``texts`` and
    ``tempting`` are optional. The files of the others are read as they are released
    (``_hover_claims``, ``_feverous_claim``); their document ids are the titles of pages.

    Raises:
        BadSource: the file cannot be read or contains no claims, or a claim of it is not such a
            claim; the message names file and line.
    """
    claims = (
        list(_hover_claims(path))
        if _is_list(path)
        else [
            _feverous_claim(record, label, where)
            if "challenge" in record
            else _own_claim(record, label, where)
            for where, record, label in labelled_records(path)
        ]
    )
    if not claims:
        raise BadSource("bad_claims", f"{path} contains no claims.", "Give a file of claims.")
    return claims


def _own_claim(record: dict[str, Any], label: Label, where: str) -> CorpusClaim:
    evidence = _sets(record, where)
    if bool(evidence) != (label != NOT_ENOUGH_INFO) or not all(evidence):
        raise bad_line(where, "a decided claim needs evidence and an undecided one has none")
    return CorpusClaim(
        text=record["claim"],
        label=label,
        evidence=evidence,
        kind=text_under(record, "kind", where) or _OTHER,
        texts=_texts(record, evidence, where),
        tempting=_tempting(record, where),
    )


_OTHER = "other"
NOT_SUPPORTED = "NOT_SUPPORTED"
_HOVER: Mapping[str, Label] = {"SUPPORTED": SUPPORTS, NOT_SUPPORTED: REFUTES}


def _is_list(path: Path) -> bool:
    with opened(path) as stream:
        return stream.read(_START).lstrip().startswith(b"[")


def _hover_claims(path: Path) -> Iterator[CorpusClaim]:
    """Yield the claims of a list ``[{"claim", "label", "supporting_facts", "num_hops"}, ...]``.

    The supporting facts, ``[title, sentence number]``, are one set. HoVer's NOT_SUPPORTED joins
    refuted claims and those without enough information, because its annotators could not tell them
    apart well; so both verdicts are right for it. The number of hops is the kind.
    """
    try:
        with opened(path) as stream:
            records = json.load(stream)
    except (ValueError, RecursionError) as error:
        raise BadSource(
            "source_not_json", f"{path}: not JSON: {error}.", "Fetch the file again."
        ) from error
    for number, record in enumerate(records, 1):
        where = f"{path}, claim {number}"
        try:
            text, label, hops = record["claim"], _HOVER[record["label"]], int(record["num_hops"])
            evidence = sentence_keys(record["supporting_facts"], where)
        except (KeyError, TypeError, ValueError) as error:
            raise bad_line(
                where, "no claim of HoVer with claim, label, supporting_facts and num_hops"
            ) from error
        if not isinstance(text, str) or not text.strip() or not evidence:
            raise bad_line(where, "no claim, or no supporting facts")
        evidence = tuple(dict.fromkeys(evidence))
        yield CorpusClaim(text, label, (evidence,), f"{hops} hops", two_labels=True)


_FEVEROUS_SENTENCE = re.compile(r"(.+)_sentence_(\d{1,9})", re.DOTALL)


def _feverous_claim(record: dict[str, Any], label: Label, where: str) -> CorpusClaim:
    """Return the claim of a line ``{"claim", "label", "evidence", "challenge"}`` of FEVEROUS.

    The evidence is a list of sets ``{"content": ["Title_sentence_3", "Title_cell_0_1_2", ...]}``.
    Documents are searched by sentences, so that no set with a cell, an item of a list or a caption
    can be found whole: only sets of sentences alone are kept, and a decided claim without one
    counts for its label only. What an annotator selected for an undecided claim settles nothing,
    and is left out. The challenge is the kind.
    """
    try:
        contents = [list(map(str, one["content"])) for one in record["evidence"]]
    except (KeyError, TypeError) as error:
        raise bad_line(where, "no evidence in FEVEROUS' form") from error
    found = [[_FEVEROUS_SENTENCE.fullmatch(element) for element in one] for one in contents]
    sets = [
        tuple((page_key(one[1]), int(one[2])) for one in matches if one is not None)
        for matches in found
        if matches and None not in matches
    ]
    evidence = () if label == NOT_ENOUGH_INFO else tuple(dict.fromkeys(sets))
    kind = text_under(record, "challenge", where) or _OTHER
    return CorpusClaim(record["claim"], label, evidence, kind)


def _sets(record: dict[str, Any], where: str) -> tuple[tuple[SentenceKey, ...], ...]:
    try:
        return tuple(sentence_keys(group, where) for group in record["evidence"])
    except (KeyError, TypeError, ValueError) as error:
        raise bad_line(
            where, "no sets of [document id, sentence number] under 'evidence'"
        ) from error


def _texts(
    record: dict[str, Any], evidence: tuple[tuple[SentenceKey, ...], ...], where: str
) -> tuple[tuple[str, ...], ...]:
    texts = record.get("texts") or []
    if not (
        isinstance(texts, list)
        and all(isinstance(group, list) for group in texts)
        and all(isinstance(text, str) for group in texts for text in group)
    ):
        raise bad_line(where, "'texts' is not a list of lists of sentences")
    if texts and [len(group) for group in texts] != [len(group) for group in evidence]:
        raise bad_line(where, "'texts' has another shape than 'evidence'")
    return tuple(tuple(group) for group in texts)


def _tempting(record: dict[str, Any], where: str) -> SentenceKey | None:
    if record.get("tempting") is None:
        return None
    try:
        (key,) = sentence_keys([record["tempting"]], where)
    except (TypeError, ValueError) as error:
        raise bad_line(where, "'tempting' is not [document id, sentence number]") from error
    return key


@dataclass(frozen=True, slots=True)
class Pair:
    """A claim, its evidence, and the label that the evidence gives the claim.

    ``evidence``: the text as a verifier reads it, titles included. ``title``: of the page that
    it is from, if known. ``source`` and ``kind``: groups for the results.
    """

    claim: str
    evidence: str
    label: Label
    title: str | None
    source: str | None
    kind: str | None

    @property
    def sentences(self) -> tuple[tuple[str, str], ...]:
        """The evidence as (title, sentence): the text before " : " is a title, else it is ""."""
        parts = (written.partition(" : ") for written in self.evidence.split(SEPARATOR))
        return tuple((head, text) if colon else ("", head) for head, colon, text in parts)


def read_pairs(path: Path) -> Iterator[Pair]:
    """Yield the pairs in the order of the file, JSON lines.

    A line is ``{"claim", "label", "evidence"}``, where the evidence is a text or a list of
    ``{"title", "sentence"}``; ``title``, ``source`` and ``kind`` are optional.

    Raises:
        BadSource: the file cannot be read, or a line is not such a pair; the message names file
            and line.
    """
    for where, record, label in labelled_records(path):
        title = text_under(record, "title", where)
        yield Pair(
            claim=record["claim"],
            evidence=_given_evidence(record.get("evidence"), title, where),
            label=label,
            title=title,
            source=text_under(record, "source", where),
            kind=text_under(record, "kind", where),
        )


def _given_evidence(evidence: Any, title: str | None, where: str) -> str:
    if isinstance(evidence, str) and evidence.strip():
        return evidence_text(title, evidence) if title else evidence
    if isinstance(evidence, list) and evidence:
        try:
            sentences = [(item["title"], item["sentence"]) for item in evidence]
        except (KeyError, TypeError) as error:
            raise bad_line(where, "evidence without a 'title' and a 'sentence' each") from error
        if all(isinstance(text, str) for sentence in sentences for text in sentence):
            return evidence_set_text(sentences)
    raise bad_line(where, "the evidence is neither a text nor a list of titles and sentences")
