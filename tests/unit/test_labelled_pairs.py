"""Test pairs of one's own: their labels, headers and columns, and what a bad pair costs."""

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from paraphrastic.base.errors import InputError
from paraphrastic.base.rows import Source
from paraphrastic.cli import main
from paraphrastic.quality.labelled_pairs import read_pairs


@pytest.mark.parametrize("headers", [(False, False), (True, True), (False, True), (True, False)])
def test_labels_of_a_file_of_their_own(tmp_path: Path, headers: tuple[bool, bool]) -> None:
    """A header above the labels alone is left out; if both have one, that could also be a missing label."""
    pairs, labels = tmp_path / "pairs.tsv", tmp_path / "labels.txt"
    table = tmp_path / "table.tsv"
    table.write_text("one\tother\tis_duplicate\na\tb\t1\nc\td\t0\n")
    assert read_pairs(str(table), labels=True).sources == ["a", "c"]
    pairs.write_text(headers[0] * "one\tother\n" + "a\tb\nc\td\n")
    labels.write_text(headers[1] * "label\n" + "1\n0\n")
    source = Source(str(pairs))
    if headers[0]:
        cause = "; 'label' is taken for a header, so if both have one, .*--columns" if headers[1] else ""
        with pytest.raises(
            InputError, match=rf"labels.txt has 2 labels, but .*pairs.tsv has 3 pairs{cause}$"
        ):
            read_pairs(source, labels=str(labels))
        # A header that is named is known.
        source = replace(source, columns=["one", "other"])
    read = read_pairs(source, labels=str(labels))
    assert read.sources == ["a", "c"]
    assert read.labels.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("content", "labels", "message"),
    [
        ("", False, "has no pairs"),
        ("a\n", False, ":1: 1 columns, where 2 are expected$"),
        ("a\tb\n\nc\td\t1\n", False, ":3: 3 columns, where 2 are expected; if the third one has labels, "),
        ("a\tb\tc\n", True, ":1: the label 'c' is not a number"),
        ("a\tb\tnan\n", True, ":1: the label 'nan' is not a number"),
        ("a\t \n", False, ":1: a sentence is empty"),
        ("a\tb\t1\nc\td\t1\n", True, "all 2 labels are 1"),
    ],
)
def test_bad_pairs_are_named(tmp_path: Path, content: str, labels: bool, message: str) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text(content)
    with pytest.raises(InputError, match=message):
        read_pairs(str(file), labels=labels)


def test_a_bad_pair_costs_itself_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, labels, found = tmp_path / "pairs.tsv", tmp_path / "labels.txt", tmp_path / "found.json"
    words = ["evaluate", "--model", "en", "--pairs", str(file), "--output", str(found)]
    good = ["It rains.\tIt is raining.\t1", "A dog runs.\tTea is hot.\t0"]
    bad = ["one", "It rains.\t \t1", "It rains.\tTea is hot.\tno"]
    causes = [
        "pairs.tsv:2: 1 columns, where 3 are expected",
        "pairs.tsv:4: a sentence is empty",
        "pairs.tsv:6: the label 'no' is not a number",
    ]
    file.write_text("\n".join([good[0], bad[0], "", bad[1], good[1], bad[2]]))
    assert main([*words, "--labels", "--strict"]) == 1
    assert causes[0] in capsys.readouterr().err
    assert not found.exists()
    assert main([*words, "--labels"]) == 0
    assert [line.split("/")[-1] for line in capsys.readouterr().err.splitlines()] == causes
    measured = json.loads(found.read_text())
    assert (measured["n"], measured["of"], measured["unreadable"]) == (2, 2, 3)
    file.write_text("\n".join(good))
    assert main([*words, "--labels"]) == 0
    clean = json.loads(found.read_text())
    assert (clean["models"], clean["digest"]) == (measured["models"], measured["digest"])
    # Labels of a file of their own keep their places beside pairs that cannot be read, and have faults, too.
    pairs = [line.rpartition("\t")[0] for line in good]
    file.write_text("\n".join([pairs[0], bad[0], pairs[1], pairs[1]]))
    labels.write_bytes(b"1\nno\n0\n\xff\n")
    assert main([*words, "--labels", str(labels)]) == 0
    assert "labels.txt:4: not UTF-8" in capsys.readouterr().err
    assert json.loads(found.read_text())["digest"] == clean["digest"]


def test_a_file_without_a_good_pair_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text("a\tb\tno\n" * 3)
    for labels, cause in ((True, "the label 'no' is not"), (False, "3 columns, where 2 .* give --labels")):
        with pytest.raises(InputError, match=f"pairs.tsv: no row can be read; .*pairs.tsv:1: {cause}"):
            read_pairs(Source(str(file), on_fault=lambda *_: None), labels=labels)
    file.write_text("a?\tb\tno\n" * 300 + "a\tb\t1\n" * 100 + "a\tb\t0\n" * 100)
    with pytest.raises(InputError, match=r"300 of 500 rows cannot be read; .*pairs.tsv:1: the label 'no'"):
        read_pairs(Source(str(file), on_fault=lambda *_: None), labels=True)
    file.write_text("a?\tb\tno\n" * 300 + "a\tb\t1\n" * 500 + "a\tb\t0\n" * 500)
    assert read_pairs(Source(str(file), on_fault=lambda *_: None), labels=True).unreadable == 300


@pytest.mark.parametrize("kind", ["two", "tsv", "csv"])
def test_labels_of_a_file_stay_beside_their_pairs(tmp_path: Path, kind: str) -> None:
    """A blank or missing label costs its own pair, or is an error, and never moves the others."""
    sides = [[f"{word} is number {number}." for number in range(5)] for word in ("This", "That")]
    if kind == "two":
        for name, sentences in zip("ab", sides, strict=True):
            (tmp_path / f"{name}.txt").write_text("".join(f"{sentence}\n" for sentence in sentences))
        source = Source(str(tmp_path / "a.txt"), others=[str(tmp_path / "b.txt")])
    else:
        rows = ["one,other", *map(",".join, zip(*sides, strict=True))]
        lines = rows if kind == "csv" else [row.replace(",", "\t") for row in rows[1:]]
        (tmp_path / f"p.{kind}").write_text("".join(f"{line}\n" for line in lines))
        source = Source(str(tmp_path / f"p.{kind}"))
    labels = tmp_path / "labels.txt"
    told: list[str] = []
    for content, expected in (
        ("5\n\n3\n2\n1\n", {0: 5, 2: 3, 3: 2, 4: 1}),
        ("nan\n4\n3\n2\n1\n", {1: 4, 2: 3, 3: 2, 4: 1}),
        ("score\n5\n4\n3\n2\n\n", {0: 5, 1: 4, 2: 3, 3: 2}),
        ("score\n\n4\n3\n2\n1\n\n\n", {1: 4, 2: 3, 3: 2, 4: 1}),
        ("score\n5\n4\nx\n2\n1\n", {0: 5, 1: 4, 3: 2, 4: 1}),
    ):
        labels.write_text(content)
        tell = replace(source, on_fault=lambda place, _: told.append(place))
        pairs = read_pairs(tell, labels=str(labels))
        assert dict(zip(pairs.sources, pairs.labels.tolist(), strict=True)) == {
            sides[0][number]: label for number, label in expected.items()
        }
        assert (pairs.unreadable, len(told)) == (1, 1)
        told.clear()
    labels.write_text("score\n4\n3\n2\n1\n")
    with pytest.raises(InputError, match=r"labels\.txt has 4 labels, but .* has 5 pairs"):
        read_pairs(source, labels=str(labels))


def test_words_are_no_header_above_labels_that_are_too_few(tmp_path: Path) -> None:
    pairs, labels = tmp_path / "pairs.tsv", tmp_path / "labels.txt"
    pairs.write_text("cat\tKatze\ndog\tHund\nhouse\tAuto\n")
    labels.write_text("label\n1\n0\n")
    with pytest.raises(InputError, match=r"labels\.txt has 2 labels, .*pairs\.tsv has 3 pairs; 'label' is"):
        read_pairs(str(pairs), labels=str(labels))


def test_blank_lines_at_the_ends_of_files_are_no_pairs(tmp_path: Path) -> None:
    for name, text in (("a", "x\ny\n\n"), ("b", "z\nw\n\n"), ("labels", "label\n1\n0\n")):
        (tmp_path / name).write_text(text)
    source = Source(str(tmp_path / "a"), others=[str(tmp_path / "b")])
    pairs = read_pairs(source, labels=str(tmp_path / "labels"))
    assert (pairs.sources, pairs.labels.tolist(), pairs.unreadable) == (["x", "y"], [1, 0], 0)


def test_bad_pairs_and_bad_labels_are_counted_together(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("one\n" * 80 + "a\tb\n" * 220)
    (tmp_path / "l.txt").write_text("1\n" * 80 + "?\n" * 100 + "1\n0\n" * 60)
    with pytest.raises(InputError, match=r"p\.txt: 180 of 300 rows cannot be read; "):
        read_pairs(Source(str(tmp_path / "p.txt"), on_fault=lambda *_: None), labels=str(tmp_path / "l.txt"))


def test_a_sentence_with_a_bad_label_is_no_header(tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text("It rains today.\tIt is raining.\tmaybe\na\tb\t1\nc\td\t0\n")
    with pytest.raises(InputError, match=r"pairs\.tsv:1: the label 'maybe' is not a number"):
        read_pairs(str(file), labels=True)


def test_decimal_labels(tmp_path: Path) -> None:
    same = pl.Series(["1.0", "0.5"]).cast(pl.Decimal(3, 1))
    pl.DataFrame({"a": ["x", "y"], "b": ["z", "w"], "same": same}).write_parquet(tmp_path / "p.parquet")
    assert read_pairs(str(tmp_path / "p.parquet"), labels=True).labels.tolist() == [1, 0.5]


def test_truth_values_are_labels(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": ["x", "y"], "b": ["z", "w"], "same": [True, False]})
    frame.write_parquet(tmp_path / "p.parquet")
    frame.write_ndjson(tmp_path / "p.jsonl")
    (tmp_path / "p.csv").write_text("a,b,same\nx,z,True\ny,w,False\n")
    for kind in ("parquet", "jsonl", "csv"):
        for columns in (["a", "b", "same"], []):
            pairs = read_pairs(Source(str(tmp_path / f"p.{kind}"), columns), labels=True)
            assert (pairs.sources, pairs.targets, pairs.labels.tolist()) == (["x", "y"], ["z", "w"], [1, 0])


def test_the_first_row_of_a_table_with_names_is_no_header(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("a,b,same\nx,z,no\ny,w,1\nu,v,0\n")
    noted: list[str] = []
    source = Source(
        str(tmp_path / "p.csv"), ["a", "b", "same"], on_fault=lambda place, _: noted.append(place)
    )
    pairs = read_pairs(source)
    assert (pairs.sources, pairs.unreadable) == (["y", "u"], 1)
    assert noted == [f"{tmp_path}/p.csv:2"]
    # By their numbers, all rows are read, and the first one is a header.
    assert read_pairs(replace(source, columns=["1", "2", "3"])).unreadable == 1


def test_pairs_of_two_files(tmp_path: Path) -> None:
    first, second, labels = (tmp_path / name for name in ("a.txt", "b.txt", "labels"))
    first.write_text("x\ny\n")
    second.write_text("z\nw\n")
    labels.write_text("1\n0\n")
    pairs = read_pairs(Source(str(first), others=[str(second)]), labels=str(labels))
    assert (pairs.sources, pairs.targets, pairs.labels.tolist()) == (["x", "y"], ["z", "w"], [1, 0])
    with pytest.raises(InputError, match=r"b\.txt: has the second sentences, so labels have a file"):
        read_pairs(Source(str(first), others=[str(second)]), labels=True)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_pairs_and_labels_of_a_table(tmp_path: Path, kind: str) -> None:
    frame = pl.DataFrame({"n": [1, 2], "a": ["one, two", "three"], "b": ["1 2", "4"], "same": [1, 0]})
    path = tmp_path / f"pairs.{kind}"
    {"csv": frame.write_csv, "jsonl": frame.write_ndjson, "parquet": frame.write_parquet}[kind](path)
    pairs = read_pairs(Source(str(path), ["a", "b", "same"]))
    assert pairs.sources == ["one, two", "three"]
    assert pairs.targets == ["1 2", "4"]
    assert pairs.labels.tolist() == [1, 0]
    assert read_pairs(Source(str(path), ["b", "a"])).labels is None
    (tmp_path / "labels.txt").write_text("0\n1\n")
    labelled = read_pairs(Source(str(path), ["b", "a"]), labels=str(tmp_path / "labels.txt"))
    assert labelled.labels.tolist() == [0, 1]
    with pytest.raises(InputError, match=f"pairs.{kind}.*(no column 'c'|c: is missing)"):
        read_pairs(Source(str(path), ["a", "c"]))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b,same\nx,y,1\nx,,0\n", "pairs.csv:3: a sentence is empty"),
        ("a,b,same\nx,y,1\nx,z,no\n", "pairs.csv:3: the label 'no' is not a number"),
        ("a,b,same\nx,y,1\nx,z\n", "pairs.csv:3: 2 columns, the header has 3"),
        ("a,b,same\n", "pairs.csv: has no pairs"),
    ],
)
def test_bad_tables_are_named(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "pairs.csv").write_text(content)
    with pytest.raises(InputError) as error:
        read_pairs(Source(str(tmp_path / "pairs.csv"), ["a", "b", "same"]))
    assert message in str(error.value)


@pytest.mark.parametrize("options", [["a"], ["a", "b", "c", "d"], ["a", "b", "--labels"]])
def test_other_numbers_of_columns_are_refused(
    tmp_path: Path, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["evaluate", "--model", "en", "--pairs", str(tmp_path / "p.csv"), "--columns", *options]
    assert main(words) == 1
    assert "--columns: " in capsys.readouterr().err


def test_a_large_file_is_sampled_with_its_labels(tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text("".join(f"a{number}\tb{number}\t{number}\n" for number in range(100)))
    read = read_pairs(str(file), labels=True, most=10)
    assert (len(read.sources), read.all_pairs) == (10, 100)
    assert [f"a{label:g}" for label in read.labels] == read.sources
    assert [f"b{label:g}" for label in read.labels] == read.targets
    assert read_pairs(str(file), labels=True, most=10).sources == read.sources
