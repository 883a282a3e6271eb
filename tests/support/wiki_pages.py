"""The pages of the wiki that the tests search: what is claimed stands deep in them, or in a box."""

from collections.abc import Sequence
from xml.sax.saxutils import escape

INFOBOX = """{| class="infobox"
|+ {{{name}}}
|-
! {{{key1}}}
| {{{value1}}}
|-
! {{{key2}}}
| {{{value2}}}
|}"""
_FILLER = (
    "The parish book of year {n} notes a calm winter and a late harvest on the western farms. "
    "Boats came and went with peat, flour and rope, and the inn at the pier was full. "
)


def _box(name: str, *rows: tuple[str, str]) -> str:
    """Return an infobox of two rows."""
    values = "".join(f"|key{n}={key}|value{n}={value}" for n, (key, value) in enumerate(rows, 1))
    return f"{{{{Infobox|name={name}{values}}}}}"


def _long() -> str:
    """Return an article of 200,000 characters; the fact stands in its last section."""
    years = range(1700, 1890)
    sections = (f"== Year {n} ==\n{_FILLER.format(n=n) * 6}\n" for n in years)
    return (
        "'''Ohre parish''' is a parish on the mainland.\n\n"
        + "".join(sections)
        + "== The great clock ==\nThe great clock of Ohre parish was cast by Ivo Brandt in 1891.\n"
    )


# By title: the text, or the texts of all revisions, oldest first.
PAGES: dict[str, str | Sequence[str]] = {
    "Template:Infobox": INFOBOX,
    "Skerrow Light": _box("Skerrow Light", ("Height", "41 metres"), ("Keeper", "[[Ann Lee]]"))
    + "\n'''Skerrow Light''' is a lighthouse on the island of [[Skerrow]].<ref>A note.</ref>\n\n"
    "== History ==\nThe tower was first lit in 1871. Its lamp came from [[Dundee]].\n\n"
    "== Sale ==\nIn 1960 the tower was sold to Tom Berg for 900 pounds.\n\n"
    "== See also ==\n* [[Ohre parish]]\n",
    "The Skerrow lighthouse": "#REDIRECT [[Skerrow Light]]",
    "Ann Lee": _box("Ann Lee", ("Born", "3 May 1841"), ("Died", "9 June 1902"))
    + "\n'''Ann Lee''' was an engineer.\n\n== Life ==\nShe studied in [[Dundee]]. In 1880 Lee"
    " married the painter [[Ida Holm]].\n",
    "Ida Holm": "'''Ida Holm''' was a painter.\n\n== Work ==\nHolm taught at the [[Varnby Academy]]"
    " from 1885 to 1890.\n",
    "Varnby Academy": "'''Varnby Academy''' was a school of art in [[Varnby]].\n\n== Closing ==\n"
    "The school was closed in 1914.\n",
    "Varnby": "'''Varnby''' is a town on the mainland.\n\n== Population ==\n"
    '{| class="wikitable"\n! Year !! Inhabitants\n|-\n| 1900 || 5,895\n|-\n| 1950 || 4,807\n|}\n',
    "Skerrow": "'''Skerrow''' is a small island in the north.\n\n== Economy ==\n"
    "Most islanders keep sheep.\n",
    "Dundee": "'''Dundee''' is a city in Scotland.\n",
    "Ohre parish": _long(),
    "Mercury": "'''Mercury''' may refer to:\n* [[Mercury (ferry)]], a ferry to [[Skerrow]]\n"
    "* [[Mercury (newspaper)]], a newspaper of [[Varnby]]\n",
    "Mercury (ferry)": "'''Mercury''' was a ferry.\n\n== Fate ==\nThe ferry Mercury sank near the"
    " pier in 1911.\n",
    "Mercury (newspaper)": "'''Mercury''' was a newspaper.\n\n== Editors ==\nIts last editor was"
    " Tom Berg.\n",
    "Skerrow bridge": [
        "'''Skerrow bridge''' is a bridge.\n\n== Traffic ==\nThe bridge is open to carts.\n",
        "'''Skerrow bridge''' is a bridge.\n\n== Traffic ==\nThe bridge was closed in 2020.\n",
    ],
    "Нева": "'''Нева''' — река.\n\n== История ==\nДлина реки — 74 километра.\n",  # noqa: RUF001
    "Loop": "'''Loop''' is a page with a table that never ends.\n{{Loop}}\n",
    "Template:Loop": "{{Loop}}",
}
REVISED = ("2019-03-01T10:00:00Z", "2020-06-01T10:00:00Z", "2024-11-12T10:00:00Z")


def as_xml() -> str:
    """Return the pages as MediaWiki exports them; a single revision is the newest day's."""
    return (
        '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">'
        + "".join(_page(title, text) for title, text in PAGES.items())
        + "</mediawiki>"
    )


def _page(title: str, text: str | Sequence[str]) -> str:
    days = REVISED[-1:] if isinstance(text, str) else REVISED
    texts = [text] if isinstance(text, str) else text
    revisions = "".join(
        f"<revision><timestamp>{day}</timestamp><contributor><username>Ida</username></contributor>"
        f"<model>wikitext</model><format>text/x-wiki</format>"
        f'<text xml:space="preserve">{escape(one)}</text></revision>'
        for day, one in zip(days, texts, strict=False)
    )
    space = 10 if title.startswith("Template:") else 0
    return f"<page><title>{escape(title)}</title><ns>{space}</ns>{revisions}</page>"
