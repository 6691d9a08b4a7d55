"""Test how corpora in archives and in aligned files are read, and what becomes of lines that are no text."""

import gzip
import tracemalloc

import pytest
from archives import make_zip
from extraction import extract_files, pairs, sides

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus.readers import CorpusFile

MAX_LINE = 1 << 20


def paranmt(tmp_path, text: str | bytes) -> list[CorpusFile]:
    return [
        (make_zip(tmp_path / "p.zip", {"p/p.txt": text}), {"languages": ("en",), "members": ("p/p.txt",)})
    ]


@pytest.mark.parametrize("codes", ["de-en", "en-de"])
def test_opus_sides_in_the_order_asked(tmp_path, codes):
    path = make_zip(tmp_path / "x.zip", {f"X.{codes}.de": "eins\nzwei\n", f"X.{codes}.en": "one\ntwo\n"})
    names = ("X.de-en.de", "X.de-en.en", "X.en-de.de", "X.en-de.en")
    about = {"languages": ("de", "en"), "members": names}
    counts, rows, _ = extract_files(tmp_path, "opus", [(path, about)], ("en", "de"))
    assert counts == {"lines": 2, "pairs": 2, "unreadable": 0}
    assert rows[1] == {"source": "two", "target": "zwei", "line": 2}


def test_aligned_reads_gzip_and_plain_files_by_language(tmp_path):
    english, german = tmp_path / "a.en.gz", tmp_path / "a.de"
    english.write_bytes(gzip.compress(b"one\ntwo", mtime=0))
    german.write_text("eins\nzwei\n")
    files = [(german, {"languages": ("de",)}), (english, {"languages": ("en",)})]
    _, rows, _ = extract_files(tmp_path, "aligned", files)
    assert pairs(rows) == [("one", "eins"), ("two", "zwei")]


def test_lines_end_at_newlines_only(tmp_path):
    source = "\ufeffżółw\u2028still one\x85\x0bone\r\n\ttwo\rtwo\n\nfour\x7f\n"
    _, rows, _ = extract_files(tmp_path, "aligned", sides(tmp_path, source, "1\n2\n3\n4\n"))
    assert pairs(rows) == [("żółw\u2028still one  one", "1"), (" two two", "2"), ("", "3"), ("four ", "4")]


def test_manythings_and_paranmt_take_their_columns(tmp_path):
    text = "Hi.\t嗨。\tCC-BY\nRun.\t你用跑的。\n"
    about = {"languages": ("en", "zh"), "members": ("cmn.txt",)}
    file = make_zip(tmp_path / "c.zip", {"cmn.txt": text}), about
    _, rows, _ = extract_files(tmp_path, "manythings", [file], ("zh", "en"))
    assert pairs(rows) == [("嗨。", "Hi."), ("你用跑的。", "Run.")]
    file = paranmt(tmp_path, "a b\tb a\t0.75\nc\t\t-1\n")
    _, rows, _ = extract_files(tmp_path, "paranmt", file, ("en", "en"))
    assert rows[1] == {"source": "c", "target": "", "line": 2, "paraphrase_score": -1.0}


@pytest.mark.parametrize(
    "line", ["a\tb", "a\tb\t0.5\t0.5", "", "a\tb\thigh", "a\tb\t", "a\tb\tnan", "a\tb\t0_9"]
)
def test_a_bad_line_of_paranmt_stops_or_is_left_out(tmp_path, line):
    file = paranmt(tmp_path, f"a\tb\t0.5\n{line}\na\tb\t0.5\n")
    with pytest.raises(InputError, match=r"p\.zip: p/p\.txt:2: .*1 of 3 rows"):
        extract_files(tmp_path, "paranmt", file, ("en", "en"))
    assert not (tmp_path / "pairs.parquet").exists()
    counts, _, places = extract_files(tmp_path, "paranmt", file, ("en", "en"), share=0.4)
    assert counts == {"lines": 3, "pairs": 2, "unreadable": 1}
    assert places[0][1] == 2


def test_captions_pair_every_two_sentences_and_favour_no_side(tmp_path):
    texts = ["".join(f"{who}{line}\n" for line in range(4)) for who in "abc"]
    files = sides(tmp_path, *texts, languages=("en",) * 3)
    _, rows, _ = extract_files(tmp_path, "captions", files, ("en", "en"))
    for line in range(4):
        of_line = {frozenset(pair) for pair in pairs(rows)[3 * line : 3 * line + 3]}
        assert of_line == {frozenset(f"{who}{line}" for who in two) for two in ("ab", "ac", "bc")}
    sources = [source[0] for source, _ in pairs(rows)]
    assert {who: sources.count(who) for who in "abc"} == {"a": 4, "b": 4, "c": 4}


@pytest.mark.parametrize("kind", ["aligned", "captions"])
@pytest.mark.parametrize(("one", "other"), [("1\n2\n3\n4\n", b"1\n\xff\n"), ("1\n", "1\n2\n3")])
def test_sides_of_unequal_length_name_both_counts(tmp_path, kind, one, other):
    counts = r"side0 has 4 lines, \S*side1 has 2" if len(one) > 2 else r"side0 has 1 lines, \S*side1 has 3"
    with pytest.raises(InputError, match=counts):
        extract_files(tmp_path, kind, sides(tmp_path, one, other), share=1)


def test_a_line_that_is_no_text_is_left_out_on_all_sides(tmp_path):
    files = sides(tmp_path, b"1\ncaf\xe9\n3\n4\xff\nf\0ive", b"eins\nzwei\ndrei\n\xff\nx\n")
    counts, rows, places = extract_files(tmp_path, "aligned", files, share=0.6)
    assert [(row["line"], row["target"]) for row in rows] == [(1, "eins"), (3, "drei")]
    assert counts == {"lines": 5, "pairs": 2, "unreadable": 3}
    assert places == [("side0", 2), ("side0", 4), ("side0", 5)]
    with pytest.raises(InputError, match=r"side0:2: .*UTF-8.*3 of 5"):
        extract_files(tmp_path, "aligned", files, share=0.59)


def test_the_log_names_ten_rows(tmp_path):
    files = sides(tmp_path, b"x\n" * 1000 + b"\xff\n" * 11, "y\n" * 1011)
    assert extract_files(tmp_path, "aligned", files, share=0.011)[0]["unreadable"] == 11


@pytest.mark.parametrize(
    ("text", "words"),
    [("", r"side0, \S*side1: .*empty"), ("\ufeffeins\n".encode("utf-16-le"), "side0:1: .*NUL")],
)
def test_files_without_text(tmp_path, text, words):
    with pytest.raises(InputError, match=words):
        extract_files(tmp_path, "aligned", sides(tmp_path, text, text))
    assert not (tmp_path / "pairs.parquet").exists()


def test_longer_lines_than_a_mebibyte_are_left_out(tmp_path):
    good, bad = "é" * (MAX_LINE - 1), "é" * MAX_LINE
    files = sides(tmp_path, f"{good}\n{bad}\nlast\n{bad * 2}x", "a\n" * 4)
    _, rows, places = extract_files(tmp_path, "aligned", files, share=0.5)
    assert pairs(rows) == [(good, "a"), ("last", "a")]
    assert [line for _, line in places] == [2, 4]


def test_a_line_without_end_does_not_fill_the_memory(tmp_path):
    size = 64 * MAX_LINE
    files = sides(tmp_path, "one\n" + "x" * size + "\nthree", "1\n2\n3\n")
    tracemalloc.start()
    _, rows, _ = extract_files(tmp_path, "aligned", files, share=0.4)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert pairs(rows) == [("one", "1"), ("three", "3")]
    assert most < size / 8
