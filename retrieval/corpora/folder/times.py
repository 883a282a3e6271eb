"""Reads .srt and .vtt, what is said at which time, and .ics, what is planned for which."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from retrieval.corpora.cleaning import clean
from retrieval.corpora.folder.document import FileText, Unreadable
from retrieval.corpora.folder.plain_text import text_of
from retrieval.corpora.passages import Block, ends_sentence

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
    """Return the document: a paragraph for each speaker's sentences, or for each event.

    Raises:
        Unreadable: it is none of these formats.
        OSError: the file cannot be read.
    """
    text = text_of(path)
    if path.suffix.lower() == ".ics":
        blocks = list(map(Block, _events(_FOLDED.sub("", text))))
    else:
        blocks = list(map(Block, _said(text)))
    if not blocks:
        raise Unreadable("the file has no text.", "Give it the suffix of its format.")
    return FileText("", blocks)


def _said(text: str) -> Iterator[str]:
    """Yield what is said, with the time at which it begins and its speaker: "00:01:10 Ann: …"."""
    begin = speaker = held = ""
    for cue in re.split(r"\n\s*\n", text):
        _, found, body = _parted(cue)
        if found is None:
            continue
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


def _parted(cue: str) -> tuple[str, re.Match[str] | None, str]:
    """Return what stands before the line with the times of a cue, that line, and what follows."""
    found = _TIMES.search(cue)
    return (
        (cue[: found.start()], found, cue[found.end() :].partition("\n")[2])
        if found
        else ("", None, "")
    )


def _events(text: str) -> Iterator[str]:
    for event in re.findall(r"BEGIN:VEVENT\n(.*?)END:VEVENT", text, re.DOTALL):
        fields: dict[str, str] = {}
        for line in event.split("\n"):
            name, _, value = line.partition(":")
            fields.setdefault(name.partition(";")[0].upper(), clean(_ESCAPED.sub(_plain, value)))
        said = [
            f"{shown}: {_DAY.sub(_day, fields[name]).removeprefix('mailto:')}"
            for name, shown in _NAMED.items()
            if fields.get(name)
        ]
        yield ", ".join([fields.get("SUMMARY", "Event"), *said]) + "."


def _plain(found: re.Match[str]) -> str:
    return " " if found[1] in "nN" else found[1]


def _day(found: re.Match[str]) -> str:
    day = f"{found[1]}-{found[2]}-{found[3]}"
    return f"{day} {found[4]}:{found[5]}" if found[4] else day
