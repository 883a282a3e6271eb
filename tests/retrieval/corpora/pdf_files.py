"""Writes small PDF files."""

from collections.abc import Mapping, Sequence

import pypdfium2 as pdfium
from fpdf import FPDF

_BOLD = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>"


def pdf_of(
    pages: Sequence[str],
    title: str = "",
    largest: str = "",
    more: Sequence[bytes] = (),
    font: bytes = b"",
) -> bytes:
    """Return a PDF with these pages; each line of a page's text is printed as a line.

    ``title`` is in its metadata; ``largest`` is printed above page one in larger letters. ``more``
    are content streams of further pages. ``font`` says which characters its letters are
    (``font_with``).
    """
    contents = [_printed(page) for page in pages] + list(more)
    if largest:
        contents[0] = f"BT /F 30 Tf 50 780 Td ({largest}) Tj ET\n".encode() + contents[0]
    numbers = [5 + 2 * n for n in range(len(contents))]
    kids = " ".join(f"{number} 0 R" for number in numbers)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {len(numbers)} /Kids [{kids}] >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        f"<< /Title ({title}) >>".encode(),
    ]
    for number, content in zip(numbers, contents, strict=True):
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {number + 1} 0 R"
            f" /Resources << /Font << /F 3 0 R /B {_BOLD} >> >> >>".encode(),
            stream(content),
        ]
    if font:
        place = f" /ToUnicode {len(objects) + 1} 0 R >>".encode()
        objects[2] = objects[2].removesuffix(b" >>") + place
        objects.append(stream(font))
    return written(objects)


def drawn(*pieces: tuple[float, float, float, str]) -> bytes:
    """Return a content stream: pieces of text, each with its place and the size of its letters.

    A text that begins with "**" is in bold letters.
    """
    shown = " ".join(
        f"BT /{'FB'[text.startswith('**')]} {size} Tf {x} {y} Td"
        f" ({text.removeprefix('**').translate(_ESCAPED)}) Tj ET"
        for x, y, size, text in pieces
    )
    return shown.encode("cp1252")


def font_with(characters: Mapping[str, int]) -> bytes:
    """Return what says of the font of ``pdf_of`` that it shows other characters for some."""
    pairs = {chr(code): code for code in range(0x20, 0x7F)} | dict(characters)
    lines = "\n".join(f"<{ord(name):02x}> <{code:04x}>" for name, code in pairs.items())
    return (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /A def /CMapType 2"
        f" def 1 begincodespacerange <00> <ff> endcodespacerange {len(pairs)} beginbfchar\n{lines}"
        "\nendbfchar endcmap end end"
    ).encode()


def form_of(fields: Sequence[tuple[str, str]]) -> bytes:
    """Return a PDF of one page with labels, and at the right of each what was filled in."""
    numbers = range(7, 7 + len(fields))
    references = " ".join(f"{number} 0 R" for number in numbers)
    labels = drawn(*((50, 700 - 40 * n, 10, label) for n, (label, _) in enumerate(fields)))
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [{references}] >> >>".encode(),
        b"<< /Type /Pages /Count 1 /Kids [5 0 R] >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 6 0 R /Annots"
        f" [{references}] /Resources << /Font << /F 3 0 R >> >> >>".encode(),
        stream(labels),
        *(
            f"<< /Type /Annot /Subtype /Widget /FT /Tx /T (field{n}) /V ({value})"
            f" /Rect [200 {697 - 40 * n} 400 {712 - 40 * n}] >>".encode()
            for n, (_, value) in enumerate(fields)
        ),
    ]
    return written(objects)


def scanned_of(text: str) -> bytes:
    """Return a PDF of one page that is a picture of a text."""
    with pdfium.PdfDocument(pdf_of([text])) as document:
        picture = document[0].render(scale=3, grayscale=True).to_pil()
    made = FPDF(unit="pt", format=(600, 800))
    made.add_page()
    made.image(picture, 0, 0, 600, 800)
    return bytes(made.output())


def stream(content: bytes, entries: str = "") -> bytes:
    """Return an object that is a stream; ``entries`` are more of its dictionary."""
    return f"<< /Length {len(content)} {entries} >>\nstream\n".encode() + content + b"\nendstream"


def written(objects: Sequence[bytes]) -> bytes:
    """Return a file with objects numbered from 1: the catalogue first, the metadata fourth."""
    file = b"%PDF-1.4\n"
    places = []
    for number, content in enumerate(objects, start=1):
        places.append(len(file))
        file += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    return (
        file
        + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}".encode()
        + f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info 4 0 R >>\n".encode()
        + f"startxref\n{len(file)}\n%%EOF\n".encode()
    )


def _printed(text: str) -> bytes:
    shown = "".join(f"({line.translate(_ESCAPED)}) Tj T*\n" for line in text.split("\n"))
    return f"BT /F 10 Tf 12 TL 50 740 Td\n{shown}ET".encode("cp1252")


_ESCAPED = str.maketrans({"(": r"\(", ")": r"\)", "\\": r"\\"})
