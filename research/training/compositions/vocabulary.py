"""Closed word lists: words that exclude each other, and the names of roles."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """Return a list of words as a set."""
    return frozenset(text.split())


# Nations of the same group do not exclude each other; all others do.
NATIONS: tuple[tuple[str, ...], ...] = (
    ("American", "Native American", "African-American", "Hawaiian", "Puerto Rican", "Filipino"),
    ("British", "English", "Scottish", "Welsh", "Irish", "Northern Irish", "Anglo-Irish"),
    ("Canadian", "Quebecois"),
    ("French", "Breton", "Norman", "Frankish"),
    ("German", "Prussian", "Bavarian", "Austrian", "Hungarian", "Austro-Hungarian", "Bohemian"),
    ("Italian", "Venetian", "Sicilian", "Neapolitan", "Roman"),
    ("Spanish", "Catalan", "Basque", "Castilian"),
    ("Portuguese",),
    ("Dutch", "Flemish", "Belgian"),
    ("Swedish",),
    ("Danish",),
    ("Norwegian",),
    ("Finnish",),
    ("Icelandic",),
    ("Swiss",),
    ("Polish",),
    ("Czech", "Slovak", "Czechoslovak"),
    ("Romanian", "Moldovan"),
    ("Bulgarian",),
    ("Serbian", "Croatian", "Bosnian", "Slovenian", "Montenegrin", "Yugoslav"),
    ("Greek",),
    ("Turkish", "Ottoman"),
    ("Russian", "Soviet", "Ukrainian", "Belarusian", "Georgian", "Armenian", "Kazakh", "Estonian"),
    ("Chinese", "Taiwanese", "Hong Kong"),
    ("Japanese",),
    ("South Korean", "Korean"),
    ("Indian", "Pakistani", "Bangladeshi", "Bengali", "Tamil", "Telugu", "Malayali", "Kannada"),
    ("Thai",),
    ("Indonesian", "Malaysian", "Singaporean"),
    ("Vietnamese",),
    ("Iranian", "Persian"),
    ("Iraqi",),
    ("Israeli",),
    ("Egyptian",),
    ("Lebanese", "Syrian"),
    ("Moroccan", "Algerian", "Tunisian"),
    ("Nigerian",),
    ("Kenyan",),
    ("Ghanaian",),
    ("South African",),
    ("Australian",),
    ("New Zealand",),
    ("Mexican",),
    ("Brazilian",),
    ("Argentine", "Argentinian"),
    ("Chilean",),
    ("Colombian",),
    ("Cuban",),
    ("Jamaican",),
)
# Nouns of one group may be true of the same person or thing; those of two groups hardly are.
OCCUPATIONS: tuple[tuple[str, ...], ...] = (
    (
        *("actor", "actress", "comedian", "filmmaker", "director", "screenwriter", "producer"),
        *("singer", "songwriter", "musician", "rapper", "composer", "guitarist", "drummer"),
        *("pianist", "conductor", "dancer", "choreographer", "entertainer", "presenter", "host"),
        *("cinematographer", "animator", "cartoonist", "model", "writer", "author", "novelist"),
        *("poet", "playwright", "dramatist", "essayist", "journalist", "lyricist", "painter"),
        *("editor", "sculptor", "photographer", "illustrator", "artist", "personality"),
    ),
    (
        *("footballer", "golfer", "boxer", "swimmer", "cyclist", "sprinter", "wrestler"),
        *("player", "quarterback", "goalkeeper", "skier", "gymnast", "cricketer", "athlete"),
        *("runner", "pitcher", "coach", "skater", "rower", "driver", "jockey"),
    ),
    (
        *("physicist", "chemist", "biologist", "mathematician", "astronomer", "physician"),
        *("botanist", "geologist", "zoologist", "neuroscientist", "surgeon"),
    ),
    ("politician", "diplomat", "senator", "statesman", "lawyer", "attorney", "judge"),
)
WORKS: tuple[tuple[str, ...], ...] = (
    ("film", "series", "sitcom", "miniseries", "documentary", "franchise", "serial", "show"),
    ("album", "song", "single", "ep", "soundtrack"),
    ("novel", "book", "novella", "trilogy", "memoir", "poem", "play"),
)
ORGANISATIONS: tuple[tuple[str, ...], ...] = (
    ("magazine", "newspaper", "tabloid"),
    ("band", "duo", "trio", "quartet", "quintet", "group", "ensemble", "orchestra"),
    ("label", "studio", "distributor", "company", "conglomerate", "corporation", "publisher"),
    ("channel", "network", "broadcaster", "station"),
    ("university", "college", "school", "academy"),
    ("club", "team"),
    ("airline",),
)
SITES: tuple[tuple[str, ...], ...] = (
    ("river", "lake", "sea", "ocean", "bay"),
    ("mountain", "volcano", "hill"),
    ("castle", "palace", "church", "cathedral", "abbey", "museum", "prison", "stadium"),
    ("airport", "bridge", "park"),
)
WORK_NOUNS = frozenset(noun for group in WORKS for noun in group)
KINDS = (OCCUPATIONS, WORKS, ORGANISATIONS, SITES)
_TRADE = {noun: group for kind in KINDS for group in kind for noun in group}


def trade(phrase: str) -> tuple[str, ...] | None:
    """Return the group that the last word of a phrase is in, such as "player" of "chess player"."""
    return _TRADE.get(phrase.split()[-1].lower())


# Places that contain or overlap others of the same line.
REALMS: tuple[tuple[str, ...], ...] = (
    ("United Kingdom", "UK", "England", "Scotland", "Wales", "Britain", "Great Britain", "Ireland"),
    ("United States", "USA", "U.S.", "US", "America"),
    ("Germany", "Prussia", "West Germany", "East Germany", "Austria", "Hungary"),
    ("Russia", "Soviet Union", "USSR", "Ukraine"),
    ("China", "Taiwan", "Hong Kong"),
    ("India", "Pakistan", "Bangladesh"),
    ("Netherlands", "Holland", "Belgium"),
)
DOER: dict[str, str] = {
    "direct": "director",
    "write": "writer",
    "author": "author",
    "pen": "writer",
    "produce": "producer",
    "compose": "composer",
    "create": "creator",
    "found": "founder",
    "establish": "founder",
    "develop": "developer",
    "design": "designer",
    "publish": "publisher",
    "paint": "painter",
    "record": "performer",
    "perform": "performer",
    "sing": "singer",
    "discover": "discoverer",
    "invent": "inventor",
    "illustrate": "illustrator",
    "edit": "editor",
    "distribute": "distributor",
    "own": "owner",
    "narrate": "narrator",
    "translate": "translator",
}
# Relations to a person, and the person's role.
MAKER: dict[str, str] = {
    "song": "performer",
    "single": "performer",
    "album": "performer",
    "ep": "performer",
    "soundtrack": "composer",
    "novel": "author",
    "book": "author",
    "novella": "author",
    "play": "author",
    "poem": "author",
    "painting": "painter",
    "sculpture": "sculptor",
    "opera": "composer",
    "symphony": "composer",
}
SPOUSES = {"wife": "husband", "husband": "wife"}
DOERS = frozenset({*DOER.values(), *MAKER.values()})
PARENT = "parent"  # of a child; father or mother
CHILDREN = words("son daughter child")
# Verbs whose subject or object is in only one place.
PLACED = words("locate situate bear bury found form establish base headquarter die")
PLACES = words("""
    city town village municipality district county suburb neighborhood school university college
    church museum airport station stadium building hospital park castle palace prison bridge
""")
# Actions that only one does to a thing, but for which there is no name of a role.
DONE_BY_ONE = words("""
    release operate play portray voice host manage lead kill assassinate defeat succeed replace
    broadcast animate
""")
# Words before a preposition that only one name can follow truly.
OF_ONE: frozenset[tuple[str, str]] = frozenset(
    {
        *(("based", "on"), ("named", "after"), ("married", "to"), ("sequel", "to")),
        *(("prequel", "to"), ("adaptation", "of"), ("episode", "of"), ("capital", "of")),
        *(("subsidiary", "of"), ("division", "of"), ("character", "in"), ("song", "from")),
        *(("single", "from"), ("track", "from"), ("track", "on"), ("song", "on")),
        *(("protagonist", "of"), ("remake", "of"), ("founder", "of")),
    }
)
STATES = words("locate situate base headquarter own")  # that last
# A statement cut out of a sentence with one of these may have another meaning than the sentence.
UNSURE = words("""
    not never n't no without except until than if would could may might will should hardly only nor
    neither unlike instead despite while between among whether few little almost against versus
""")
HEARSAY = words("""
    say claim believe consider allege plan expect announce refuse want try fail decline deny propose
    suggest think hope intend reject cancel compare mistake seem lack consist know call name list
    regard describe
""")
# Participles after a noun that give its maker or its place.
MADE = words("""
    direct write produce create found form base locate situate publish own compose develop star
    establish release design
""")
# Nouns with little meaning alone, or that the parser confuses with a person's trade.
UNTELLING = words("""
    name list term one series part type form kind set son daughter child stage radio television
""")
# True of so many things that no page need contain it.
GENERIC = words("person someone people man woman thing same")
# Words that "the director of P" or "directed P" already implies.
IMPLIED: dict[str, frozenset[str]] = {
    "director": words("director filmmaker film movie"),
    "producer": words("producer film movie record"),
    "writer": words("writer author screenwriter songwriter novelist"),
    "author": words("writer author novelist book"),
    "composer": words("composer musician music"),
    "performer": words("singer musician artist performer recording music vocalist"),
    "singer": words("singer musician artist performer recording music vocalist"),
    "publisher": words("publisher publishing company"),
    "distributor": words("distributor distribution company film"),
    "developer": words("developer company video game"),
    "owner": words("owner company corporation"),
    "founder": words("founder"),
    "designer": words("designer"),
    "painter": words("painter artist"),
}
PAST = {"written": "wrote", "sung": "sang"}
