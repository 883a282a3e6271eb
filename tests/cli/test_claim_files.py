from __future__ import annotations

from pathlib import Path

from cli.claim_files import read_claims


def test_a_line_ends_at_a_line_feed_and_nowhere_else(tmp_path: Path) -> None:
    path = tmp_path / "claims.txt"
    path.write_bytes("Tea is\u2028a drink.\r\n\nIce\x85is\x0ccold.\n".encode())
    assert read_claims(path) == ["Tea is\u2028a drink.", "Ice\x85is\x0ccold."]


def test_json_lines_end_at_a_line_feed_too(tmp_path: Path) -> None:
    path = tmp_path / "claims.JSONL"
    path.write_text('{"claim": "Tea is\u2028a drink."}\n{"claim": "Ice is cold."}', "utf-8")
    assert read_claims(path) == ["Tea is\u2028a drink.", "Ice is cold."]


def test_a_cell_of_a_table_may_hold_lines_commas_and_quotes(tmp_path: Path) -> None:
    path = tmp_path / "claims.CSV"
    path.write_bytes(
        b'\xef\xbb\xbfid,claim\r\n1,"Tea, they say,\r\nis a ""drink""."\r\n2,Ice is cold.\r\n'
    )
    assert read_claims(path) == ['Tea, they say,\nis a "drink".', "Ice is cold."]
