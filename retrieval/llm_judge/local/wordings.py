"""The prompts for the language model, and the first words of an answer that mean each label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from retrieval.llm_judge.prompt import escaped
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Label

# Invented examples, so that none of them is used for fitting or measuring.
EXAMPLES: tuple[tuple[str, str, Label], ...] = (
    (
        "Marlow Viaduct: It was opened in 1907 and carries both lanes of the old coast road.",
        "Cars could cross Marlow Viaduct before the First World War.",
        SUPPORTS,
    ),
    (
        "Lindenau Castle: The castle stands on a hill above the river Wyre.",
        "Lindenau Castle has more than forty rooms.",
        NOT_ENOUGH_INFO,
    ),
    (
        "Terrin: Terrin is the second largest island of the group, after Hale.",
        "No island of the group is larger than Terrin.",
        REFUTES,
    ),
    (
        (
            "Pella Voss: She wrote the novel Glass Harbour.\n"
            "Glass Harbour: The novel won the Brandt Prize in 1988."
        ),
        "A book by Pella Voss won a prize.",
        SUPPORTS,
    ),
    (
        "Ostrel Quartet: The ensemble was founded by three sisters and their cousin.",
        "All founders of the Ostrel Quartet were sisters.",
        REFUTES,
    ),
    (
        "Olive bread: Olive bread is baked with whole or chopped olives.",
        "Olive bread tastes better than rye bread.",
        NOT_ENOUGH_INFO,
    ),
)


@dataclass(frozen=True, slots=True)
class Wording:
    """A form of the prompt. ``answers``: the first token of the answer for each of ``LABELS``."""

    name: str
    system: str
    question: str
    answers: tuple[str, str, str]
    examples: bool

    def prompt(self, claim: str, sentences: Sequence[tuple[str, str]]) -> str:
        """Return the prompt in the model's chat format (ChatML), up to its answer.

        ``sentences``: (title, sentence), each on one line. Characters that begin a control token in
        them or in the claim are escaped.
        """
        evidence = "\n".join(f"{title}: {text}" if title else text for title, text in sentences)
        turns = [f"<|im_start|>system\n{self.system}<|im_end|>\n"]
        if self.examples:
            words = dict(zip((SUPPORTS, REFUTES, NOT_ENOUGH_INFO), self.answers, strict=True))
            turns += [
                self._asked(shown, stated) + f"{words[label]}<|im_end|>\n"
                for shown, stated, label in EXAMPLES
            ]
        return "".join([*turns, self._asked(escaped(evidence), escaped(claim))])

    def _asked(self, evidence: str, claim: str) -> str:
        question = self.question.format(evidence=evidence, claim=claim)
        return f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"


SYSTEM = "You check claims against evidence. Use the evidence only. Answer with one word."
YES_NO_QUESTION = (
    "Evidence:\n{evidence}\nClaim: {claim}\n"
    "Is the claim true according to the evidence? Yes, No or Unknown?"
)
_LETTERS = (
    "Evidence:\n{evidence}\nClaim: {claim}\n"
    "A: the evidence supports the claim. B: the evidence contradicts it."
    " C: the evidence does not settle it. Which letter?"
)

YES_NO = Wording("yes-no, examples", SYSTEM, YES_NO_QUESTION, ("Yes", "No", "Unknown"), True)
LETTERS = Wording("letters, examples", SYSTEM, _LETTERS, ("A", "B", "C"), True)
# In the order of the weights in ``LanguageModelConfig``.
WORDINGS = (LETTERS, YES_NO)
