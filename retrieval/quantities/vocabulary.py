"""Words that matter when quantities are compared."""

from __future__ import annotations


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


RISKS = _set(
    """
    not n't no never none nobody nothing neither nor without hardly barely deny denied false
    falsely wrong wrongly incorrect incorrectly mistake mistaken mistakenly error myth hoax
    rumour rumor allege alleged allegedly suppose supposed supposedly purport purported reputed
    reputedly propose proposed plan planned intend intended expect expected hope aim target
    predict predicted forecast project projected would could may might should shall will if
    unless whether legend legendary fictional instead rather formerly previously
    initially originally once correct correction dispute disputed doubt claim claimed believe
    believed unlike except although though but yet however ask question according
    argue argued argues insist insisted insists boast boasted boasts advertise advertised
    advertises promise promised promises rest remainder
    """
)
"""Words of denials, hedges, plans, corrections and reports, after which a quantity may not be so,
and of a remainder, whose quantity follows from another one."""

STATES = _set(
    """
    amount be comprise contain cost cover extend feature have hold include last measure number
    possess reach rise run span stand stretch total weigh
    """
)
"""Verbs, by their base forms, that say only what something is, has or measures."""

ONCE = _set(
    """
    abolish arrive assassinate bear begin build collapse complete create crown debut dedicate die
    discover dissolve end erect establish finish form found inaugurate invent launch marry open
    premiere publish release sign sink start
    """
)
"""Verbs, by their base forms, of what happens to a thing once, so that it has one date."""

_ATTRIBUTES = {
    "height": "height high tall elevation altitude rise summit",
    "length": "length long",
    "width": "width wide broad",
    "depth": "depth deep",
    "thickness": "thickness thick",
    "diameter": "diameter",
    "distance": "distance away far",
    "area": "area cover",
    "weight": "weight weigh heavy mass",
    "speed": "speed fast velocity",
    "age": "age aged old",
    "duration": "duration last",
    "price": "price cost",
    "population": "people inhabitant resident population person live home",
}
ATTRIBUTE_OF = {word: name for name, words in _ATTRIBUTES.items() for word in words.split()}
"""What is measured, by the words that say so, in their base forms."""
