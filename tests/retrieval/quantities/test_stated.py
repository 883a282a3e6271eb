"""Claims that state a quantity, beside one sentence; the labels are worked out by hand."""

# ruff: noqa: RUF001 - the dash between years is meant

from __future__ import annotations

import pytest

from retrieval.quantities.facts import ParsedSentence
from retrieval.quantities.relation import Ruling
from retrieval.quantities.stated import stated
from retrieval.text.english import EnglishParser
from retrieval.types import REFUTES, SUPPORTS
from tests.support.rows import rows

# Each is a claim, the title of a page and a sentence of it.
SUPPORTED = rows(
    """
    The wall of Torve is 2,000 metres long.
        Torve | The wall of Torve is 2 kilometres long.
    The bridge of Arl is about 73 metres long.
        Arl | The bridge of Arl is 240 feet long.
    Mount Ober is higher than 4,000 metres.
        Mount Ober | Mount Ober is a volcano that rises to 4,212 metres above sea level.
    Mount Ober is 4,212 metres high.
        Mount Ober | The mountain has a height of 4,212 m (13,819 ft).
    Mount Ober is over 13,000 feet tall.
        Mount Ober | It has an elevation of 4,212 m.
    More than three thousand people live in Selm.
        Selm | Selm has a population of 3,412.
    Selm has 3,412 inhabitants.
        Selm | Selm has a population of 3,412.
    Selm has 1,500,000 inhabitants.
        Selm | The city has 1.5 million inhabitants.
    The population of Selm is more than 3,000.
        Selm | Selm has a population of 3,412 as of 2011.
    Brask was founded in the 19th century.
        Brask | It was founded in 1871.
    Brask was founded before 1900.
        Brask | The town was founded in 1871.
    Brask was founded in the 1870s.
        Brask | The town was founded in May 1871.
    Ada Vale was born in 1901.
        Ada Vale | Ada Vale (3 May 1901 – 9 June 1970) was a painter.
    Ada Vale died in 1970.
        Ada Vale | Ada Vale (3 May 1901 – 9 June 1970) was a painter.
    Ada Vale died in 1970.
        Ada Vale | Ada Vale painted from 1921 until her death in 1970.
    A seat in Torve costs $320.
        Torve | A seat in Torve costs $320¹.
    Brask was founded in the 26th century BC.
        Brask | Brask was founded c. 2600 BC.
    The war of Vorn ended in 1644.
        Orn | Orn was a free town from the end of the war of Vorn in 1644 until 1702.
    Ada Vale died at the age of 69.
        Ada Vale | Ada Vale (3 May 1901 – 9 June 1970) was a painter.
    Ada Vale lived to be over 60.
        Ada Vale | Ada Vale (3 May 1901 – 9 June 1970) was a painter.
    The siege of Vorn lasted for less than three weeks.
        Siege of Vorn | The siege lasted from 3 May to 17 May 1644.
    The war of Vorn lasted for more than two years.
        War of Vorn | The war lasted from 1640 to 1644.
    Kelda raised nearly nine million euros.
        Kelda | Kelda raised €8.5 million.
    The lake is up to 40 metres deep.
        Lake Orn | The lake is up to 40 metres deep.
    The film has between 80 and 100 songs.
        Film | The film has 92 songs.
    Hall Senna holds at least 350 people.
        Hall Senna | Hall Senna holds 350 people.
    No fewer than 60 otters live on the Wenlow.
        Otters | Between 60 and 75 otters live on the Wenlow.
    The locomotive weighed more than 90 tonnes.
        Loco | The locomotive weighed 92 long tons.
    The oven reaches about 390 degrees Fahrenheit.
        Oven | The oven reaches 200 degrees Celsius.
    The forest covers more than 100 square kilometres.
        Forest | The forest covers 12,000 hectares.
    Unemployment in Selm fell to under four per cent in June.
        Selm | Unemployment in Selm fell to 3.9 per cent in June.
    There were more than 60 boats in Pagham harbour.
        Pagham harbour | There were 72 boats in Pagham harbour.
    The tower of Hod is 40 metres tall.
        Hod | The tower has a height of 131 feet.
    The film was released in the 1990s.
        Lantern (film) | Lantern is a film that was released on 4 June 1993.
    Lantern was released after 1990.
        Lantern (film) | The film was released in June 1993.
    Half a million people live in Selm.
        Selm | Selm has 500,000 inhabitants.
    Mount Ober is nearly 4,300 metres high.
        Mount Ober | Mount Ober is 4,212 metres high.
    Selm has between 3,000 and 4,000 inhabitants.
        Selm | Selm has 3,412 inhabitants.
    The well of Orn is at least 30 feet deep.
        Orn | The well of Orn is 12 metres deep.
    The statue weighs less than two tonnes.
        Statue | The statue weighs 1,850 kg.
    """
)

REFUTED = rows(
    """
    The road from Arl to Benn is 80 miles long.
        Arl | The road from Arl to Benn is 80 kilometres long.
    The bridge of Arl is more than 100 metres long.
        Arl | The bridge of Arl is 240 feet (73 m) long.
    The war of Vorn ended in 1702.
        Orn | Orn was a free town from the end of the war of Vorn in 1644 until 1702.
    Brask was founded in the 5th century BC.
        Brask | Brask was founded c. 2600 BC.
    Mount Ober is less than 4,000 m high.
        Mount Ober | At 4,212 metres, Mount Ober is the highest mountain of Ordavia.
    Fewer than 3,000 people live in Selm.
        Selm | It has 3,412 inhabitants.
    Brask was founded in 1890.
        Brask | Brask was founded in 1871 as a mill town.
    Brask was founded in the 18th century.
        Brask | It was founded in 1871.
    Brask was founded in the 1880s.
        Brask | The town was founded in May 1871.
    Ada Vale was born in 1911.
        Ada Vale | Ada Vale (3 May 1901 – 9 June 1970) was a painter.
    Ada Vale died before 1970.
        Ada Vale | Ada Maria Vale (3 May 1901 – 9 June 1970) was a painter.
    Ada Vale died at the age of 75.
        Ada Vale | Ada Vale (3 May 1901 – 9 June 1970) was a painter.
    Ada Vale lived to be over 80.
        Ada Vale | Ada Vale (1901–1970) was a painter.
    The siege of Vorn lasted more than a month.
        Siege of Vorn | The siege lasted from 3 May to 17 May 1644.
    The siege of Vorn lasted forty days.
        Siege of Vorn | The siege of Vorn lasted from 3 to 17 May 1644.
    The tax in Selm is 8 per cent.
        Selm | The tax in Selm is 12 per cent.
    Kelda raised more than nine million euros.
        Kelda | Kelda raised €8.5 million.
    Lake Orn is up to 30 metres deep.
        Lake Orn | Lake Orn is 40 metres deep.
    Hall Senna holds from 400 to 500 people.
        Hall Senna | Hall Senna holds 350 people.
    Hall Senna holds no more than 300 people.
        Hall Senna | Hall Senna holds 350 people.
    More than a hundred otters live on the Wenlow.
        Otters | Between 60 and 75 otters live on the Wenlow.
    The storm had a gust of 180 miles per hour.
        Storm | The storm had a gust of 180 kilometres an hour.
    The oven reaches 200 degrees Fahrenheit.
        Oven | The oven reaches 200 degrees Celsius.
    The forest covers 50 square miles.
        Forest | The forest covers 12,000 hectares.
    The Selm school has more than 500 pupils.
        Selm school | It has 412 pupils.
    The tower of Hod was built in 1911.
        Hod | The tower was built in 1340.
    Lake Orn has an area of 40 square kilometres.
        Lake Orn | Lake Orn covers 90 km2.
    Lantern was released in 1995.
        Lantern (film) | Lantern is a film that was released on 4 June 1993.
    Almost two million people live in Selm.
        Selm | Selm has about 400,000 inhabitants.
    The train reaches 300 miles per hour.
        Train | The train reaches 300 km/h.
    The statue weighs over two tonnes.
        Statue | The statue weighs 1,850 kilograms.
    """
)

# Something else is measured, or it is not sure.
UNDECIDED = rows(
    """
    Ada Vale died in 1971.
        Orn | Orn was founded in 1970 after the death of Ada Vale.
    Brask was founded in the 25th century BC.
        Brask | Brask was founded c. 2600 BC.
    Lake Selm is 30 metres deep.
        Lake Selm | A leaflet says that it is 30 metres deep.
    Ten per cent of the mail for Selm comes by ship.
        Selm | Ninety per cent of the mail for Selm comes by rail and the rest by ship.
    Selm was founded in 1871.
        Selm | The school of Selm was founded in 1871.
    Selm was founded in 1890.
        Selm | The first mayor of Selm was born in 1871, and Selm was no town then.
    The bridge of Arl is 240 feet wide.
        Arl | The bridge of Arl is 240 feet long.
    The wall of Torve is 2 kilometres long.
        Torve | The wall of Torve is 2,040 metres long.
    Mount Ober is 4,212 metres high.
        Mount Ober | It was thought to have a height of 4,212 m, but this is not so.
    Mount Ober is 4,212 metres high.
        Mount Ober | Its northern neighbour has a height of 3,900 metres.
    Selm had 3,412 inhabitants in 1950.
        Selm | Selm had 3,412 inhabitants in 2011.
    Ada Vale died at the age of 69.
        Ada Vale | Ada Vale (1901–1970) was a painter.
    The tax in Selm is 8 percentage points.
        Selm | The tax in Selm is 12 per cent.
    Turnout in Selm rose by 8 per cent.
        Selm | Turnout in Selm rose to 48 per cent.
    Turnout in Selm rose to 8 per cent.
        Selm | Turnout in Selm rose by eight percentage points.
    Kelda raised nine million euros.
        Kelda | Kelda raised nine million dollars.
    70 otters live on the Wenlow.
        Otters | Between 60 and 75 otters live on the Wenlow.
    The tank holds 2,000 gallons.
        Tank | The tank holds 9,000 litres.
    Turnout in Selm rose to 48 per cent.
        Selm | Turnout in Selm rose from 40 per cent to 48 per cent.
    The Selm school has 40 teachers.
        Selm school | The Selm school has 40 pupils.
    The Selm school has more than 500 pupils.
        Selm school | It has 412 pupils in the lower forms and 300 in the upper.
    The Selm school will have more than 500 pupils.
        Selm school | It has 412 pupils.
    The Selm school has more than 500 pupils.
        Selm school | It could have 412 pupils.
    The Selm school has more than 500 pupils.
        Selm school | It does not have 412 pupils.
    The Selm school has more than 500 pupils.
        Orn school | It has 412 pupils.
    Hod opened its shop in 1911.
        Hod | Bell opened its shop in 1920.
    The tower of Hod was built in 1911.
        Hod | The nave was built in 1340.
    Lake Orn is 40 kilometres long.
        Lake Orn | Lake Orn lies 90 km north of Selm.
    Lake Orn is 40 kilometres from Selm.
        Lake Orn | Lake Orn is 90 km long.
    Exports fell by 8 per cent in 2021.
        Exports | Exports fell by 8 per cent in 2020.
    About 400,000 people live in Selm.
        Selm | The region around Selm has about 900,000 inhabitants.
    Brask was founded in 1871.
        Brask | Legend has it that Brask was founded in 1871.
    Brask was founded in 1871.
        Brask | Brask was reportedly destroyed, and Orn was founded in 1871.
    Brask was not founded in 1871.
        Brask | Brask was founded in 1890.
    The film earned 40 million dollars.
        Film | The film earned 40 million US dollars.
    Several hundred people live in Selm.
        Selm | Selm has 412 inhabitants.
    Selm has two schools.
        Selm | Selm has 40 teachers and a school of three storeys.
    Ada Vale was born in 1901.
        Ada Vale | Her brother Jon was born in 1899.
    Germany has 16 states.
        German Confederation | The German Confederation was an association of 39 states.
    Selm has 16 schools.
        Selm Valley League | The Selm Valley League has 39 schools.
    """
)


def ruled(parser: EnglishParser, claim: str, title: str, sentence: str) -> Ruling | None:
    return stated(parser.parse(claim), [ParsedSentence(title, parser.parse(sentence))])


@pytest.mark.parametrize(("claim", "title", "sentence"), SUPPORTED)
def test_a_quantity_that_fits_supports_the_claim(
    parser: EnglishParser, claim: str, title: str, sentence: str
) -> None:
    decided = ruled(parser, claim, title, sentence)
    assert decided is not None
    assert decided.label == SUPPORTS


@pytest.mark.parametrize(("claim", "title", "sentence"), REFUTED)
def test_a_quantity_that_does_not_fit_refutes_the_claim(
    parser: EnglishParser, claim: str, title: str, sentence: str
) -> None:
    decided = ruled(parser, claim, title, sentence)
    assert decided is not None
    assert decided.label == REFUTES


@pytest.mark.parametrize(("claim", "title", "sentence"), UNDECIDED)
def test_arithmetic_says_nothing_where_anything_is_unsure(
    parser: EnglishParser, claim: str, title: str, sentence: str
) -> None:
    assert ruled(parser, claim, title, sentence) is None


@pytest.mark.parametrize(
    ("claim", "title", "sentence", "because"),
    [
        (*REFUTED[0], "80 kilometres is 49.71 mi, which does not fit “80 miles”."),
        (
            "Ada Vale died at the age of 75.",
            "Ada Vale",
            "Ada Vale (3 May 1901 \u2013 9 June 1970) was a painter.",
            "3 May 1901 \u2013 9 June 1970 is 69 years, which does not fit “75”.",
        ),
        (
            "Brask was founded in the 19th century.",
            "Brask",
            "It was founded in 1871.",
            "1871 fits “in the 19th century”.",
        ),
        (
            "Selm has more than 3,000 inhabitants.",
            "Selm",
            "It has about 2,000 inhabitants.",
            "About 2,000 does not fit “more than 3,000”.",
        ),
    ],
)
def test_a_ruling_says_the_arithmetic_in_words(
    parser: EnglishParser, claim: str, title: str, sentence: str, because: str
) -> None:
    decided = ruled(parser, claim, title, sentence)
    assert decided is not None
    assert decided.because == because


def test_of_two_sentences_with_different_values_neither_decides(parser: EnglishParser) -> None:
    sentences = ["Selm has 3,412 inhabitants.", "Selm has 2,900 inhabitants."]
    passages = [ParsedSentence("Selm", parser.parse(sentence)) for sentence in sentences]
    assert stated(parser.parse("Selm has more than 3,000 inhabitants."), passages) is None


def test_every_quantity_of_the_claim_must_be_matched(parser: EnglishParser) -> None:
    claim = "The school has more than 400 pupils and 30 teachers."
    both, one = "The school has 412 pupils and 30 teachers.", "The school has 412 pupils."
    decided = ruled(parser, claim, "School", both)
    assert decided is not None
    assert decided.label == SUPPORTS
    assert ruled(parser, claim, "School", one) is None
