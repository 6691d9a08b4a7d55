"""Test translation memories: their languages, their markup, and files that cannot be used."""

import tracemalloc

import pytest
from extraction import extract, fault, pairs, tmx, variant

from paraphrastic_pipeline.corpus import readers
from paraphrastic_pipeline.corpus.readers import extract_corpus

DOCTYPE = '<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n'


@pytest.mark.parametrize(
    ("codes", "variants", "pair"),
    [
        ("en-de", [("DE_de", "b"), ("en-US", "a"), ("en-GB", "x"), ("fr", "y")], ("a", "b")),
        ("en-nb", [("no-NO", "b"), ("eng", "a")], ("a", "b")),
        ("en-nb", [("nb", "b"), ("EN_us", "a")], ("a", "b")),
        ("en-en", [("en", "a"), ("en-GB", "b"), ("en", "c")], ("a", "b")),
    ],
)
def test_languages_of_a_tmx(tmp_path, codes, variants, pair):
    unit = "".join(variant(*each) for each in variants)
    counts, rows, _ = extract(tmp_path, "tmx", tmx(variant("fr", "x"), unit), codes.split("-"), share=0.5)
    assert rows == [{"source": pair[0], "target": pair[1], "line": 2}]
    assert counts == {"lines": 2, "pairs": 1, "unreadable": 1}


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ('work<ph type="lb"/>before', "work before"),
        ('Page<it pos="begin">&lt;tab/&gt;</it>twelve<ut>x</ut>is', "Page twelve is"),
        ('un<bpt i="1">&lt;b&gt;</bpt>believ<ept i="1">&lt;/b <sub>x</sub>&gt;</ept>able', "unbelievable"),
        ("a <hi>b<hi>c<ph/></hi></hi>d <![CDATA[<x>]]> &amp;&#x142;\ne", "a bc d <x> &ł e"),
        ("a&nbsp;b &eacute;", "a\xa0b é"),
    ],
)
def test_markup_is_no_text(tmp_path, markup, text):
    for encoding in ("utf-8", "utf-16"):
        content = tmx(variant("en", markup) + variant("de", "x"), head=DOCTYPE)
        _, rows, _ = extract(tmp_path, "tmx", content.encode(encoding))
        assert pairs(rows) == [(text, "x")]


LAUGHS = "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(9))
LAUGHS = f'<!DOCTYPE tmx [<!ENTITY a0 "haha">{LAUGHS}]>\n'
OUTSIDE = '<!DOCTYPE tmx [<!ENTITY a SYSTEM "file:///etc/passwd">]>\n'


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (tmx(variant("en", "&a9;"), head=LAUGHS), ":4: damaged: limit"),
        (tmx(variant("en", "&a;"), head=OUTSIDE), ":4: damaged: undefined entity"),
        (tmx(variant("en", "&nbsp;")), ":3: damaged: undefined entity"),
        (tmx(variant("en", "&other;"), head=DOCTYPE), ":4: damaged: undefined entity"),
        (tmx(variant("en", "one"))[:-20], ":3: damaged"),
        (tmx("<tuv>"), ":3: damaged"),
        (tmx(variant("en", "caf\xe9")).encode("latin-1"), ":3: damaged"),
        ("one\teins\n", ":1: damaged"),
        ('<?xml version="1.0" encoding="klingon"?><tmx/>', ":1: damaged: unknown encoding"),
        ("", ":1: damaged"),
        (tmx(), "empty"),
    ],
)
def test_tmx_that_cannot_be_used(tmp_path, content, words):
    message = fault(tmp_path, "tmx", content, share=0.5)
    assert "mine.tmx" in message
    assert words in message


def test_tmx_does_not_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "READ_ROWS", 500)

    def peak(units: int) -> int:
        unit = f"<tu>{variant('en', 'word ' * 20)}{variant('de', 'Wort ' * 20)}</tu>\n"
        path = tmp_path / "big.tmx"
        path.write_text(f"<tmx><body>{unit * units}</body></tmx>")
        tracemalloc.start()
        counts = extract_corpus("tmx", [path], [{"languages": ("en", "de")}], ("en", "de"), tmp_path / "o")
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert counts["pairs"] == units
        return most

    # The first extraction in a process also loads libraries.
    peak(10)
    assert peak(20_000) < 1.2 * peak(4_000)
