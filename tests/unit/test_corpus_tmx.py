"""Test what is read from translation memories (TMX), and units that cannot be read."""

import tracemalloc

import pytest
from extraction import extract, fault, pairs, tmx, variant

from paraphrastic_pipeline.corpus import readers
from paraphrastic_pipeline.corpus.readers import CorpusFile, extract_corpus


def test_tmx_takes_the_first_variant_of_each_language_by_primary_subtag(tmp_path):
    units = [
        variant("DE_de", "eins") + variant("en-US", "one") + variant("en-GB", "uno") + variant("fr", "un"),
        '<tuv lang="en"><seg>two</seg></tuv>' + variant("de", "zwei"),
    ]
    counts, rows, _ = extract(tmp_path, "tmx", tmx(*units))
    assert rows == [
        {"source": "one", "target": "eins", "line": 3},
        {"source": "two", "target": "zwei", "line": 4},
    ]
    assert counts == {"lines": 4, "pairs": 2, "unreadable": 0}


def test_tmx_paraphrases_are_two_variants_of_one_language(tmp_path):
    units = [variant("en", "a") + variant("en-GB", "b"), variant("en", "c") + variant("de", "d")]
    _, rows, faults = extract(tmp_path, "tmx", tmx(*units), ("en", "en"), bound=1)
    assert pairs(rows) == [("a", "b")]
    assert faults == ["4\tunit 2 needs two variants in en, but it has en, de"]


def test_tmx_markup_is_no_text_and_references_are(tmp_path):
    text = 'a <hi>b</hi><bpt i="1">&lt;b <sub>x</sub>&gt;</bpt>c<ept i="1">&lt;/b&gt;</ept> &amp;&#x142;\nd'
    _, rows, _ = extract(tmp_path, "tmx", tmx(variant("en", text) + variant("de", "<![CDATA[<x>]]>")))
    assert pairs(rows) == [("a bc &ł d", "<x>")]


def test_tmx_in_utf16_with_the_usual_document_type(tmp_path):
    head = '<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n'
    text = tmx(variant("en", "one") + variant("de", "größe"), head=head)
    _, rows, _ = extract(tmp_path, "tmx", text.encode("utf-16"))
    assert pairs(rows) == [("one", "größe")]


def test_unreadable_units_of_a_tmx(tmp_path):
    head = '<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n'
    units = [
        variant("en", "one"),
        "<note>x</note>",
        variant("en", "a&nbsp;b") + variant("de", "c"),
        variant("en", "") + variant("de", "c"),
    ]
    counts, rows, faults = extract(tmp_path, "tmx", tmx(*units, head=head), bound=3)
    assert faults == [
        "4\tunit 1 needs en and de, but it has en",
        "5\tunit 2 needs en and de, but it has no variant",
        "6\tunit 3: the entity &nbsp; is not defined",
    ]
    assert pairs(rows) == [("", "c")]
    assert counts == {"lines": 7, "pairs": 1, "unreadable": 3}


LAUGHS = '<!DOCTYPE tmx [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>\n'
OUTSIDE = '<!DOCTYPE tmx [<!ENTITY a SYSTEM "file:///etc/passwd">]>\n'


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (tmx(variant("en", "&b;"), head=LAUGHS), "mine.tmx:2: declares the entity 'a', which is refused"),
        (tmx(variant("en", "&a;"), head=OUTSIDE), "mine.tmx:2: declares the entity 'a', which is refused"),
        (tmx(variant("en", "one"))[:-20], "mine.tmx:3: damaged: no element found"),
        (tmx("<tuv>"), "mine.tmx:3: damaged: mismatched tag"),
        (tmx(variant("en", "caf\xe9")).encode("latin-1"), "mine.tmx:3: damaged: not well-formed"),
        (tmx(variant("en", "&nbsp;")), "mine.tmx:3: damaged: undefined entity"),
        ("one\teins\n", "mine.tmx:1: damaged: syntax error"),
        ("<html></html>", "mine.tmx: not TMX: its first element is 'html'"),
        (
            '<?xml version="1.0" encoding="klingon"?><tmx/>',
            "mine.tmx: its encoding cannot be read: unknown encoding",
        ),
        ("", "mine.tmx:1: damaged: no element found"),
        (tmx(), "mine.tmx: the corpus is empty: no lines"),
        (tmx(variant("en", "x" * (1 << 20) + "y")), "mine.tmx:3: a unit longer than 1048576 characters"),
    ],
)
def test_tmx_that_cannot_be_used(tmp_path, content, cause):
    assert cause in fault(tmp_path, "tmx", content, bound=100)


def test_codes_of_the_same_language_count(tmp_path):
    """Tools write nb-NO, no or eng; the model's languages are nb and en."""
    unit = f"<tu>{variant('no-NO', 'en hund')}{variant('eng', 'a dog')}</tu>"
    counts, rows, _ = extract(tmp_path, "tmx", tmx(unit[4:-5]), ("en", "nb"))
    assert counts["pairs"] == 1
    assert pairs(rows) == [("a dog", "en hund")]


@pytest.mark.parametrize(("text", "is_long"), [("x" * 7, False), ("x" * 8, True)])
def test_a_unit_has_a_longest_text(tmp_path, monkeypatch, text, is_long):
    monkeypatch.setattr("paraphrastic_pipeline.corpus.tmx.MAX_LINE_BYTES", 10)
    content = tmx(variant("en", "abc") + variant("de", text))
    if is_long:
        assert "a unit longer than 10 characters" in fault(tmp_path, "tmx", content)
    else:
        assert pairs(extract(tmp_path, "tmx", content)[1]) == [("abc", text)]


def test_the_first_of_two_entities_is_named(tmp_path):
    head = '<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n'
    units = [variant("en", "&one; &two;") + variant("de", "x"), variant("en", "a") + variant("de", "b")]
    _, _, faults = extract(tmp_path, "tmx", tmx(*units, head=head), bound=1)
    assert faults == ["4\tunit 1: the entity &one; is not defined"]


def test_tmx_does_not_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "READ_ROWS", 500)

    def peak(units: int) -> int:
        unit = f"<tu>{variant('en', 'word ' * 20)}{variant('de', 'Wort ' * 20)}</tu>\n"
        path = tmp_path / "big.tmx"
        path.write_text(f"<tmx><body>{unit * units}</body></tmx>")
        file = CorpusFile(path, ("en", "de"))
        tracemalloc.start()
        counts = extract_corpus("tmx", [file], ("en", "de"), tmp_path / "o", max_member_bytes=1 << 30)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert counts["pairs"] == units
        return most

    # The first extraction in a process also loads libraries.
    peak(10)
    assert peak(20_000) < 1.2 * peak(4_000)
