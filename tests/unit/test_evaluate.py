"""Test `paraphrastic evaluate`: retrieval, labels, thresholds, and what takes a threshold from its file."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from paraphrastic.base.arrays import Float32
from paraphrastic.base.errors import InputError
from paraphrastic.base.rows import Source
from paraphrastic.cli import main
from paraphrastic.model.folder import open_folder
from paraphrastic.model.shipped import shipped_models
from paraphrastic.model.system import System
from paraphrastic.quality.evaluate_files import evaluate_pairs, open_place
from paraphrastic.quality.labelled_pairs import read_pairs
from paraphrastic.quality.retrieval import PairVectors, wilson
from paraphrastic.quality.thresholds import Thresholds, auc, read_threshold

ROOT = Path(__file__).resolve().parents[2]
TATOEBA = ROOT / "data" / "sample" / "tatoeba"


def toy_system(vectors: dict[str, list[float]]) -> System:
    def embed(sentences: list[str], language: str | None) -> Float32:
        return np.array([vectors[sentence] for sentence in sentences], np.float32)

    return System("toy", 2, "digest of toy", embed)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def german(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pairs of the sample's German and English sentences."""
    sides = [(TATOEBA / f"tatoeba.deu-eng.{code}").read_text("utf-8").splitlines() for code in ("deu", "eng")]
    path = tmp_path_factory.mktemp("pairs") / "pairs.tsv"
    path.write_text("".join(f"{de}\t{en}\n" for de, en in zip(*sides, strict=True)), "utf-8")
    return path


def test_retrieval_agrees_with_numpy(german: Path) -> None:
    model = open_folder(shipped_models()["en-de-es-fr"])
    rows = [line.split("\t") for line in german.read_text("utf-8").splitlines()]
    x, y = (
        model.embed_raw_text([row[side] for row in rows], normalize=True).astype(np.float64)
        for side in (0, 1)
    )
    cosines = x @ y.T
    output = german.with_name("q.json")
    assert main(["evaluate", "--model", "en-de-es-fr", "--pairs", str(german), "--output", str(output)]) == 0
    (result,) = json.loads(output.read_text())["models"]
    for name, scores in (("forward", cosines), ("backward", cosines.T)):
        order = np.argsort(-scores, axis=1, kind="stable")
        place = np.argmax(order == np.arange(len(rows))[:, None], axis=1)
        assert result[name]["nearest"] == pytest.approx((place == 0).mean())
        assert result[name]["among_10"] == pytest.approx((place < 10).mean())
        assert result[name]["interval"][0] < result[name]["nearest"] < result[name]["interval"][1]


def test_any_partner_of_a_repeated_sentence_is_right() -> None:
    system = toy_system({"a": [1, 0], "b": [0, 1], "x": [1, 0.1], "y": [1, 0.2], "z": [0.1, 1]})
    vectors = PairVectors(system, (["a", "a", "b"], ["x", "y", "z"]), name="pairs")
    forward, backward = vectors.retrieve()
    assert forward.hits.tolist() == [True, True, True]
    assert backward.hits.tolist() == [True, True, True]
    assert forward.found.shape == (3, 3), "there are only three sentences to find"


def test_other_sentences_hide_partners_and_do_not_count() -> None:
    system = toy_system(
        {"a": [1, 0], "b": [0, 1], "x": [1, 0.5], "z": [0, 1], "near": [1, 0.1], "far": [-1, -1]}
    )
    others = (["far"], ["near", "x"])
    vectors = PairVectors(system, (["a", "b"], ["x", "z"]), name="pairs", others=others)
    assert [each.hits.tolist() for each in vectors.retrieve()] == [[True, True], [True, True]]
    forward, backward = vectors.retrieve(among_others=True)
    assert (forward.hits.tolist(), backward.hits.tolist()) == ([False, True], [True, True])
    assert forward.hits_among_nearest.tolist() == [True, True]
    assert [forward.candidates[place] for place in forward.found[0][:2]] == ["near", "x"]


def test_cosines_of_pairs_and_of_sentences_without_a_vector() -> None:
    vectors = PairVectors(
        toy_system({"a": [1, 0], "b": [1, 1], "": [0, 0]}), (["a", "a"], ["b", ""]), name="p"
    )
    np.testing.assert_allclose(vectors.cosines(), [0.5**0.5, 0], atol=1e-7)


@pytest.mark.parametrize(("hits", "n", "low", "high"), [(0, 10, 0.0, 0.277533), (7, 10, 0.396778, 0.892209)])
def test_intervals_of_shares(hits: int, n: int, low: float, high: float) -> None:
    # The figures are those of R: prop.test(hits, n, correct = FALSE).
    assert wilson(hits, n) == pytest.approx((low, high), abs=1e-5)


@pytest.mark.parametrize(
    ("scores", "right", "area"),
    [
        ([0.1, 0.2, 0.3], [0, 1, 1], 1.0),
        ([0.3, 0.2, 0.1], [0, 1, 1], 0.0),
        ([0.5, 0.5, 0.1], [1, 0, 0], 0.75),
    ],
)
def test_area_under_the_curve(scores: list[float], right: list[int], area: float) -> None:
    assert auc(np.array(scores), np.array(right, bool)) == pytest.approx(area)


def brute_thresholds(scores: np.ndarray, right: np.ndarray, wanted: int) -> dict[float, tuple[float, float]]:
    """Precision and F1 at every score, with the threshold at the score itself."""
    found = {}
    for score in np.unique(scores):
        accepted = scores >= score
        hits = int(right[accepted].sum())
        found[float(score)] = (hits / accepted.sum(), 2 * hits / (accepted.sum() + wanted))
    return found


@pytest.mark.parametrize("seed", range(20))
def test_the_threshold_is_the_best_of_all(seed: int) -> None:
    generator = np.random.default_rng(seed)
    # Few different values make ties.
    scores = generator.integers(0, 8, 30) / 10
    right = generator.random(30) < scores
    right[0] = True
    wanted = int(right.sum()) + seed % 3
    thresholds, every = Thresholds(scores, right, wanted), brute_thresholds(scores, right, wanted)
    assert thresholds.best().f1 == pytest.approx(max(f1 for _, f1 in every.values()))
    able = [score for score, (precision, _) in every.items() if precision >= 0.75]
    with_precision = thresholds.best(0.75)
    if able:
        assert with_precision.precision >= 0.75
        assert (scores >= with_precision.threshold).sum() == (scores >= min(able)).sum()
        # It leaves room on both sides.
        assert with_precision.threshold <= min(able)
    else:
        assert with_precision is None


def test_rows_of_the_table_count_scores_at_the_threshold() -> None:
    thresholds = Thresholds(np.array([0.1, 0.15, 0.2]), np.array([False, True, True]), 4)
    assert [(row.threshold, row.precision, row.recall) for row in thresholds.table()] == [
        (0.1, 2 / 3, 0.5),
        (0.15, 1.0, 0.5),
        (0.2, 1.0, 0.25),
    ]


def test_labels_of_two_kinds(tmp_path: Path) -> None:
    system = toy_system({"a": [1, 0], "b": [0, 1], "c": [1, 1]})
    file = tmp_path / "pairs.tsv"
    file.write_text("a\ta\t1\na\tb\t0\na\tc\t1\nb\tb\t1\n")
    result = evaluate_pairs(system, read_pairs(str(file), labels=True), model="toy")
    assert result["auc"] == 1
    assert 0 < result["threshold"] < 0.5**0.5
    file.write_text("a\ta\t5\na\tb\t0.5\na\tc\t3\nb\tb\t4\n")
    result = evaluate_pairs(system, read_pairs(str(file), labels=True), model="toy")
    # Ranks 3.5, 1, 2, 3.5 with 4, 1, 2, 3.
    assert result["spearman"] == pytest.approx(0.9486833)
    assert "threshold" not in result


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


def test_search_and_dedup_take_the_threshold(
    german: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    quality, kept = tmp_path / "quality.json", tmp_path / "kept.txt"
    found = tmp_path / "found.tsv"
    text = TATOEBA / "tatoeba.deu-eng.eng"
    evaluated = ["evaluate", "--model", "en-de-es-fr", "--pairs", str(german), "--output", str(quality)]
    assert main([*evaluated, "--precision", "0.999"]) == 0
    (result,) = json.loads(quality.read_text())["models"]
    assert result["best"]["precision"] >= 0.999
    chosen = str(result["threshold"])
    assert capsys.readouterr().out.splitlines()[-1].split()[0] == f"{float(chosen):.3f}"
    outputs = []
    model = ["--model", "en-de-es-fr", "--input", str(text)]
    for threshold in (str(quality), chosen):
        vectors = tmp_path / "vectors.npy"
        assert main(["embed", *model, "--output", str(vectors)]) == 0
        search = ["search", *model, "--index", str(vectors), "--output", str(found), "--min-score", threshold]
        assert main(search) == 0
        outputs.append(found.read_text())
    assert outputs[0] == outputs[1]
    # A threshold for the nearest sentence would leave out many lines that only have some words in common.
    dedup = ["dedup", *model, "--output", str(kept), "--threshold"]
    assert main([*dedup, str(quality)]) == 1
    assert "is for the nearest sentence, but here all pairs of sentences" in capsys.readouterr().err
    pairs = [line.split("\t")[:2] for line in german.read_text().splitlines()]
    labelled = [(*pair, "1") for pair in pairs]
    labelled += [(one, other, "0") for (one, _), (_, other) in pairwise(pairs)]
    german.write_text("".join("\t".join(row) + "\n" for row in labelled))
    assert main([*evaluated, "--labels"]) == 0
    (result,) = json.loads(quality.read_text())["models"]
    outputs = []
    for threshold in (str(quality), str(result["threshold"])):
        assert main([*dedup, threshold]) == 0
        outputs.append(kept.read_text())
    assert outputs[0] == outputs[1]
    # Another model's threshold means nothing.
    other = ["dedup", "--model", "en", "--input", str(text), "--output", "-"]
    assert main([*other, "--threshold", str(quality)]) == 1
    assert "has thresholds for Taught P-SP en-de-es-fr, but not for Taught P-SP en" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "is neither a number nor a file"),
        ('{"models": [5]}', "is neither a number nor a file"),
        ('{"models": []}', "has thresholds for no model"),
        ('{"models": [{"digest": "digest of toy", "threshold": true}]}', "has no threshold for toy"),
        ('{"models": [{"digest": "digest of toy", "threshold": 7}]}', "has no threshold for toy"),
    ],
)
def test_files_without_a_threshold_are_refused(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "quality.json"
    file.write_text(content)
    with pytest.raises(InputError, match=message):
        read_threshold(file, toy_system({}))


def test_systems_of_every_kind_can_be_named(tmp_path: Path) -> None:
    assert open_place("en") == "en"
    assert open_place("model2vec=some/folder") == {"model2vec": "some/folder", "label": "folder"}
    assert open_place("other=folder") == "other=folder"
