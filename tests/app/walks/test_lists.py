"""A list goes on, whatever happens to the page, to the worker and to the documents."""

from __future__ import annotations

import csv
import json

import pytest
from selenium.webdriver.common.by import By

from tests.app.browser import assert_no_complaints
from tests.app.walks.walker import Walker

pytestmark = pytest.mark.server

TABLE = """\
speaker,claim,page
Ann,Oslo is the largest city of Norway.,1
Ann,The capital of Canada is Toronto.,1
Bo,Marie Curie discovered radium in 1898.,2
Bo,Die Hauptstadt von Norwegen ist Oslo und nicht Bergen.,2
Cy,Vienna is the capital of Austria.,3
Cy,The Eiffel Tower was completed in 1920.,3
Di,Paris is the capital of France.,4
Di,Hamlet was written by William Shakespeare.,4
Ed,Penicillin was discovered in 1928.,5
Ed,Leonardo da Vinci died in 1519.,5
Flo,The Mona Lisa hangs in Warsaw.,6
Flo,The violin is played with a bow.,6
Gus,The blue whale feeds on krill.,7
Gus,William Shakespeare was born in London.,7
"""
DONE = "document.getElementById('list').dataset.state === 'done'"
STATE = "document.querySelector('.figures').textContent"


def test_a_journalist_uploads_a_table_pauses_it_and_takes_it_back_though_a_worker_dies(
    walker: Walker,
) -> None:
    walker.open("/lists")
    walker.attach("#file", speech_csv=TABLE.encode())
    with walker.service.held_worker():
        walker.follow("Check the list")
        assert walker.text("h1") == "speech.csv"
        assert walker.text(".figures").startswith("1 of 14 claims")  # one is no claim in English
    walker.wait("document.querySelector('#row-1 .opens')")
    walker.service.kill_worker()
    walker.follow("Pause")
    assert "paused" in walker.text(".figures")
    walker.follow("Go on")
    walker.wait(f"{STATE}.includes('left') || {DONE}")
    address = walker.address()
    walker.open("/")  # she closes the page, and comes back
    walker.open(address)
    walker.wait(DONE)
    assert walker.text(".figures") == "14 of 14 claims"
    (problem,) = (one for one in walker.all(".entries > li") if "Norwegen" in one.text)
    assert "English" in problem.text
    verdicts = [one.text.partition("\n")[0] for one in walker.all(".entry-verdict")]
    assert verdicts.count("Supported") + verdicts.count("Refuted") == 13

    walker.press("William Shakespeare was born in London.")
    walker.wait("document.querySelector('#row-14-open .entry-sentences')")
    assert "Stratford-upon-Avon" in walker.text("#row-14-open")
    walker.leave(walker.browser.find_element(By.PARTIAL_LINK_TEXT, "Refuted").click)
    assert len(walker.all(".entries > li")) == verdicts.count("Refuted")

    with walker.download("CSV").open(encoding="utf-8-sig", newline="") as table:
        rows = list(csv.DictReader(table))
    assert [(one["speaker"], one["claim"], one["page"]) for one in rows] == [
        tuple(line.split(",")) for line in TABLE.splitlines()[1:]
    ]
    assert rows[1]["verdict"] == "REFUTES"
    assert "English" in rows[3]["error"]
    lines = walker.download("JSON lines").read_text().splitlines()
    assert ["verdict" in json.loads(one) for one in lines].count(False) == 1
    assert walker.download("Excel").read_bytes().startswith(b"PK")
    assert_no_complaints(walker.browser)
