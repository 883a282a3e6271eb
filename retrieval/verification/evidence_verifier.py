"""The stance of each of the best sentences, by the strongest model: what the verdict rests on."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from haystack import component

from retrieval.cross_encoders.cross_encoder import CrossEncoder
from retrieval.cross_encoders.inputs import path_text
from retrieval.types import NOT_ENOUGH_INFO, Evidence, Opinion, Reading, SentenceKey

# A path must decide so much more than the best of its sentences does alone. Otherwise the sentence
# settles the claim, or not, without it.
GAIN = 0.1


@component
class EvidenceVerifier:
    """Reads the claim with each of the best sentences, alone and after those that led to it.

    The relevance model, which is five times as fast, chooses what is read here; from then on its
    own opinion does not count. Where no sentence settles the claim, pairs of them may.
    """

    def __init__(self, model: CrossEncoder, limit: int) -> None:
        """Read the ``limit`` best sentences, and those on their paths."""
        self._model = model
        self._limit = limit

    def warm_up(self) -> None:
        """Load the model."""
        self._model.warm_up()

    @component.output_types(evidence=list[Evidence], readings=dict[Reading, Opinion])
    def run(
        self,
        claim: str,
        evidence: list[Evidence],
        before: Mapping[Reading, Opinion],
        ends: Sequence[Evidence] = (),
        leads: int = 0,
    ) -> dict[str, Any]:
        """Return what was read of the evidence, best first, and every opinion so far.

        ``evidence`` comes best first. ``before``: opinions that were given before and are not
        asked for again; a sentence that was read then stays, wherever it stands now. ``ends``:
        sentences that are read too, each with its path, which is evidence. Where no reading
        settles the claim, each of the first ``leads`` sentences is also read together with every
        later one of another document, the ends left out.
        Of the readings that end with a sentence, the one that decides the most is kept; a path
        only if it decides more than each of its sentences alone (``GAIN``).
        A sentence is as good as the best reading that it takes part in (M3, algorithm 1), so the
        first sentence of a path stands beside the last one.
        """
        known = {item.key: item for item in (*ends, *evidence)}
        earlier = (item for item in evidence[self._limit :] if ((), item.key) in before)
        found = [*evidence[: self._limit], *_already_read(earlier, before)]
        best = _with_leads([*found, *ends], known)
        readings = self._readings(claim, best, known, before)
        read = _labelled(best, readings)
        if all(item.stance == NOT_ENOUGH_INFO for item in read):
            readings = self._readings(claim, _pairs(found, leads, readings), known, readings)
            read = _labelled(best, readings)
        worth = {item.key: item.score for item in read}
        for item in read:
            for key in item.path:
                worth[key] = max(worth[key], item.score)
        order = {item.key: position for position, item in enumerate(read)}
        read.sort(key=lambda item: (-round(worth[item.key], 3), order[item.key]))
        return {"evidence": read, "readings": readings}

    def _readings(
        self,
        claim: str,
        best: Sequence[Evidence],
        known: Mapping[SentenceKey, Evidence],
        before: Mapping[Reading, Opinion],
    ) -> dict[Reading, Opinion]:
        asked = dict.fromkeys((path, item.key) for item in best for path in ((), item.path))
        new = [reading for reading in asked if reading not in before]
        said = self._model.probabilities([(claim, _text(reading, known)) for reading in new])
        opinions = {
            reading: (float(row[0]), float(row[1]), float(row[2]))
            for reading, row in zip(new, said, strict=True)
        }
        return {**before, **opinions}


def _pairs(best: Sequence[Evidence], leads: int, read: Container[Reading]) -> list[Evidence]:
    """Return the sentences, each with one of the first ``leads``, of another document, as path.

    A pair that was read the other way round is left out.
    """
    return [
        replace(item, path=(lead.key,))
        for position, lead in enumerate(best[:leads])
        for item in best[position + 1 :]
        if item.sentence.document_id != lead.sentence.document_id
        and ((item.key,), lead.key) not in read
    ]


def _already_read(
    earlier: Iterable[Evidence], before: Mapping[Reading, Opinion]
) -> Iterator[Evidence]:
    """Yield these sentences without paths that would have to be read first."""
    for item in earlier:
        yield item if (item.path, item.key) in before else replace(item, path=())


def _with_leads(best: Iterable[Evidence], known: Mapping[SentenceKey, Evidence]) -> list[Evidence]:
    """Return the sentences and those on their paths, each once; paths of unknown ones are cut."""
    chosen: dict[SentenceKey, Evidence] = {}
    for item in best:
        if not all(key in known for key in item.path):
            item = replace(item, path=())
        chosen[item.key] = item
    for item in list(chosen.values()):
        for key in item.path:
            chosen.setdefault(key, replace(known[key], path=()))
    return list(chosen.values())


def _text(reading: Reading, known: Mapping[SentenceKey, Evidence]) -> str:
    path, last = reading
    texts = [(known[key].title, known[key].sentence.text) for key in (*path, last)]
    return path_text(texts[-1], texts[:-1])


def _labelled(best: Sequence[Evidence], readings: Mapping[Reading, Opinion]) -> list[Evidence]:
    """Return the sentences as the readings that decide the most say."""
    alone = {item.key: replace(item, opinion=readings[(), item.key], path=()) for item in best}
    surest = dict(alone)
    for (path, key), opinion in readings.items():
        if not path or not alone.keys() >= {*path, key}:
            continue
        together = replace(alone[key], opinion=opinion, path=path)
        least = GAIN + max(alone[part].score for part in (*path, key))
        if together.score >= max(least, surest[key].score):
            surest[key] = together
    return list(surest.values())
