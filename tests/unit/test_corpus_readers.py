"""Test the extraction of every kind of corpus, and every way in which a corpus can be broken."""

import gzip
import tracemalloc

import pytest
from archives import make_zip
from extraction import extract_files, pairs, sides

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus import readers
from paraphrastic_pipeline.corpus.readers import CorpusFile, extract_corpus


def paranmt(tmp_path, text: str | bytes) -> list[CorpusFile]:
    return [CorpusFile(make_zip(tmp_path / "p.zip", {"p/p.txt": text}), ("en",), ("p/p.txt",))]


def test_opus_sides_in_the_order_asked(tmp_path):
    path = make_zip(tmp_path / "de-en.zip", {"X.de-en.de": "eins\nzwei\n", "X.de-en.en": "one\ntwo\n"})
    names = ("X.de-en.de", "X.de-en.en", "X.en-de.de", "X.en-de.en")
    file = CorpusFile(path, ("de", "en"), names)
    counts, rows, _ = extract_files(tmp_path, "opus", [file], ("en", "de"))
    assert counts == {"lines": 2, "pairs": 2, "unreadable": 0}
    assert rows == [
        {"source": "one", "target": "eins", "line": 1},
        {"source": "two", "target": "zwei", "line": 2},
    ]


def test_opus_member_named_with_the_codes_in_the_other_order(tmp_path):
    path = make_zip(tmp_path / "x.zip", {"X.en-de.de": "eins\n", "X.en-de.en": "one\n"})
    names = ("X.de-en.de", "X.de-en.en", "X.en-de.de", "X.en-de.en")
    _, rows, _ = extract_files(tmp_path, "opus", [CorpusFile(path, ("de", "en"), names)], ("de", "en"))
    assert pairs(rows) == [("eins", "one")]


def test_aligned_reads_gzip_and_plain_files_by_language(tmp_path):
    english, german = tmp_path / "a.en.gz", tmp_path / "a.de"
    english.write_bytes(gzip.compress(b"one\ntwo", mtime=0))
    german.write_text("eins\nzwei\n")
    files = [CorpusFile(german, ("de",)), CorpusFile(english, ("en",))]
    _, rows, _ = extract_files(tmp_path, "aligned", files)
    assert pairs(rows) == [("one", "eins"), ("two", "zwei")]


def test_lines_end_at_newlines_only(tmp_path):
    source = "\ufeffone\u2028still one\x85\x0bone\r\n\ttwo\rtwo\n\nfour\x7f\n"
    _, rows, _ = extract_files(tmp_path, "aligned", sides(tmp_path, source, "1\n2\n3\n4\n"))
    assert pairs(rows) == [("one\u2028still one  one", "1"), (" two two", "2"), ("", "3"), ("four ", "4")]


def test_a_line_across_read_chunks_is_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("paraphrastic_pipeline.base.lines._CHUNK_BYTES", 3)
    source = "\ufeffzażółć gęślą\r\njaźń\n"
    _, rows, _ = extract_files(tmp_path, "aligned", sides(tmp_path, source, "a\nb"))
    assert pairs(rows) == [("zażółć gęślą", "a"), ("jaźń", "b")]


def test_manythings_takes_columns_by_language(tmp_path):
    text = "Hi.\t嗨。\tCC-BY\nRun.\t你用跑的。\n"
    file = CorpusFile(make_zip(tmp_path / "c.zip", {"cmn.txt": text}), ("en", "zh"), ("cmn.txt",))
    assert pairs(extract_files(tmp_path, "manythings", [file], ("en", "zh"))[1]) == [
        ("Hi.", "嗨。"),
        ("Run.", "你用跑的。"),
    ]
    assert pairs(extract_files(tmp_path, "manythings", [file], ("zh", "en"))[1])[0] == ("嗨。", "Hi.")


def test_manythings_with_one_column(tmp_path):
    file = CorpusFile(make_zip(tmp_path / "c.zip", {"c.txt": "a\tb\nalone\n"}), ("en", "zh"), ("c.txt",))
    with pytest.raises(InputError, match=r"c\.zip: c\.txt:2: 1 columns, expected text"):
        extract_files(tmp_path, "manythings", [file], ("en", "zh"))


def test_paranmt_keeps_the_files_own_score(tmp_path):
    _, rows, _ = extract_files(
        tmp_path, "paranmt", paranmt(tmp_path, "a b\tb a\t0.75\nc\t\t-1\n"), ("en", "en")
    )
    assert rows == [
        {"source": "a b", "target": "b a", "line": 1, "paraphrase_score": 0.75},
        {"source": "c", "target": "", "line": 2, "paraphrase_score": -1.0},
    ]


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("a\tb", "2 columns, expected reference, paraphrase and score"),
        ("a\tb\t0.5\t0.5", "4 columns, expected"),
        ("", "1 columns, expected"),
        ("a\tb\thigh", "the score 'high' is not a number"),
        ("a\tb\t", "the score '' is not a number"),
        ("a\tb\tnan", "the score 'nan' is not a number"),
        ("a\tb\t0_9", "the score '0_9' is not a number"),
        ("a\tb\t0,9", "the score '0,9' is not a number"),
    ],
)
def test_paranmt_bad_line(tmp_path, line, cause):
    with pytest.raises(InputError) as caught:
        extract_files(tmp_path, "paranmt", paranmt(tmp_path, f"a\tb\t0.5\n{line}\na\tb\t0.5\n"), ("en", "en"))
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'p.zip'}: p/p.txt:2: ")
    assert cause in message
    assert not (tmp_path / "pairs.parquet").exists()


def test_captions_pair_every_two_sentences_and_favour_no_side(tmp_path):
    texts = ["".join(f"{who}{line}\n" for line in range(4)) for who in "abc"]
    files = sides(tmp_path, *texts, languages=("en",) * 3)
    counts, rows, _ = extract_files(tmp_path, "captions", files, ("en", "en"))
    assert counts == {"lines": 4, "pairs": 12, "unreadable": 0}
    assert [row["line"] for row in rows] == [1] * 3 + [2] * 3 + [3] * 3 + [4] * 3
    for line in range(4):
        of_line = {frozenset(pair) for pair in pairs(rows)[3 * line : 3 * line + 3]}
        assert of_line == {frozenset(f"{who}{line}" for who in two) for two in ("ab", "ac", "bc")}
    sources = [source[0] for source, _ in pairs(rows)]
    assert {who: sources.count(who) for who in "abc"} == {"a": 4, "b": 4, "c": 4}
    # Every other pair of a line is swapped.
    assert pairs(rows)[:6] == [
        ("b0", "a0"), ("a0", "c0"), ("c0", "b0"), ("a1", "b1"), ("c1", "a1"), ("b1", "c1")
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["aligned", "captions"])
def test_sides_of_unequal_length_name_both_counts(tmp_path, kind):
    files = sides(tmp_path, "1\n2\n3\n4\n", "1\n2\n", languages=("en", "de"))
    with pytest.raises(InputError) as caught:
        extract_files(tmp_path, kind, files, ("en", "de"))
    assert str(caught.value) == (
        f"sides of unequal length: {tmp_path / 'side0'} has 4 lines, {tmp_path / 'side1'} has 2 lines"
    )


def test_unequal_sides_counted_when_the_second_is_longer(tmp_path):
    files = sides(tmp_path, "1\n", "1\n2\n3")
    with pytest.raises(InputError, match=r"side0 has 1 lines, \S*side1 has 3 lines"):
        extract_files(tmp_path, "aligned", files)


def test_empty_corpus(tmp_path):
    with pytest.raises(InputError, match=r"side0, \S*side1: the corpus is empty: no lines"):
        extract_files(tmp_path, "aligned", sides(tmp_path, "", ""))
    assert not (tmp_path / "pairs.parquet").exists()


MAX_LINE = 1 << 20


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_line_is_too_long_from_the_first_byte_past_the_bound(tmp_path, end):
    lines = [
        b"x" * MAX_LINE,
        b"x" * (MAX_LINE + 1),
        "é".encode() * (MAX_LINE // 2),
        "é".encode() * (MAX_LINE // 2) + b"x",
        "\x85".encode() * (MAX_LINE // 2 + 1),
        b"x" * (5 * MAX_LINE // 2),
        b"last",
        b"x" * (3 * MAX_LINE),
    ]
    files = sides(tmp_path, b"\xef\xbb\xbf" + end.join(lines), "a\n" * len(lines))
    counts, rows, _ = extract_files(tmp_path, "aligned", files, bound=5)
    assert counts == {"lines": 8, "pairs": 3, "unreadable": 5}
    assert [(row["line"], len(row["source"])) for row in rows] == [(1, MAX_LINE), (3, MAX_LINE // 2), (7, 4)]
    with pytest.raises(InputError, match=r"side0:8: longer than 1048576 bytes \(5 unreadable rows; "):
        extract_files(tmp_path, "aligned", files, bound=4)


def test_a_line_without_end_does_not_fill_the_memory(tmp_path):
    size = 64 * MAX_LINE
    files = sides(tmp_path, "one\n" + "x" * size + "\nthree", "1\n2\n3\n")
    tracemalloc.start()
    counts, rows, _ = extract_files(tmp_path, "aligned", files, bound=1)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (counts["unreadable"], pairs(rows)) == (1, [("one", "1"), ("three", "3")])
    assert most < size / 8


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_text_in_another_unicode_encoding_is_told_by_its_mark(tmp_path, encoding):
    files = sides(tmp_path, "1\n2\n", "\ufeffeins\nzwei\n".encode(encoding))
    with pytest.raises(InputError, match=rf"side1: not UTF-8 but {encoding[:6].upper()}$"):
        extract_files(tmp_path, "aligned", files, bound=100)


@pytest.mark.parametrize("chunk", [2, 1 << 20])
def test_a_line_with_a_nul_cannot_be_read(tmp_path, monkeypatch, chunk):
    monkeypatch.setattr("paraphrastic_pipeline.base.lines._CHUNK_BYTES", chunk)
    files = sides(tmp_path, "one\nt\0wo\nthree", "1\n2\n3\n")
    counts, rows, _ = extract_files(tmp_path, "aligned", files, bound=1)
    assert (counts["unreadable"], pairs(rows)) == (1, [("one", "1"), ("three", "3")])
    with pytest.raises(InputError, match=r"side0:2: contains a NUL character, which is not valid in text"):
        extract_files(tmp_path, "aligned", files)


@pytest.mark.parametrize(
    ("kind", "member"), [("manythings", "a\tb\n"), ("paranmt", "a\tb\t1\n"), ("opus", "a\n")]
)
def test_members_of_archives_in_another_encoding(tmp_path, kind, member):
    languages = ("en", "en") if kind == "paranmt" else ("en", "de")
    names = ("a.en", "a.de") if kind == "opus" else ("a.en",)
    path = make_zip(tmp_path / "a.zip", dict.fromkeys(names, member.encode("utf-16")))
    file = CorpusFile(path, tuple(dict.fromkeys(languages)), names)
    with pytest.raises(InputError, match="not UTF-8 but UTF-16"):
        extract_files(tmp_path, kind, [file], languages, bound=100)
    path = make_zip(tmp_path / "a.zip", dict.fromkeys(names, member.encode("utf-16-le")))
    with pytest.raises(InputError, match=r":1: contains a NUL character"):
        extract_files(tmp_path, kind, [file], languages)


def test_truncated_zip(tmp_path, mirror):
    whole = (mirror / "phontron.com/data/para-nmt-50m.zip").read_bytes()
    path = tmp_path / "para-nmt-50m.zip"
    path.write_bytes(whole[: len(whole) // 2])
    file = CorpusFile(path, ("en",), ("para-nmt-50m/para-nmt-50m.txt",))
    with pytest.raises(InputError) as caught:
        extract_files(tmp_path, "paranmt", [file], ("en", "en"))
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == [path]


def test_member_larger_than_its_bound(tmp_path):
    file = paranmt(tmp_path, "a\tb\t0.5\n" * 1000)
    with pytest.raises(InputError, match="bound of 100"):
        extract_corpus("paranmt", file, ("en", "en"), tmp_path / "o.parquet", max_member_bytes=100)


def test_small_blocks_give_the_same_bytes(tmp_path, monkeypatch):
    file = paranmt(tmp_path, "".join(f"source {n}\ttarget {n}\t0.{n}\n" for n in range(20)))
    written = []
    for rows in (3, 1000):
        monkeypatch.setattr(readers, "READ_ROWS", rows)
        extract_files(tmp_path, "paranmt", file, ("en", "en"))
        written.append((tmp_path / "pairs.parquet").read_bytes())
    assert written[0] == written[1]


def test_real_corpora(tmp_path, mirror):
    folder = mirror / "object.pouta.csc.fi/OPUS-Tanzil/v1/moses"
    names = ("Tanzil.en-zh.en", "Tanzil.en-zh.zh")
    file = CorpusFile(folder / "en-zh.txt.zip", ("en", "zh"), names)
    counts, rows, _ = extract_files(tmp_path, "opus", [file], ("en", "zh"))
    assert counts == {"lines": 6236, "pairs": 6236, "unreadable": 0}
    file = CorpusFile(mirror / "www.manythings.org/anki/tur-eng.zip", ("en", "tr"), ("tur.txt",))
    counts, rows, _ = extract_files(tmp_path, "manythings", [file], ("tr", "en"))
    assert counts["pairs"] > 10_000
    assert all("\t" not in row["source"] + row["target"] for row in rows)
