"""What follows from the figures of a table, and which rows are read with it."""

import pytest

from retrieval.corpora.corpus import Page
from retrieval.quantities.rows import tables
from retrieval.quantities.tables import LONGEST, results
from retrieval.types import RankedDocument
from tests.retrieval.index.in_memory_store import InMemoryStore
from tests.support.evidence import document, evidence, ranked
from tests.support.stages import after
from tests.support.states import state_of

BUDGET = (
    "Item: Schools, 2023: 4,000 thousand euros, 2024: 4,500 thousand euros.",
    "Item: Roads, 2023: 2,500 thousand euros, 2024: 2,000 thousand euros.",
    "Item: Library, 2023: 500 thousand euros, 2024: 500 thousand euros.",
    "Item: Total, 2023: 7,000 thousand euros, 2024: 7,000 thousand euros.",
)
MUSEUMS = (
    "Museum: Glass Museum, Town: Arle, Visitors: 900, Opened: 1950.",
    "Museum: Toy Museum, Town: Brent, Visitors: 300, Opened: 1921.",
    "Museum: Town Museum, Town: Brent, Visitors: 600, Opened: 1988.",
)


def said(claim: str, *rows: str) -> str:
    found = [results(claim, table) for table in tables(document("Table", *rows).sentences)]
    return " ".join(one.text for one in found if one is not None)


def test_the_figures_of_a_row_in_two_years_have_risen_or_fallen() -> None:
    text = said("Wernsee spent less on roads in 2024 than in 2023.", *BUDGET)
    assert text.startswith(
        "Roads, 2023: 2,500 thousand euros, 2024: 2,000 thousand euros. Roads fell from 2,500"
        " thousand euros (2023) to 2,000 thousand euros (2024), by 500 thousand euros or 20 %."
    )
    same = said("Did the library cost the same in 2023 and 2024?", *BUDGET)
    assert "Library stayed the same from 500 thousand euros (2023)" in same


def test_an_earlier_year_comes_first_wherever_its_column_stands() -> None:
    rows = ("School: Oak, Passed 2020: 80 %, Passed 2010: 84 %.",) * 2
    text = said("Oak did worse in 2020 than in 2010.", rows[0], rows[1].replace("Oak", "Elm"))
    assert "Oak fell from 84 % (Passed 2010) to 80 % (Passed 2020), by 4 percentage points." in text


def test_two_rows_are_compared_and_added() -> None:
    text = said("Schools cost more than roads in 2024.", *BUDGET)
    assert (
        "2024: Schools (4,500 thousand euros) is more (by 2,500 thousand euros, 2.25 times)" in text
    )
    assert "2024: Schools and Roads together 6,500 thousand euros." in text


def test_a_column_has_its_order_its_sum_and_the_share_of_a_row() -> None:
    text = said("Schools took over half of the money in 2024.", *BUDGET)
    assert (
        "2024: most Schools 4,500 thousand euros, then Roads 2,000 thousand euros, least Library"
        " 500 thousand euros; all 3 together 7,000 thousand euros; Schools is 64.3 % of that,"
        " number 1."
    ) in text


def test_a_sum_that_a_total_contradicts_is_not_said() -> None:
    wrong = BUDGET[3].replace("2024: 7,000", "2024: 9,000")
    assert "together" not in said("Roads cost 2 million in 2024.", *BUDGET[:3], wrong)


def test_without_a_named_row_all_rows_are_counted_that_rise_and_fall() -> None:
    text = said("In 2024 most items cost more than in 2023.", *BUDGET)
    assert "Total stayed the same from 7,000 thousand euros (2023)" in text
    assert (
        "From 2023 to 2024: 1 of 3 rose (Schools); 1 of 3 fell (Roads); 1 of 3 did not change"
        in text
    )


def test_rows_are_named_by_another_cell_where_no_name_is_in_the_claim() -> None:
    text = said("The museums of Brent had 900 visitors together.", *MUSEUMS)
    assert "Visitors: Toy Museum and Town Museum together 900." in text


def test_years_are_earlier_or_later_and_never_added() -> None:
    text = said("The Toy Museum opened before the Glass Museum.", *MUSEUMS)
    assert "Opened: Glass Museum (1950) is later than Toy Museum (1921)." in text
    assert "together" not in text


def test_rows_of_years_are_named_by_them() -> None:
    rows = ("Year: 1710, weddings: 9, burials: 40.", "Year: 1711, weddings: 12, burials: 30.")
    text = said("There were more weddings in 1711 than in 1710.", *rows)
    assert "weddings: 1710 (9) is less (by 3, 0.75 times) than 1711 (12)." in text


def test_costs_below_zero_go_from_one_to_the_other() -> None:
    rows = ("Rent, 2021: -800 euros, 2022: -1,000 euros.", "Sales, 2021: 10 euros, 2022: 9 euros.")
    text = said("The rent rose from 2021 to 2022.", *rows)
    assert "Rent went from -800 euros (2021) to -1,000 euros (2022)." in text


@pytest.mark.parametrize(
    "rows",
    [
        ("The mayor said: 12 people came.", "Nothing else: happened."),
        ("Item: Roads, 2023: 2,500.",),
        ("Item: Roads, State: open.", "Item: Bridge, State: closed."),
    ],
)
def test_sentences_without_two_rows_of_figures_are_no_table(rows: tuple[str, ...]) -> None:
    assert tables(document("Text", *rows).sentences) == []


def test_a_claim_about_something_else_gets_no_results() -> None:
    assert said("The mayor of Wernsee resigned.", *BUDGET) == ""


def test_results_of_many_long_rows_stay_short() -> None:
    rows = [
        f"Item: {'long name ' * 8}{n}, 2023: {n} euros, 2024: {n + 1} euros." for n in range(50)
    ]
    assert 0 < len(said("A long name cost more in 2024 than in 2023.", *rows)) <= LONGEST


def test_a_named_row_is_read_with_the_results_and_of_the_others_only_the_best_stays() -> None:
    opened = ranked("Budget", *BUDGET)
    found = tuple(evidence("Budget", BUDGET[n], sentence_id=n) for n in (0, 2, 1))
    other = evidence("Minutes", "The council met.", 0.3)
    documents = (opened, ranked("Minutes", "The council met."))
    state = state_of(
        "Roads cost less in 2024 than in 2023.", evidence=(*found, other), documents=documents
    )
    step = after("tables", state)
    assert [item.sentence.text for item in step.state.evidence] == [
        BUDGET[1],
        BUDGET[0],
        "The council met.",
    ]
    assert "Roads fell from" in step.state.evidence[0].as_read[1]
    assert step.state.evidence[1:] == (found[0], other)
    assert step.message == "Figures of 1 table compared"


def test_a_row_that_no_claim_names_is_read_as_it_stands() -> None:
    found = (evidence("Budget", BUDGET[0]),)
    state = state_of("It rained.", evidence=found, documents=(ranked("Budget", *BUDGET),))
    step = after("tables", state)
    assert (step.state.evidence, step.message) == (found, "")


def test_a_table_goes_on_in_the_next_passage_of_its_section() -> None:
    pages = [
        Page(f"Budget#{n}", "Budget", None, " ".join(BUDGET[2 * n - 2 : 2 * n])) for n in (1, 2)
    ]
    store = InMemoryStore(pages, None)
    first = store.documents(["Budget#1"])[0]
    (row,) = (one for one in first.sentences if "Roads" in one.text)
    item = evidence("Budget#1", row.text, sentence_id=row.sentence_id)
    state = state_of(
        "Roads took a quarter of the money in 2024.",
        evidence=(item,),
        documents=(RankedDocument(first, 1.0, ("title",), 1),),
    )
    (read,) = after("tables", state, store).state.evidence
    assert read.computed is not None
    assert (
        "all 3 together 7,000 thousand euros; Roads is 28.6 % of that, number 2." in read.computed
    )


def test_of_a_table_that_is_not_known_whole_only_the_named_rows_are_compared() -> None:
    (table,) = tables(document("Table", *BUDGET).sentences)
    found = results("Schools took over half of the money in 2024.", table, whole=False)
    assert found is not None
    assert "Schools rose from 4,000 thousand euros" in found.text
    assert "together" not in found.text


def test_a_number_of_forty_digits_is_no_figure_and_breaks_nothing() -> None:
    rows = (f"Item: Sand, Grains: {'9' * 40}, Boxes: 2.", "Item: Salt, Grains: 7, Boxes: 3.")
    assert "Boxes: Sand (2) is less (by 1, 0.67 times) than Salt (3)." in said(
        "Of sand there are more boxes than of salt.", *rows
    )


def test_where_all_rows_have_as_much_none_has_the_most() -> None:
    assert said("There are 4 boxes.", "Item: Sand, Boxes: 2.", "Item: Salt, Boxes: 2.") == ""


# What is not sure is not said: each table would make a wrong statement true.
UNSURE = [
    pytest.param(
        "Acme grew from 2022 to 2023.",
        (
            "Firm: Acme, 2022: $5 million, 2023: $6 million.",
            "Firm: Beta, 2022: $900 thousand, 2023: $2 million.",
        ),
        "Acme rose from $5 million (2022) to $6 million (2023), by $1 million or 20 %.",
        "15900",
        id="factors count",
    ),
    pytest.param(
        "Bread rose from January to March.",
        (
            "Product: Bread, Mar: 300, Feb: 250, Jan: 200.",
            "Product: Cake, Mar: 30, Feb: 25, Jan: 20.",
        ),
        "Bread rose from 200 (Jan) to 300 (Mar), by 100 or 50 %.",
        "fell",
        id="months have an order",
    ),
    pytest.param(
        "North grew from Q1 to Q4 2023.",
        ("Region: North, Q4 2023: 50, Q1 2023: 30.", "Region: South, Q4 2023: 20, Q1 2023: 10."),
        "North rose from 30 (Q1 2023) to 50 (Q4 2023), by 20 or 66.7 %.",
        "fell",
        id="quarters have an order",
    ),
    pytest.param(
        "Hill had the most in 2023.",
        ("Station: Hill, 2023: 140.", "Station: Moor, 2023: n/a.", "Station: Dale, 2023: 600."),
        "Hill, 2023: 140.",
        "most",
        id="a figure is missing",
    ),
    pytest.param(
        "Wind gave half of the power.",
        (
            "Source: Renewables, Power: 350.",
            "Source: Wind, Power: 240.",
            "Source: Solar, Power: 110.",
        ),
        "most Renewables 350",
        "together",
        id="a row contains those below it",
    ),
    pytest.param(
        "Roads were more than half of the total.",
        ("Item: Roads, Cost: 500.", "Item: Schools, Cost: 400.", "Item: Total, Cost: 900."),
        "Roads is 55.6 % of that",
        "1,400",
        id="a total is no part",
    ),
    pytest.param(
        "Koln sold less in 2023 than in 2022.",
        ("City: Koln, 2022: 980, 2023: 1.840.", "City: Bonn, 2022: 700, 2023: 900."),
        "Koln, 2022: 980.",
        "fell",
        id="a dot may stand between thousands",
    ),
    pytest.param(
        "Roads cost more in 2023 than in 2022.",
        (
            "Item: Roads, 2022: 100, 2022: 120, 2023: 110.",
            "Item: Schools, 2022: 1, 2022: 2, 2023: 3.",
        ),
        "Roads, 2023: 110.",
        "fell",
        id="two columns have one name",
    ),
    pytest.param(
        "Ann and Bo are 90 years old together.",
        ("Name: Ann, Age: 40.", "Name: Bo, Age: 50."),
        "Age: Ann (40) is less than Bo (50).",
        "together",
        id="ages are not added",
    ),
    pytest.param(
        "The green bus leaves last.",
        ("Bus: Green, Leaves: 2 pm.", "Bus: Blue, Leaves: 11 am."),
        "",
        "most",
        id="times of day are no amounts",
    ),
    pytest.param(
        "Income fell in 2023.",
        (
            "Income, Fees, 2022: 5, 2023: 6.",
            "Income, Grants, 2022: 1, 2023: 3.",
            "Spending, Staff, 2022: 4, 2023: 1.",
        ),
        "",
        "together",
        id="sections are not added",
    ),
]


@pytest.mark.parametrize(("claim", "rows", "right", "wrong"), UNSURE)
def test_only_what_is_sure_is_said(
    claim: str, rows: tuple[str, ...], right: str, wrong: str
) -> None:
    text = said(claim, *rows)
    assert right in text
    assert wrong not in text


def test_all_rows_that_share_a_named_cell_are_added() -> None:
    rows = [f"Museum: House {n}, Town: Brent, Visitors: {n}00." for n in (3, 6, 1, 2, 5)]
    text = said(
        "The museums of Brent had 1,700 visitors.", *rows, "Museum: Mill, Town: Arle, Visitors: 7."
    )
    assert "Visitors: 5 rows together 1,700." in text


def test_a_very_long_table_is_known_in_part() -> None:
    pages = [Page(f"Budget#{n}", "Budget", None, BUDGET[n % 3]) for n in range(1, 50)]
    store = InMemoryStore(pages, None)
    found = store.documents(["Budget#25"])[0]
    item = evidence("Budget#25", found.sentences[0].text)
    state = state_of(
        "Roads fell in 2024.",
        evidence=(item,),
        documents=(RankedDocument(found, 1.0, ("title",), 1),),
    )
    (read,) = after("tables", state, store).state.evidence
    assert read.computed is None or "most" not in read.computed
