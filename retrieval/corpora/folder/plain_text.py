"""Reads files of text: .txt, .md, .csv and .tsv, .srt and .vtt, .ics.

In plain text a blank line ends a paragraph. Within one, a line ends it if it had room for the next
word and grammar does not say that it goes on, and so does each item, speaker or time. Words that
are cut at the ends of lines are made whole. Numbers of pages and of lines are no part of the text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import chain, groupby, pairwise, takewhile, zip_longest
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore

from retrieval.corpora.boxes import box
from retrieval.corpora.cleaning import clean
from retrieval.corpora.corpus import EMPTY_BOX
from retrieval.corpora.decoding import decoded, is_binary
from retrieval.corpora.folder.document import FileText, Unread, Unreadable
from retrieval.corpora.folder.running_text import goes_on, with_line, words_in
from retrieval.corpora.folder.tables import Cell, is_period, row_sentences, tables_in
from retrieval.corpora.folder.tree import shown
from retrieval.corpora.passages import (
    Block,
    ends_sentence,
    may_be_heading,
    may_be_title,
    without_edit,
)
from retrieval.corpora.sections import sections, series_of
from retrieval.corpora.superscripts import unmarked
from retrieval.corpora.table_files import NO_SEPARATOR, separated_rows, separator_of
from retrieval.errors import Problem

_NEWLINE = re.compile(r"\r\n?|[\f\v\x85\u2028\u2029]")
_PAGE = re.compile(r"\s*(?:[-–—]\s*\d{1,4}\s*[-–—]|[Pp]age \d+(?: of \d+)?)(?:\s{3,}\S.*)?\s*")  # noqa: RUF001
_NUMBERED = re.compile(r"\s{0,8}(\d{1,4})(?:\s{2,}|\t|$)")
_LEAST_NUMBERED = 8  # lines
# What begins an item, or what somebody says at some time.
_BEGINS = re.compile(
    r"\s*(?:[•▪◦‣●■*+–-]\s|\(?(?:\d{1,3}|[a-z])[.)]\s|[\[(]?\d{1,2}:\d\d(?::\d\d)?|\[[xX ]?\]\s"  # noqa: RUF001
    r"|[☐☑☒]|(?:[A-Z][A-Z.' -]+\d*|Q|A)[:.]\s)"
)
_LABELLED = re.compile(r"[A-Z][^.!?:]{0,40}:\s")
# Boxes that words stand beside, which are no columns: "Rent?   [ ] yes   [x] no", "Rent: no ☒".
_SIGN = r"(?:[☐☑☒]|\[[xX ]\](?!\S))"
_BOX = re.compile(rf"{_SIGN}|\([xXo ]\)(?!\S)")
_CHOICE = re.compile(
    rf"(?:^\s*|\s\s)(?:{_SIGN}|\( \)) ?(?!{_SIGN})\S|[^\s\]☐☑☒] (?:\[ \]|[☐☑☒])(?!\S)"
)
# "12:07  ANN LEE: It is red.", but no row of a timetable
_SPEECH = re.compile(
    r"\s*[\[(]?\d{1,2}:\d\d(?::\d\d)?[\])]?\s+[A-Z][\w.' -]{0,30}:\s(?!.*\S\s{2,}\S)"
)
# What no item of a list begins with.
_JOINS = re.compile(r"\s*(?:and|or|but|because|that|which|who|to|for|with|by|as|than)\b")
_CODE = re.compile(r"\S+[\d\W]*")  # and further numbers after it
# Dots that lead to a value, but not those of an empty field.
_LEADERS = re.compile(r"(?<=[^\s.:])\s*(?:\.{5,}|(?: \.){4,}|(?<=\s)\.{4})(?!\.)\s*(?=\S)")
_GAP = re.compile(r"(?<=\S)(?:\s{2,}|\t)(?=\S)")
_BORDER = re.compile(r"[\s|+:=_─━│┌┐└┘├┤┬┴┼╞╪╡-]*[-=_─━═]{3}[\s|+:=_─━═│┌┐└┘├┤┬┴┼╞╪╡-]*")
_BAR = re.compile(r"[|│]")
_CELLS = re.compile(r"(?<=\S)(?<![.!?])(?:\s{2,}|\t)(?=\S)")
_NARROWEST, _WIDEST = 40, 1000  # characters of a line
_FULL = 0.85  # the part of its width from which on a line had no room
_WHOLE = 40  # characters of a paragraph that goes on in the next
_FEW, _MOST_ROOMY = 3, 0.6  # lines of a list, and the part of them that has room
# Of Markdown.
_PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_PART = "\u2029"  # stands where lines are parted; no line has it any more
_SHORT = re.compile(r"\b[A-Za-z]{1,3}\.$")  # maybe "Dr."
_EMPHASIS = re.compile(r"[*_`~\\]+")
# What stands before a note, and its mark.
_NOTE = re.compile(r"^\[\^[^\]\s]{1,40}\]:|\[\^[^\]\s]{1,40}\]", re.M)
_PICTURE = re.compile(r"<img [^>]*?alt=\"([^\"]*)\"[^>]*>")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n[\w-]+:.*?^(?:---|\.\.\.)[ \t]*$", re.M | re.S)
# Of tables.
_LOOKED_AT = 50  # lines
_MOST_TITLES = 5  # lines above a table
_MOST_NAMED = 20  # rows that cannot be read
_WHOLE_PART = r"(?:[€$£] ?)?(?:[-+−] ?)?(?:\d+|\d{1,3}(?:[. ]\d{3})+)"  # noqa: RUF001
_COMMA = re.compile(rf"{_WHOLE_PART},\d{{1,2}}(?: ?[%€$£])?")
_OPEN = rf"{_WHOLE_PART}(?:,\d+)?(?: ?[%€$£])?"
_COMMA_OR_NONE = re.compile(rf"{_OPEN}|\({_OPEN}\)")
_POINT = re.compile(r"(?:[€$£] ?)?[-+−]?[\d, ]*\d\.\d{1,2}(?: ?[%€$£])?")  # noqa: RUF001
_SPACED = re.compile(r" [^\W\d]")  # a cell that was a part of a sentence
_DECIMAL = re.compile(r"[-+−]?\d*\.\d+")  # noqa: RUF001
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+")
_REMARK = re.compile(r"\s*#+\s+(?=[^\W\d_])")
_ENGLISH = str.maketrans(",.", ".,")
# Of what is said at which time, and planned for which.
_TIMES = re.compile(r"(?:(\d+):)?(\d\d):(\d\d)[.,]\d{3}\s+-->")
_VOICE = re.compile(r"<v(?:\.[^ >]*)? ([^>]+)>")
_SPEAKER = re.compile(r"(?:>>|[-–])?\s*(?P<name>[A-Z][\w.' -]{0,40}):\s")  # noqa: RUF001
_TAG = re.compile(r"<[^>]*>|\{\\[^}]*\}")
_FOLDED = re.compile(r"\n[ \t]")
_ESCAPED = re.compile(r"\\([nN,;\\])")
_NAMED = {"DTSTART": "Begins", "DTEND": "Ends", "LOCATION": "Place", "ORGANIZER": "Organiser"} | {
    "STATUS": "Status",
    "DESCRIPTION": "Description",
}
_DAY = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d\dZ?)?")
_LONGEST = 1000  # characters of cues that are joined


def read(path: Path) -> FileText:
    """Return the document.

    The title of a plain text is its first paragraph, if that looks like a heading; that of Markdown
    is its first heading. A table has a sentence for each row, with the names of its columns; what
    is said at which time has a paragraph for each speaker's sentences, and a plan one for each
    event.
    """
    content, suffix = path.read_bytes(), path.suffix.lower()
    if is_binary(content):
        why = "the file is not a text in UTF-8 or another common encoding."
        raise Unreadable(why, "Save it as a text file in UTF-8.")
    text = _NEWLINE.sub("\n", decoded(content))
    if suffix in (".md", ".markdown"):
        text = _NOTE.sub(lambda mark: "" if mark[0][-1:] == ":" else "<sup>[]</sup>", text)
        page = _PARSER.render(_FRONT_MATTER.sub("", text)).replace(_PART, "<br><br>")
        page = _PICTURE.sub(r"\1", page)
        return shown(f"<div>{page}</div>").document("")
    if suffix in (".csv", ".tsv"):
        return _rows_of_file(text, "\t" if suffix == ".tsv" else None)
    if suffix in (".srt", ".vtt", ".ics"):
        lines = list(_events(_FOLDED.sub("", text)) if suffix == ".ics" else _said(text))
        if not lines:
            raise Unreadable("the file has no text.", "Give it the suffix of its format.")
        return FileText("", list(map(Block, lines)))
    lines = list(lines_of(text))
    if not lines[1:] or not may_be_heading(lines[0]):
        titled = bool(lines[1:]) and may_be_title(lines[0])
        # A title with a colon may say something: "Price of a mill: 7 crowns".
        rest = lines[titled and ":" not in lines[0] :]
        return FileText(lines[0] if titled else "", sections(rest))
    head = list(takewhile(bool, lines[1:])) if "" in lines else []
    head = [] if any(ends_sentence(line) or _BEGINS.match(line) for line in head) else head
    below = [*map(Block, head), *sections(lines[1 + len(head) :])]
    return FileText(without_edit(lines[0]), below)


def lines_of(text: str) -> Iterator[str]:
    """Yield the paragraphs, items and rows of tables of a text, and "" for blank lines.

    An item that is indented begins with blanks.
    """
    lines = _without_numbers([line for line in text.split("\n") if not _PAGE.fullmatch(line)])
    words = words_in(lines)
    series = _series_in(lines)
    is_head = True  # the lines above the first blank one, if none ends a sentence
    before = ""
    for filled, group in groupby(_hung(lines, words), key=lambda line: bool(line.strip())):
        block = list(group)
        is_head = is_head and not any(map(ends_sentence, block))
        for number, (is_table, some) in enumerate(_stretches(block) if filled else ()):
            if not is_table and all(map(_BORDER.fullmatch, some)):  # below a heading
                continue
            cells = ([clean(unmarked(cell)) for cell in row] for row in _table(some))
            found = list(
                row_sentences(list(cells))
                if is_table
                else _paragraphs(some, words, series, is_head)
            )
            may_go_on = _BOX.search(some[-1]) if is_table else len(before) >= _WHOLE
            if may_go_on and goes_on(before, found[0]) and not _BEGINS.match(found[0]):
                found[0] = with_line(before, found[0], words)
            elif before:
                yield from [before] if number else [before, ""]
            *whole, before = found
            yield from whole
        is_head = is_head and not filled
    if before:
        yield before


def _series_in(lines: Iterable[str]) -> set[str]:
    """Return the series of which several lines are: "1.1 Rent", "1.2 Time"."""
    counted = Counter(series_of(line.lstrip()) for line in lines)
    return {one for one, count in counted.items() if count > 1 and one.strip("0")}


def _without_numbers(lines: Sequence[str]) -> list[str]:
    """Return lines without the numbers of the lines of a transcript: 1, 2, 3, on each page."""
    numbers = [int(found[1]) for found in map(_NUMBERED.match, lines) if found]
    steps = sum(b == a + 1 for a, b in pairwise(numbers))
    filled = sum(bool(line.strip()) for line in lines)
    if len(numbers) < max(_LEAST_NUMBERED, 0.8 * filled) or steps < 0.8 * len(numbers):
        return list(lines)
    return [_NUMBERED.sub("", line, count=1) for line in lines]


def _hung(lines: Sequence[str], words: set[str]) -> Iterator[str]:
    """Yield lines, each with those below it in which its last cell goes on."""
    held = ""
    for line, after in pairwise([*lines, ""]):
        *_, gap = [None, *_GAP.finditer(held)]
        indent, is_choice = _indent(line), _CHOICE.search(line)
        is_below = gap and gap.end() == indent and not is_choice and not _BEGINS.match(line)
        had_room = len(f"{held} {[*line.split(), ''][0]}") <= len(line)
        is_open = goes_on(held, line.lstrip()) and not (had_room and _indent(after) == indent)
        is_open = is_open or held.count("(") > held.count(")") or ends_sentence(held)
        if is_below and is_open:
            held = with_line(held, " ".join(line.split()), words)
        else:
            yield held
            held = line.rstrip()
    yield held


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _stretches(lines: list[str]) -> Iterator[tuple[bool, list[str]]]:
    """Yield the lines between two blank ones in stretches, and whether each is a table."""
    names = ""  # of columns of boxes
    for is_table, group in groupby(lines, key=_may_be_row):
        some = list(group)
        if is_table and names and _BOX.search(some[0]):
            some = [names, *some]
        elif is_table and any(map(_BOX.search, some[1:])):
            names = some[0]
        yield is_table and len(_table(some)) > 1, some


def _may_be_row(line: str) -> bool:
    if _SPEECH.match(line):
        return False
    if _BORDER.fullmatch(line) or _BAR.search(line):
        return bool(_BORDER.fullmatch(line) or _cells(line)[1:])
    led = len(_LEADERS.split(line)) == 2 and not _GAP.search(_LEADERS.split(line)[1])
    return not led and not _CHOICE.search(line) and bool(_cells(line)[1:])


def _cells(line: str) -> list[str]:
    """Return the cells of a line that may be a row."""
    bars = _BAR.split(line.strip().strip("|│"))
    return [bar.strip() for bar in bars] if bars[1:] else _CELLS.split(line.strip())


def _table(lines: Sequence[str]) -> list[list[str]]:
    """Return the rows of a table, none if the columns of the lines are not below each other."""
    inside = [line for line in lines if not _BORDER.fullmatch(line)]
    if any("\t" in line or _BAR.search(line) for line in lines):
        return list(map(_cells, inside))
    width = max(map(len, inside), default=0)
    columns = zip(*(line.ljust(width) for line in inside), strict=True)
    blank = [True, *(not "".join(column).strip() for column in columns)]
    # Each column of the table begins after two blank ones.
    at = range(1, width)
    begins = [a for a in at if blank[a - 1] and blank[a] and not blank[a + 1]]
    table = [[row[a:b].strip() for a, b in pairwise([0, *begins, width])] for row in inside]
    return table if sum(sum(map(bool, row)) > 1 for row in table) > 1 else []


def _paragraphs(
    lines: Sequence[str], words: set[str], series: Set[str], is_head: bool
) -> Iterator[str]:
    longest = max(map(len, lines))
    width = _WIDEST if is_head else max(_NARROWEST, longest)
    # Of a list most lines have room, so a small letter does not say that a sentence goes on.
    pairs = [(line, after) for line, after in pairwise(lines) if not line.endswith(":")]
    roomy = sum(_has_room(line, after, longest) for line, after in pairs)
    is_led = len(lines) > _FEW or lines[0].endswith(":")
    is_list = is_led and roomy > _MOST_ROOMY * len(pairs) and not is_head
    is_list = is_list and not any(_JOINS.match(line) for line in lines)
    text, last, indent = "", "", ""
    for line in lines:
        if text and not _ends(last, line, width, series, is_list):
            text = with_line(text, line.strip(), words)
        else:
            if text:
                yield indent + _written(text)
            text = line.strip()
            indent = " " * _indent(line) if _BEGINS.match(line) else ""
        last = line.rstrip()
    yield indent + _written(text)


def _written(text: str) -> str:
    """Return a paragraph with plain signs of boxes, and a colon for dots that lead to a value."""
    if _CHOICE.search(text):
        text = _BOX.sub(lambda found: box(found[0] not in ("[ ]", "( )", EMPTY_BOX)), text)
    label, *values = _LEADERS.split(text)
    text = f"{label}: {values[0].rstrip('.')}." if len(values) == 1 else text
    return clean(unmarked(text))


def _ends(line: str, following: str, width: int, series: Set[str], is_list: bool = False) -> bool:
    """Return whether a paragraph ends with a line; ``is_list``: small letters begin items too."""
    if _LEADERS.search(line) or (_CHOICE.search(line) and not _BOX.match(line.lstrip())):
        return True
    following = following.strip()
    item = following[:1].upper() + following[1:]
    # "BANNED ON BOARD" above what is banned
    if line.isupper() and may_be_heading(line.strip()) and not following.isupper():
        return not goes_on(line, item)
    is_labelled = _LABELLED.match(following)
    grows = goes_on(line, item if is_list else following)
    # "Not proved:" above what is not proved
    if following.endswith(":") and following[:1].isupper() and len(following) <= _WHOLE:
        return not grows and (ends_sentence(line) or _has_room(line, following, width))
    begins = bool(_BEGINS.match(following) or (_CHOICE.search(following) and not grows))
    if series_of(following) in series:
        begins = begins or not goes_on(line, _CODE.sub("", following, count=1))
    if begins or (is_labelled and (_LABELLED.match(line.lstrip()) or not grows)):
        return True
    return _has_room(line, following, width) and not grows


def _has_room(line: str, following: str, width: int) -> bool:
    """Return whether the first word of the next line had fitted into a line."""
    return len(line) + 1 + len(following.split(maxsplit=1)[0]) <= _FULL * width


def _part_statements(state: StateCore) -> None:
    """Part the lines of Markdown that would be paragraphs of a plain text, or end a sentence.

    So are those in which the first words are emphasized, in a paragraph that begins so.
    """
    series = _series_in(state.src.split("\n"))
    for token in state.tokens:
        lines = token.content.split("\n") if token.type == "inline" else []
        plain = [_EMPHASIS.sub("", line).strip() for line in lines]
        width = max(_NARROWEST, *map(len, plain), 0)
        for at, (line, following) in enumerate(pairwise(plain)):
            ended = ends_sentence(line) and not (_SHORT.search(line) or following[:1].islower())
            if lines[0][:1] == lines[at + 1][:1] == "*":
                ended = ended or not goes_on(lines[at], following)
            if ended or (_ends(line, following, width, series) and not _BOX.match(following)):
                lines[at] += f"\n{_PART}"
        token.content = "\n".join(lines) or token.content


_PARSER.core.ruler.before("inline", "statements", _part_statements)


def _rows_of_file(text: str, separator: str | None) -> FileText:
    found: list[list[str]] = []
    bad: list[tuple[int, Problem]] = []
    separator = separator or _separator_below_titles(text) or separator_of(text)
    for number, row in separated_rows(text, separator):
        if isinstance(row, Problem):
            bad.append((number, row))
        else:
            found.append(row)
    unread = [Unread(f"line {line}", why.message, why.hint) for line, why in bad[:_MOST_NAMED]]
    if more := bad[_MOST_NAMED:]:
        last, why = more[-1]
        message = f"{len(more):,} more rows cannot be read; the last begins in line {last}."
        unread.append(Unread(f"after line {bad[_MOST_NAMED - 1][0]}", message, why.hint))
    rows = [[Cell(clean(cell)) for cell in row] for row in _with_whole_remarks(found, separator)]
    rows = rows if separator == "," else _with_points(rows)
    sentences = (text for table in tables_in(rows) for text in row_sentences(table, of_data=True))
    return FileText("", [Block(text, kind="row") for text in sentences], unread=unread)


def _with_whole_remarks(rows: list[list[str]], separator: str) -> Iterator[list[str]]:
    """Yield rows; a line such as "# as of May; revised" is one cell, and a title above the table.

    So is a line whose separators have spaces and words after them, unless those of a row have too.
    It has other numbers of cells than the table; "#" alone may name a column. A line below the
    table without a separator is a sentence.
    """
    widest = max(map(len, rows), default=0)
    spaced = any(map(_is_prose, (row for row in rows if len(row) == widest)))
    remarks = [
        bool(row and (_REMARK.match(row[0]) or (_is_prose(row) and not spaced))) for row in rows
    ]
    table = [row for row, is_one in zip(rows, remarks, strict=True) if row and not is_one]
    widest, is_above = max(map(len, table), default=0), True
    last = max((at for at, row in enumerate(rows) if len(row) == widest > 1), default=len(rows))
    for at, (row, is_one) in enumerate(zip(rows, remarks, strict=True)):
        is_above = is_above and (is_one or not row)
        text = separator.join(row)
        is_remark = (is_one and len(row) != widest) or (len(row) == 1 and at > last)
        if not is_remark:
            yield row
        elif is_above:
            yield [_REMARK.sub("", text)]
        else:
            yield [text if ends_sentence(text) else f"{text}."]


def _is_prose(row: list[str]) -> bool:
    return len(row) > 1 and all(map(_SPACED.match, row[1:]))


def _with_points(rows: list[list[Cell]]) -> list[list[Cell]]:
    """Write the figures of a table with decimal commas as English does: "1.234,5" is 1,234.5."""
    texts = [cell.text for row in rows for cell in row]
    marked = any(map(_COMMA.fullmatch, texts)) or _has_points(rows)
    if not marked or any(map(_POINT.fullmatch, texts)):
        return rows
    return [[Cell(_in_english(cell.text)) for cell in row] for row in rows]


def _has_points(rows: list[list[Cell]]) -> bool:
    """Return whether points part thousands: "1.120" stands in columns of whole numbers below 1000.

    There are at least two such figures, and no others with a point.
    """
    columns = (
        [c.text for c in column if c and c.text[:1].isdigit() and not is_period(c.text)]
        for column in zip_longest(*rows)
    )
    parted = [figures for figures in columns if any(map(_GROUPED.fullmatch, figures))]
    figures = list(chain.from_iterable(parted))
    whole = [figure for figure in figures if not _GROUPED.fullmatch(figure)]
    others = {cell.text for row in rows for cell in row}.difference(figures)
    if not parted or any(map(_DECIMAL.fullmatch, others)):
        return False
    return (
        len(figures) > len(whole) + 1
        and all(figure.isdigit() and len(figure) < 4 for figure in whole)
        and all(any(len(figure) == 3 for figure in column) for column in parted)
    )


def _in_english(text: str) -> str:
    return text.translate(_ENGLISH) if _COMMA_OR_NONE.fullmatch(text) else text


def _separator_below_titles(text: str) -> str | None:
    """Return what parts most of the first lines, of which some may be titles with commas.

    ``None``: nothing does.
    """
    lines = text.split("\n", _LOOKED_AT)[:_LOOKED_AT]
    begins = range(min(_MOST_TITLES, len(lines)))
    found = [separator_of("\n".join(lines[at:])) for at in begins]
    if set(found) == {NO_SEPARATOR}:
        return None
    return max(found, key=lambda separator: sum(separator in line for line in lines))


def _said(text: str) -> Iterator[str]:
    """Yield what is said, with the time at which it begins and its speaker: "00:01:10 Ann: …"."""
    begin = speaker = held = ""
    for cue in re.split(r"\n\s*\n", text):
        found = _TIMES.search(cue)
        if found is None:
            continue
        body = cue[found.end() :].partition("\n")[2]
        voice = _VOICE.search(body)
        words = clean(_TAG.sub("", body))
        named = _SPEAKER.match(words)
        who = clean(voice[1]) if voice else named["name"] if named else speaker
        words = words[named.end() :] if named and not voice else words
        if held and (who != speaker or ends_sentence(held) or len(held) > _LONGEST):
            yield f"{begin} {held}"
            held = ""
        if not held:
            begin = ":".join([found[1] or "00", found[2], found[3]]) + (f" {who}:" if who else "")
        held, speaker = f"{held} {words}".strip(), who
    if held:
        yield f"{begin} {held}"


def _events(text: str) -> Iterator[str]:
    for event in re.findall(r"BEGIN:VEVENT\n(.*?)END:VEVENT", text, re.DOTALL):
        fields: dict[str, str] = {}
        for line in event.split("\n"):
            name, _, value = line.partition(":")
            value = _ESCAPED.sub(lambda found: " " if found[1] in "nN" else found[1], value)
            fields.setdefault(name.partition(";")[0].upper(), clean(value))
        said = [
            f"{shown}: {_DAY.sub(_day, fields[name]).removeprefix('mailto:')}"
            for name, shown in _NAMED.items()
            if fields.get(name)
        ]
        yield ", ".join([fields.get("SUMMARY", "Event"), *said]) + "."


def _day(found: re.Match[str]) -> str:
    day = f"{found[1]}-{found[2]}-{found[3]}"
    return f"{day} {found[4]}:{found[5]}" if found[4] else day
