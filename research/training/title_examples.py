"""The title model's training examples: a claim with sentences, and the title they lead to.

As in AdMIRaL (section 3.1 and A.1): if several pages decide a claim, the gold sentences of all but
one are read among others that lead to no page, and the title of that one is generated. Such claims
are few. Most examples are made from pages: a sentence that names another page leads to it, and the
claim is composed from both.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from research.evaluation.claims import AnnotatedClaim
from research.training.compositions.bridges import BridgeFinder, Mention
from research.training.compositions.composition import tidied
from research.training.sentence_pool import PoolSentence, SentencePool
from retrieval.models.papers.decoding import MOST_SENTENCES
from retrieval.stages.find.next import SENTENCES

MOST_NEEDED = 4  # sentences of an evidence set; longer ones are unions of several
# Each step is read several times, among other sentences and, if made from pages, with other claims.
OF_ANNOTATED, OF_COMPOSED, OF_PAGES = 6, 1, 2
PER_PAGE = 20  # mentions of a page that are used
RENAMED = 0.3  # share of the steps from pages whose page gets another name
MOST_CHARACTERS = 900  # of claim and sentences; more do not fit the model's window
# Shares of the sentences that lead nowhere; the rest are from anywhere.
SAME_PAGE, SIMILAR = 0.3, 0.5
NEAR = 12  # the similar ones are drawn from so many of the nearest
_LONGEST_BEFORE, _LONGEST_PREDICATE = 6, 9  # words
_LENGTHS = (1, 2, 3)  # words of a title in lower case
_LOWER = re.compile(r"\b[a-z][\w'-]*")
_CLAUSE = re.compile(r"[,;:()]|\b(?:and|but|who|which|that|while|where|when)\b")
_SUBJECT = re.compile(r"^(?:He|She|It|They|His|Her|Its|Their|This|The \w+)\b ?")
_PREDICATE = re.compile(r"\b(?:is|was|are|were|has|had|have)\b .+")
_DESCRIPTION = re.compile(r"\b(?:is|was|are|were) ((?:an?|the|one of the) .+)")


@dataclass(frozen=True, slots=True)
class TitleExample:
    """A claim, (title, sentence) pairs in the order of reading, and what to generate from them.

    ``leads``: positions of the sentences that lead to the document called ``title``.
    """

    claim: str
    sentences: tuple[tuple[str, str], ...]
    leads: tuple[int, ...]
    title: str

    @property
    def length(self) -> int:
        """Its characters."""
        return _characters(self.claim, self.sentences)


@dataclass(frozen=True, slots=True)
class TitleStep:
    """A step from sentences, which are indices into a pool, to another page.

    ``ruled_out``: sentences that may lead there as well. ``renamed``: the page's name and another
    one that replaces it in claim and sentences.
    """

    claim: str
    leads: tuple[int, ...]
    page: str
    ruled_out: frozenset[int] = frozenset()
    renamed: tuple[str, str] | None = None


def title_examples(
    annotated: Sequence[AnnotatedClaim],
    composed: Sequence[AnnotatedClaim],
    pool: SentencePool,
    seed: int,
) -> list[TitleExample]:
    """Return examples of annotated claims, composed ones and pages.

    They and their order depend only on the seed. The evidence of composed claims is in the order in
    which it is found.
    """
    chance = random.Random(seed)
    steps = [
        *steps_of(annotated, pool) * OF_ANNOTATED,
        *steps_of(composed, pool, ordered=True) * OF_COMPOSED,
        *_page_steps(pool, chance),
    ]
    nearest = pool.nearest([step.claim for step in steps], NEAR)
    return [
        _among_others(step, [int(i) for i in near], pool, chance)
        for step, near in zip(steps, nearest, strict=True)
    ]


def steps_of(
    claims: Sequence[AnnotatedClaim], pool: SentencePool, *, ordered: bool = False
) -> list[TitleStep]:
    """Return steps from the gold sentences of all pages but one to that page.

    There is one for each page; if the evidence is ``ordered``, only for the last page (AdMIRaL,
    A.1).
    """
    steps = []
    for claim in claims:
        gold = frozenset(pool.rows(claim.gold))
        for group in claim.evidence:
            if len(group) > MOST_NEEDED or not all(key in pool.position for key in group):
                continue
            pages = [group[-1][0]] if ordered else sorted({page for page, _ in group})
            for page in pages:
                leads = tuple(pool.rows(key for key in group if key[0] != page))
                if leads:
                    steps.append(TitleStep(claim.text, leads[:MOST_SENTENCES], page, gold))
    return steps


def _page_steps(pool: SentencePool, chance: random.Random) -> list[TitleStep]:
    """Return steps from sentences that name a page to that page, with invented claims."""
    finder, common = BridgeFinder(pool), _common_names(pool)
    bridges = [
        (sentence, text, mention)
        for sentence in pool.sentences
        for text in (tidied(sentence.text),)
        for mention in [
            *finder.named(text, sentence.page, pool.name(sentence.page)),
            *_named_in_lower_case(text, sentence.page, common),
        ]
    ]
    chance.shuffle(bridges)
    used: Counter[str] = Counter()
    kept = []
    for sentence, text, mention in bridges:
        used[mention.page] += 1
        if used[mention.page] <= PER_PAGE:
            kept.append((sentence, text, mention))
    names = _names_by_length(pool)
    steps = []
    for sentence, text, mention in kept * OF_PAGES:
        lead = pool.position[sentence.key]
        for claim in made_claims(sentence, text, mention, pool, chance):
            renamed = None
            name = pool.name(mention.page)
            if name in sentence.text and chance.random() < RENAMED:
                new = chance.choice(names[len(name.split())])
                lead_text = f"{sentence.title} {sentence.text}"
                renamed = (name, new) if new not in lead_text else None
            steps.append(TitleStep(claim, (lead,), mention.page, renamed=renamed))
    return steps


def _common_names(pool: SentencePool) -> dict[str, str]:
    """Return the pages whose titles are in lower case in their own sentences, by these words."""
    names: dict[str, str] = {}
    for page, indices in pool.by_page.items():
        title = pool.sentences[indices[0]].title
        name = title.lower()
        whole = re.compile(rf"\b{re.escape(name)}\b")
        if name != title and any(whole.search(pool.sentences[i].text) for i in indices):
            names[name] = page
    return names


def _named_in_lower_case(text: str, page: str, common: Mapping[str, str]) -> list[Mention]:
    words = list(_LOWER.finditer(text))
    runs = [words[i : i + n] for n in _LENGTHS for i in range(len(words) - n + 1)]
    return [
        Mention(common[name], run[0].start(), run[-1].end())
        for run in runs
        if common.get(name := text[run[0].start() : run[-1].end()], page) != page
    ]


def _names_by_length(pool: SentencePool) -> dict[int, list[str]]:
    """Return the names of pages by their number of words; names of two words are mostly persons."""
    names: dict[int, list[str]] = {}
    for name in dict.fromkeys(pool.name(page) for page in pool.by_page):
        names.setdefault(len(name.split()), []).append(name)
    return names


def made_claims(
    sentence: PoolSentence,
    text: str,
    mention: Mention,
    pool: SentencePool,
    chance: random.Random,
) -> list[str]:
    """Return up to two claims that a sentence and the page that it names decide together.

    ``text`` is the tidied sentence. In one claim the description of the page replaces its name. The
    other one applies a predicate from a sentence of the named page to the sentence's page.
    """
    name = pool.name(sentence.page)
    own = pool.page(mention.page)
    described = _DESCRIPTION.search(tidied(own[0].text))
    claims = []
    if described:
        description = _first_words(described[1])
        before = _SUBJECT.sub("", _CLAUSE.split(text[: mention.start])[-1].strip())
        words = " ".join(before.split()[-_LONGEST_BEFORE:])
        about = words if name in words else f"{name} {words}".strip()
        claims.append(f"{about} {description}.")
    predicate = _PREDICATE.search(tidied(chance.choice(own).text))
    if predicate:
        claims.append(f"{name} {_first_words(predicate[0])}.")
    return claims


def _first_words(text: str) -> str:
    words = _CLAUSE.split(text)[0].split()[:_LONGEST_PREDICATE]
    return " ".join(words).rstrip(" .")


def _among_others(
    step: TitleStep, near: Sequence[int], pool: SentencePool, chance: random.Random
) -> TitleExample:
    """Mix the sentences that lead to the page with up to four that do not, in random order."""
    name, title = pool.name(step.page), pool.page(step.page)[0].title
    old, new = step.renamed or (name, name)

    def leads_elsewhere(index: int) -> bool:
        sentence = pool.sentences[index]
        text = f"{sentence.title} {sentence.text}".casefold()
        named = name.casefold() in text or new.casefold() in text
        return sentence.page != step.page and index not in step.ruled_out and not named

    def texts(indices: Sequence[int]) -> tuple[tuple[str, str], ...]:
        sentences = [pool.sentences[i] for i in indices]
        return tuple((s.title, s.text.replace(old, new)) for s in sentences)

    pages = sorted({pool.sentences[i].page for i in step.leads})
    same = [i for page in pages for i in pool.by_page[page] if leads_elsewhere(i)]
    similar = [i for i in near if leads_elsewhere(i)]
    chosen = list(dict.fromkeys(step.leads))
    size = chance.randint(len(chosen), SENTENCES)
    for _ in range(2 * SENTENCES):
        drawn = chance.random()
        source = same if drawn < SAME_PAGE else similar if drawn < SAME_PAGE + SIMILAR else ()
        index = chance.choice(source or range(len(pool.sentences)))
        fits = _characters(step.claim, texts([*chosen, index])) <= MOST_CHARACTERS
        if len(chosen) < size and fits and index not in chosen and leads_elsewhere(index):
            chosen.append(index)
    order = list(chosen)
    chance.shuffle(order)
    return TitleExample(
        step.claim.replace(old, new),
        texts(order),
        tuple(sorted(order.index(i) for i in step.leads)),
        new if step.renamed else title,
    )


def _characters(claim: str, sentences: Sequence[tuple[str, str]]) -> int:
    return len(claim) + sum(len(title) + len(text) for title, text in sentences)
