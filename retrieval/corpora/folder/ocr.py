"""Reads scanned pages with tesseract, where it is installed."""

from __future__ import annotations

import csv
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from statistics import median

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from retrieval.corpora.folder.document import Unreadable
from retrieval.corpora.folder.segments import APART, Segment

INSTALL = (
    "Install OCR and build again (Debian: apt install tesseract-ocr), or run"
    " ocrmypdf IN.pdf OUT.pdf"
)
_TESSERACT = ("env", "OMP_THREAD_LIMIT=1", "tesseract", "stdin", "stdout", "-l", "eng", "--dpi")
_SURE = 60.0  # percent; OCR_NOTE says it too
_DOTS = 300  # per inch
_POINTS = 72  # per inch
_LARGEST = 25_000_000  # dots of a picture
_COVERS = 0.5  # the part of a scanned page that its picture covers
_LETTERS = 60  # that may be printed on a scanned page, such as its number
_SIZE = 1.3  # of letters, in parts of the usual height of a word
_SECONDS = 60  # for a page


FIRST = "Run OCR first: ocrmypdf IN.pdf OUT.pdf"


def is_scanned(page: pdfium.PdfPage, found: Iterable[Segment]) -> bool:
    """Return whether a page is a picture with next to no text."""
    if sum(len(one.text) for one in found) > _LETTERS:
        return False
    pictures = page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=3)
    most = _COVERS * _area(page.get_bbox())
    return any(_area(picture.get_bounds()) > most for picture in pictures)


def _area(bounds: tuple[float, float, float, float]) -> float:
    left, bottom, right, top = bounds
    return abs((right - left) * (top - bottom))


def installed() -> bool:
    """Return whether pages can be read."""
    return shutil.which("tesseract") is not None


def read(page: pdfium.PdfPage) -> list[Segment]:
    """Return the words of a scanned page that OCR is sure of, and [?] for the others.

    Raises:
        Unreadable: tesseract fails, takes too long, or is sure of few words.
    """
    width, height = page.get_size()
    scale = min(_DOTS / _POINTS, (_LARGEST / max(1.0, width * height)) ** 0.5)
    bitmap = page.render(scale=scale, grayscale=True)
    try:
        rows = bytes(bitmap.buffer)
        starts = range(0, len(rows), bitmap.stride)
        picture = b"".join(rows[start : start + bitmap.width] for start in starts)
        header = f"P5 {bitmap.width} {bitmap.height} 255\n".encode()
    finally:
        bitmap.close()
    dots = str(round(scale * _POINTS))
    try:
        answer = subprocess.run(
            [*_TESSERACT, dots, "tsv"],
            input=header + picture,
            capture_output=True,
            timeout=_SECONDS,
            check=True,
        )
    except subprocess.TimeoutExpired as error:
        raise _failed(f"OCR takes more than {_SECONDS} seconds") from error
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        raise _failed(f"tesseract: {said}") from error
    return _segments(answer.stdout.decode("utf-8", "replace"), scale, height)


def _segments(table: str, scale: float, height: float) -> list[Segment]:
    found = csv.DictReader(table.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    words = [word for word in found if word["text"].strip()]
    if sum(map(_is_sure, words)) < len(words) / 2:
        raise _failed("OCR is sure of less than half of its words; it may not be English")
    lines = groupby(words, key=lambda word: [word[f"{of}_num"] for of in ("block", "par", "line")])
    return [segment for _, line in lines for segment in _line(list(line), scale, height)]


def _failed(why: str) -> Unreadable:
    return Unreadable(f"it is a picture; {why}.", FIRST)


def _is_sure(word: Mapping[str, str]) -> bool:
    return float(word["conf"]) >= _SURE


def _line(words: list[Mapping[str, str]], scale: float, page_height: float) -> Iterator[Segment]:
    foot = median(int(word["top"]) + int(word["height"]) for word in words)
    base = page_height - foot / scale
    size = _SIZE * median(int(word["height"]) for word in words) / scale
    held: Segment | None = None
    for word in words:
        left = int(word["left"]) / scale
        right = left + int(word["width"]) / scale
        text = word["text"].strip() if _is_sure(word) else "[?]"
        if held and left - held.right < APART * size:
            held = Segment(f"{held.text} {text}", held.left, right, base, size)
            continue
        if held:
            yield held
        held = Segment(text, left, right, base, size)
    if held:
        yield held
