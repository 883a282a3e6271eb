"""Small documents that are uploaded, and the form that they are sent in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_BOUNDARY = "a-line-that-is-in-no-document"
_HEAD = f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="files"; filename="{{}}"\r\n\r\n'
_TEXT = (
    "Report {0} on Tarn Weir. In year {0} the dam was inspected. Odeford paid {0} pounds for it."
)
_PDF = """\
%PDF-1.4
1 0 obj
<< /Type /Catalog /Pages 2 0 R >>
endobj
2 0 obj
<< /Type /Pages /Count 1 /Kids [3 0 R] >>
endobj
3 0 obj
<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R
/Resources << /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>
endobj
4 0 obj
<< /Length {length} >>
stream
{content}
endstream
endobj
trailer
<< /Size 5 /Root 1 0 R >>
%%EOF
"""  # without a table of places: readers make it anew


@dataclass(frozen=True)
class Form:
    """The body of a request that uploads files, and its headers."""

    content: bytes
    headers: dict[str, str]


def document(number: int, as_pdf: bool) -> tuple[str, bytes]:
    """Return the name and the content of a document; no two numbers have the same."""
    text = _TEXT.format(number)
    if not as_pdf:
        return f"report-{number}.txt", text.encode()
    content = f"BT /F 10 Tf 50 740 Td ({text}) Tj ET"
    return f"report-{number}.pdf", _PDF.format(length=len(content), content=content).encode()


def form_of(files: Sequence[tuple[str, bytes]]) -> Form:
    """Return the form that uploads these files."""
    parts = [_HEAD.format(name).encode() + content + b"\r\n" for name, content in files]
    content = b"".join(parts) + f"--{_BOUNDARY}--\r\n".encode()
    return Form(content, {"Content-Type": f"multipart/form-data; boundary={_BOUNDARY}"})
