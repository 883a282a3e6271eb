"""What is read of an article's HTML, as large wikis write it."""

from __future__ import annotations

from retrieval.corpora.wiki.article import MOST_BLOCKS, read_article

BOX = """<table class="infobox vcard"><caption>Ann Lee</caption>
<tr><th colspan="2">Ann Lee</th></tr><tr><td colspan="2">Lee in 1870</td></tr>
<tr><th>Born</th><td><span style="display:none">(<span>1841-05-03</span>)</span>3 May 1841<br/>
Dundee<sup class="reference">[1]</sup></td></tr>
<tr><th>Works</th><td><ul><li>Skerrow Light</li><li>Varnby bridge</li></ul></td></tr>
<tr><td colspan="2"><table><tr><th>Area</th><td>4 km<sup>2</sup></td></tr></table></td></tr>
</table>"""
PAGE = f"""<html><body><section><div class="hatnote">For the song see Lee.</div>{BOX}
<p><b>Ann Lee</b> (born 3 May 1841) was an engineer<sup class="mw-ref reference">[2]</sup>.</p>
</section><section><h2 id="Life">Life</h2><p>She lived in <a href="./Dundee#Old">the city</a> and
<a href="https://example.org">elsewhere</a>.</p></section>
<section><h2>References</h2><ol class="mw-references"><li>A book.</li></ol></section>
<section><h2>See also</h2><ul><li><a href="./Lamp">Lamp</a></li></ul></section></body></html>"""


def test_each_row_of_the_box_is_a_sentence_and_nothing_hidden_is_read() -> None:
    read = read_article("Ann Lee", PAGE.encode())
    assert [(block.text, block.section) for block in read.blocks] == [
        ("Ann Lee (born 3 May 1841) was an engineer.", ()),
        ("Born: 3 May 1841, Dundee.", ()),
        ("Works: Skerrow Light, Varnby bridge.", ()),
        ("Area: 4 km².", ()),
        ("She lived in the city and elsewhere.", ("Life",)),
    ]
    assert read.blocks[-1].anchor == "Life"
    assert read.links == {"the city": "Dundee", "Lamp": "Lamp"}
    assert read.leads_to == ()


def test_broken_html_is_read_as_far_as_it_goes() -> None:
    assert read_article("Nothing", b"").blocks == ()
    (block,) = read_article("Lee", b"<p>Lee is a song.<table class=infobox><tr><th>").blocks
    assert block.text == "Lee is a song."
    (deep,) = read_article("Lee", b"<p>Lee is a song." + b"<div>" * 100_000 + b"x").blocks
    assert deep.text == "Lee is a song."
    long = b"<p>The parish notes a calm winter and a late harvest.</p>" * 40_000  # over 2 MB
    assert len(read_article("Ohre", long).blocks) == MOST_BLOCKS


BATTLE = """<table class="infobox"><tr><th colspan=2>Battle of Varnby</th></tr>
<tr><th>Date</th><td>1641</td></tr>
<tr><th colspan=2>Belligerents</th></tr><tr><td>The Crown</td><td>Varnby<br>Dundee</td></tr>
<tr><th colspan=2>Losses</th></tr><tr><td>410 dead</td><td>1,350 dead</td></tr>
<tr><th colspan=2>Population</th></tr><tr><th>• Total</th><td>5,895</td></tr></table>"""


def test_rows_of_a_box_say_what_stands_above_and_beside_them() -> None:
    read = read_article("Battle of Varnby", f"<p>A battle.</p>{BATTLE}".encode())
    assert [block.text for block in read.blocks] == [
        "A battle.",
        "Date: 1641.",
        "Belligerents: The Crown; Varnby, Dundee.",
        "Losses, The Crown: 410 dead.",
        "Losses, Varnby: 1,350 dead.",
        "Population, total: 5,895.",
    ]
