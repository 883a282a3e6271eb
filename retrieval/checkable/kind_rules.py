"""What a parsed sentence is: fact, opinion, question, … by rules, which a linear model corrects."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Token

from retrieval.checkable.given_text import Kind
from retrieval.errors import ModelUnavailable
from retrieval.system.fixes import restore_model
from retrieval.text.english import ANY_SUBJECTS, FINITE
from retrieval.text.notices import OPEN_QUESTION, QUESTION, notices_of
from retrieval.text.word_forms import lexicon, word_set

_QUOTED = re.compile(r"[\"“]([^\"“”]+)[\"”]")
_TAGS = re.compile(r"(?:https?://|www\.|[#@])\S+")
_WORD = re.compile(r"[^\W\d_]{2,}")
# "Good morning", "Thank you", "Dear friends", "Mr President, …!"
_GREETING = re.compile(
    r"""(?:good\ (?:morning|evening|afternoon|night)|hello|hi|welcome|thanks?|cheers|goodbye|dear
    |congratulations|(?:happy|merry)\ \w+|ladies\ and\ gentlemen|god\ (?:bless|save)|see\ you
    |(?:it\ is\ (?:a\ pleasure|an\ honou?r)|nice)\ to\b)\b
    |(?:my\ )?(?:fellow|dear|honou?red)\ \w+[!.]?$|(?:mr|mrs|madam)\.?\ \w+,.*!$
    |(?:pls|please|let's|let\ us|rt|retweet)\b""",
    re.I | re.X,
)
_FORECAST = re.compile(
    r"""\b(?:going\ to|gonna|(?:is|are|was|were)\ (?:not\ )?(?:widely\ )?(?:expected|due|set|likely
    |unlikely|scheduled|forecast|predicted)\ (?:to|for)\b|looks?\ set\ to|tomorrow
    |(?:i|we)\ (?:promise|predict|bet)\b|(?:experts?|analysts?|economists?)\ (?:forecast|predict)
    |(?:is|are)\ (?:to|about\ to)\ (?!be\ (?:found|seen)\b)\w+
    |(?<!\ba\ )(?<!\bthe\ )(?:plan|intend|aim|hope|expect|want)s?\ to)\b""",
    re.I | re.X,
)
_FUTURE = {"will", "wo", "shall", "'ll", "’ll"}  # noqa: RUF001 - the curly one is meant
_UNCERTAIN = word_set("would could may might can")
_OPINION = re.compile(
    r"""\b(?:i|we)\ (?:(?:do(?:n't|\ not)|truly|really|firmly|strongly)\ )?(?:am\ |'m\ |are\ )?
        (?:(?:not\ )?(?:a\ fan|convinced|proud|glad|happy|afraid|sorry|grateful|delighted)
        |think|believe|feel|find|hope|wish|love|hate|prefer|doubt|suppose|consider|guess|fear
        |like|trust|owe)\b
    |\b(?:i'd|i\ would|we'd)\ (?:say|rather|argue)\b|\bi'm\ (?:not|glad|afraid|sorry)\b
    |\bin\ my\ (?:view|opinion|eyes)\b|^(?:for|to)\ me\b|\bseems?\ to\ me\b|\bif\ you\ ask\ me\b
    |^(?:frankly|personally|honestly|sadly|luckily|unfortunately|to\ be\ honest)\b
    |\b(?:should|must|ought\ to|needs?\ to|ha(?:ve|s)\ to|deserves?)\b
    |\bit\ is\ (?:high\ )?time\b|\bas\ far\ as\ i\b|\bthe\ way\ i\ see\b|\bmy\ (?:feeling|view)\b
    |\bworth\ (?:more|less)\ than\b|\bno\ excuse\b""",
    re.I | re.X,
)
_JUDGING = lexicon("judging")
_SAYING = lexicon("saying")
# What somebody does with words that tells nothing else.
_SPEAKING = lexicon("speaking")
_GENERIC = lexicon("generic")
_LIGHT = lexicon("light_verbs")


def kind_by_rules(sentence: Doc) -> Kind:
    """Return what a sentence is by the first rule that fits it."""
    text = sentence.text.strip()
    plain = text.replace("’", "'")  # noqa: RUF001 - the curly one is meant
    bare = _TAGS.sub(" ", text)
    asked = not {QUESTION, OPEN_QUESTION}.isdisjoint(notices_of(text))
    if asked or text.rstrip("\"'”’)").endswith("?"):  # noqa: RUF001
        return "question"
    if _GREETING.match(text):
        return "instruction"
    if not _WORD.search(bare):
        return "fragment"
    root = next(sentence.sents).root
    if (said := _reported(sentence, root)) is not None:
        return said
    if _is_imperative(root):
        return "instruction"
    if not any(token.tag_ in FINITE for token in sentence) and not _may_be_past(root, text):
        return "opinion" if _judges(sentence) else "fragment"
    if _is_forecast(text, root):
        return "forecast"
    if _OPINION.search(plain) or (_judges(_said_of(root)) and not _is_specific(sentence)):
        return "opinion"
    if _is_vague(sentence):
        return "vague"
    return "fact"


def _reported(sentence: Doc, root: Token) -> Kind | None:
    """Return the kind of what somebody says in a sentence, ``None`` if nobody does."""
    quoted = _QUOTED.search(sentence.text)
    if quoted and len(quoted[1]) > 0.3 * len(sentence.text):
        inner = [t for t in sentence if quoted.start(1) <= t.idx < quoted.end(1)]
        outer = [t for t in sentence if not quoted.start() <= t.idx < quoted.end()]
        if any(token.lemma_ in _SAYING for token in outer):
            return _kind_of_words(inner, quoted[1])
    if root.lemma_ in _SPEAKING and not any(token.like_num for token in sentence):
        return "quotation"
    told = next((t for t in root.children if t.dep_ == "ccomp" and t.i > root.i), None)
    if root.lemma_ in _SAYING and told is not None:
        return _kind_of_words(list(told.subtree), "")
    return None


def _kind_of_words(inner: list[Token], text: str) -> Kind:
    if any(_is_future(token) for token in inner):
        return "forecast"
    if any(t.lower_ in _UNCERTAIN and t.dep_ == "aux" and t.head.dep_ == "ccomp" for t in inner):
        return "forecast"
    if text and _OPINION.search(text):
        return "quotation"
    own = [token for token in inner if token.lower_ not in {"today", "yesterday"}]
    enough = not text and len(_told(own)) > 2 and not _judges(own)
    return "fact" if enough or _is_specific(own) else "quotation"


def _is_imperative(root: Token) -> bool:
    """Return whether the verb asks for something: "Vote on Sunday!", "Do not believe them."""
    if root.tag_ not in {"VB", "VBP"}:
        return False
    before = [t for t in root.children if t.i < root.i and t.dep_ not in {"neg", "advmod", "punct"}]
    plain = all(t.lower_ in {"do", "please"} or t.dep_ in {"intj", "dep"} for t in before)
    return plain and (root.tag_ == "VB" or root.i == 0)


def _may_be_past(root: Token, text: str) -> bool:
    """Return whether a participle may be a verb in the past: "Four companies tendered for it."."""
    after = root.doc[root.i + 1] if root.i + 1 < len(root.doc) else None
    return (
        text.endswith(".")
        and root.tag_ == "NNS"
        and after is not None
        and (after.tag_, after.dep_) == ("VBN", "acl")
        and after.lower_.endswith("ed")
        and all(child.dep_ != "agent" for child in after.children)
    )


def _is_forecast(text: str, root: Token) -> bool:
    verbs = {root, *root.conjuncts, *(t for t in root.children if t.dep_ == "ccomp")}
    if any(_is_future(aux) for verb in verbs for aux in verb.children):
        return True
    # "He would later become" tells history.
    told = any(token.lower_ in {"later", "eventually"} for token in root.subtree)
    uncertain = [t for verb in verbs for t in verb.children if t.lower_ in _UNCERTAIN - {"can"}]
    helps = [aux for one in uncertain for aux in one.head.children if aux.dep_ == "aux"]
    if uncertain and not told and all(aux.lower_ != "have" for aux in helps):
        return True
    return _FORECAST.search(text) is not None


def _is_future(token: Token) -> bool:
    return token.lower_ in _FUTURE and token.tag_ == "MD"


def _judges(tokens: Iterable[Token]) -> bool:
    return any(token.lower_ in _JUDGING for token in tokens)


def _said_of(root: Token) -> list[Token]:
    """Return the words that say what something is, or how it does something."""
    said = [root]
    for child in root.children:
        if child.dep_ in {"attr", "acomp", "advmod", "oprd", "dobj", "conj", "dep", "ccomp"}:
            said += [child, *(t for t in child.children if t.dep_ in {"amod", "conj", "acomp"})]
    return said


def _is_specific(tokens: Iterable[Token]) -> bool:
    """Return whether there is a name or a number among these words."""
    return any(
        (token.ent_type_ or token.pos_ == "PROPN" or token.like_num)
        and token.pos_ != "PRON"
        and token.lower_ != "one"
        for token in tokens
    )


def _told(tokens: Iterable[Token]) -> list[Token]:
    """Return the words that say more than that something happened to somebody."""
    return [
        token
        for token in tokens
        if token.pos_ in {"NOUN", "VERB", "ADJ"}
        and token.lemma_.casefold() not in _GENERIC | _LIGHT
    ]


def _is_vague(sentence: Doc) -> bool:
    if _is_specific(sentence):
        return False
    subject = next((t for t in sentence if t.dep_ in ANY_SUBJECTS), None)
    someone = subject is not None and subject.lower_ in {"he", "she", "i"}
    return len(_told(sentence)) < (1 if someone else 2)


FOLDER = Path(__file__).resolve().parents[2] / "models" / "checkable"
WEIGHTS = "weights.json"

# Chosen on the training sentences, each wording left out in turn.
_SURELY_NO_FACT = 0.2
_SURELY_A_FACT = 0.9
# The rules are right about these: they have a question mark, or the form of a call or a greeting.
_BY_RULES = frozenset({"question", "instruction"})


@dataclass(frozen=True, slots=True)
class KindModel:
    """Weights for each kind, ``(kinds, dimension of the vectors)``, and a bias for each kind."""

    kinds: tuple[Kind, ...]
    weights: NDArray[np.float32]
    bias: NDArray[np.float32]

    def probabilities(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the probability of each kind for each sentence's vector, ``(vectors, kinds)``."""
        scores = vectors @ self.weights.T + self.bias
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares: NDArray[np.float32] = odds / odds.sum(axis=1, keepdims=True)
        return shares

    def corrected(self, by_rules: Kind, probabilities: NDArray[np.float32]) -> Kind:
        """Return the kind that the rules give, or another one where the model is sure of it."""
        fact = self.kinds.index("fact")
        if by_rules == "fact" and probabilities[fact] < _SURELY_NO_FACT:
            kept = [kind != "fact" and kind not in _BY_RULES for kind in self.kinds]
            return self.kinds[int(np.argmax(np.where(kept, probabilities, 0)))]
        if by_rules not in _BY_RULES and probabilities[fact] > _SURELY_A_FACT:
            return "fact"
        return by_rules


def read_model(folder: Path = FOLDER) -> KindModel:
    """Return the model in a folder, the one that comes with ESOTERIC if none is named.

    Raises:
        ModelUnavailable: its file is missing or damaged.
    """
    path = folder / WEIGHTS
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
        return KindModel(
            tuple(read["kinds"]),
            np.array(read["weights"], np.float32),
            np.array(read["bias"], np.float32),
        )
    except OSError as error:
        raise ModelUnavailable(
            "model_missing", f"The model file {path} is missing.", restore_model(folder)
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise ModelUnavailable(
            "model_damaged", f"The model file {path} is damaged.", restore_model(folder)
        ) from error
