"""What is read of an article's HTML, as large wikis write it."""

from __future__ import annotations

from retrieval.corpora.wiki.article import read_article

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
