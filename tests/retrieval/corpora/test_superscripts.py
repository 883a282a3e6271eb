"""How text above the line is read."""

from __future__ import annotations

import re

import pytest

from retrieval.corpora.superscripts import exponent, lowered, marked, unmarked


def _read(line: str) -> str:
    return unmarked(re.sub(r"\{(.*?)\}", lambda found: marked(found[1]), line))


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("It holds 3 × 10{6} litres", "It holds 3 × 10⁶ litres"),  # noqa: RUF001
        ("about 10{12} cells, 10{−9} m", "about 10¹² cells, 10⁻⁹ m"),  # noqa: RUF001
        ("12 km{2}, 4 m{3}, 9.8 m/s{2}, 5 s{-1}", "12 km², 4 m³, 9.8 m/s², 5 s⁻¹"),
        ("E = mc{2} and x{2} + y{2} = 5{2}", "E = mc² and x² + y² = 5²"),
        ("(x + 1){3} is 2{0.5}", "(x + 1)³ is 2^0.5"),
        ("Fe{2+}, Na{+} and {14}C", "Fe²⁺, Na⁺ and ¹⁴C"),
        ("15 kpc{3}", "15 kpc³"),
        ("10 {6} ants", "10 ⁶ ants"),
        ("e{x} and 2{n}", "e^x and 2ⁿ"),
    ],
)
def test_an_exponent_stays_above_the_line(line: str, read: str) -> None:
    assert _read(line) == read


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("a bonus of $320{1} was paid", "a bonus of $320 was paid"),
        ("in 2019{2}, 45%{3} and 1,204{4}", "in 2019, 45% and 1,204"),
        ("4 percent.{3} The rest", "4 percent. The rest"),
        ("4 percent.{3}The rest", "4 percent. The rest"),
        ("4 percent{1,2} of it, men{3–5} and boys{(6)}", "4 percent of it, men and boys"),  # noqa: RUF001
        ("workers{a}, owners{*} and heirs{†}", "workers, owners and heirs"),
        ("percent{1 }in May", "percent in May"),
        ("fishers.{[1]}{[note 2]} It", "fishers. It"),
        ("{1} The figure is old.", " The figure is old."),
        ("Ann Bell's{7} mill (see below){8}", "Ann Bell's mill (see below)"),
    ],
)
def test_the_mark_of_a_note_goes(line: str, read: str) -> None:
    assert _read(line) == read


@pytest.mark.parametrize(
    ("line", "read"),
    [
        (
            "the 19{th} and the n{th}, M{c}Lee, M{me} Roy, N{o} 5",
            "the 19th and the nth, McLee, Mme Roy, No 5",
        ),
        ("Lamp{TM}", "Lamp™"),
        ("6{1}/2 m and {3}\N{FRACTION SLASH}4", "6 1/2 m and 3\N{FRACTION SLASH}4"),
        ("It is 20{o}C", "It is 20°C"),
        ("the lamp{new model}", "the lamp new model"),
        ("for $5{99} each", "for $5⁹⁹ each"),
    ],
)
def test_other_raised_text_is_read_with_its_word_or_apart(line: str, read: str) -> None:
    assert _read(line) == read


@pytest.mark.parametrize(
    ("line", "read"),
    [
        (f"the binary 101{lowered('2')} is five", "the binary 101₂ is five"),
        (f"log{lowered('10')}5 and x{lowered('1')}2", "log₁₀5 and x₁2"),
        (f"CO{lowered('2')}, H{lowered('2')}O and C{lowered('12')}H", "CO2, H2O and C12H"),
        (f"SO{lowered('4')}{marked('2-')}", "SO4²⁻"),
        (f"2{lowered('(3r+2)')} and 10{lowered('2n')}", "2(3r+2) and 10 2n"),
        (f"of {marked('14')}{lowered('6')}C", "of ¹⁴₆C"),
        (f"{marked('1')}/{lowered('2')} mile, 12²/₃ miles", "1/2 mile, 12 2/₃ miles"),
    ],
)
def test_a_number_below_the_line_is_not_part_of_the_one_beside_it(line: str, read: str) -> None:
    assert unmarked(line) == read


@pytest.mark.parametrize(
    ("line", "read"),
    [
        (f"10{marked('6')}{marked('[4]')} cows", "10⁶ cows"),
        (f"10{marked('[4]')}{marked('6')} cows", "10⁶ cows"),
        (f"500 m{marked('2')}{marked('3')} of land", "500 m² of land"),
    ],
)
def test_the_mark_of_a_note_beside_an_exponent_goes(line: str, read: str) -> None:
    assert unmarked(line) == read


def test_a_word_that_letters_with_a_stroke_strike_out_goes() -> None:
    assert unmarked("killed 12\u0336 15 people, or 1\u03366\u0336.") == "killed 15 people, or ."


def test_runs_that_touch_are_one_raised_text() -> None:
    assert unmarked(f"10{marked('-')}{marked('6')} m") == "10⁻⁶ m"


def test_raised_text_in_raised_text_is_read_from_within() -> None:
    assert unmarked(f"10{marked('10' + marked('100'))}") == "10^(10¹⁰⁰)"


def test_typed_raised_characters_are_decided_as_the_others() -> None:
    assert unmarked("$320¹ for 5 km² of 10⁶.² The end") == "$320 for 5 km² of 10⁶. The end"


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("It is old.[1][2] It", "It is old. It"),
        ("4 percent.3 The rest", "4 percent. The rest"),
        ("see fig.3 The", "see fig.3 The"),
        ("an array a[1] of 2.5 Volt", "an array a[1] of 2.5 Volt"),
    ],
)
def test_the_mark_of_a_note_on_the_line_goes_after_the_mark_of_a_sentence(
    line: str, read: str
) -> None:
    assert unmarked(line) == read


def test_exponents_of_formulas_have_plain_characters() -> None:
    assert [exponent(text) for text in ("2", "n", "k", "a/b")] == ["²", "ⁿ", "^k", "^(a/b)"]
