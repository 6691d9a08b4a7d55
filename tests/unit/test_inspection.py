"""Test that what is shown of a model is so."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from small_models import model_of
from test_export_tokenizer import SENTENCES

from paraphrastic import load_model
from paraphrastic.base.errors import InputError
from paraphrastic.cli import main
from paraphrastic.model.average import AverageEncoder
from paraphrastic_pipeline.base.tables import read_csv
from paraphrastic_pipeline.report.inspection import (
    Inspected,
    dropped_examples,
    inspect_model,
    neighbours,
    pieces,
    positions,
)

TEXTS = [text for text in dict.fromkeys(SENTENCES) if text.strip()]


@pytest.fixture(scope="module")
def after() -> AverageEncoder:
    return model_of()


@pytest.fixture(scope="module")
def inspected(after: AverageEncoder) -> Inspected:
    generator = np.random.default_rng(5)
    table = generator.normal(size=after.embeddings.shape).astype(np.float32)
    before = AverageEncoder({**after.tensors(), "embeddings": table}, after.sentencepiece, after.config)
    return Inspected(after, before, {"one": TEXTS[:30], "two": TEXTS[20:]})


def test_neighbours_are_the_nearest_other_sentences(inspected: Inspected) -> None:
    asked = [TEXTS[0], "the right to vote"]
    rows = neighbours(inspected, asked)
    assert [(row["sentence"], row["rank"]) for row in rows] == [
        (text, n) for text in asked for n in (1, 2, 3)
    ]
    assert inspected.before is not None
    for model, column, score in (
        (inspected.after, "after_training", "cosine"),
        (inspected.before, "before_training", "cosine_before"),
    ):
        for start, sentence in enumerate(asked):
            others = [text for text in TEXTS if text != sentence]
            cosines = model.score_raw_text([(sentence, text) for text in others])
            best = sorted(zip(cosines, others, strict=True), key=lambda pair: -pair[0])[:3]
            own = rows[3 * start : 3 * start + 3]
            assert [float(row[score]) for row in own] == pytest.approx([c for c, _ in best], abs=0.006)
            assert own[0][column] == " ".join(best[0][1].split())[:120]
    chosen = {row["sentence"] for row in neighbours(inspected)}
    assert len(chosen) == 8
    assert chosen < set(TEXTS)
    alone = neighbours(Inspected(inspected.after, None, {"x": ["a b", "the word"]}))
    assert [(row["rank"], "before_training" in row) for row in alone] == [(1, False), (1, False)]
    with pytest.raises(InputError, match="x, y: at least two different sentences are needed"):
        neighbours(Inspected(inspected.after, None, {"x": ["a"], "y": ["a"]}))


def test_pieces_by_the_length_of_their_embeddings(inspected: Inspected, after: AverageEncoder) -> None:
    rows = pieces(inspected)
    longest = [float(row["length"]) for row in rows]
    shortest = [float(row["length_of_shortest"]) for row in rows]
    assert longest == sorted(longest, reverse=True)
    assert shortest == sorted(shortest)
    assert longest[-1] >= shortest[-1]
    assert min(min(int(row["times"]), int(row["times_of_shortest"])) for row in rows) >= 3
    name = rows[0]["longest"]
    piece = after.processor.piece_to_id(name[1:] if name.startswith("…") else f"▁{name}")
    assert np.linalg.norm(after.embeddings[piece]) == pytest.approx(longest[0], abs=0.006)
    times = sum(row.count(piece) for row in after.tokenize(TEXTS).lists())
    assert int(rows[0]["times"]) == times


def test_few_sentences_have_pieces_too(after: AverageEncoder) -> None:
    rows = pieces(Inspected(after, None, {"one": TEXTS[:2]}))
    used = {piece for row in after.tokenize(TEXTS[:2]).lists() for piece in row}
    assert 0 < len(rows) <= len(used) // 2
    assert min(int(row["times"]) for row in rows) < 3


def test_a_map_has_the_directions_of_the_largest_differences(
    inspected: Inspected, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "umap", None)
    rows, method = positions(inspected)
    assert method == "PCA"
    assert [row["source"] for row in rows] == ["one"] * 30 + ["two"] * len(TEXTS[20:])
    texts = [text for each in inspected.sources.values() for text in each]
    vectors = inspected.after.embed_raw_text(texts, normalize=True)
    centred = vectors - vectors.mean(axis=0)
    singular = np.linalg.svd(centred, compute_uv=False)
    places = np.array([[float(row["x"]), float(row["y"])] for row in rows])
    np.testing.assert_allclose(np.linalg.norm(places, axis=0), singular[:2], rtol=1e-3)


def test_umap_keeps_neighbours_together_if_there_are_enough_sentences(inspected: Inspected) -> None:
    pytest.importorskip("umap", reason="UMAP is not installed")
    rows, method = positions(inspected)
    places = np.array([[float(row["x"]), float(row["y"])] for row in rows])
    assert method == "UMAP"
    # The two sources share ten sentences, each of which has one place.
    np.testing.assert_allclose(places[20:30], places[30:40], atol=0.5)
    few = Inspected(inspected.after, None, {"x": ["a b", "the word", "more words"]})
    assert positions(few)[1] == "PCA"


def test_dropped_pairs_by_filter(tmp_path: Path) -> None:
    path = tmp_path / "dropped.tsv"
    lines = ["reason\tline\tsource\ttarget"]
    lines += [f'{reason}\t{n}\t"{n} {"x" * 300}\ta  b' for reason in ("overlap", "length") for n in range(5)]
    path.write_text("\n".join(lines) + "\n")
    rows = dropped_examples([(path, "one en-de")])
    assert [(row["filter"], row["source"][:2]) for row in rows] == [
        (reason, f'"{n}') for reason in ("length", "overlap") for n in range(3)
    ]
    assert {row["corpus"] for row in rows} == {"one en-de"}
    assert {len(row["source"]) for row in rows} == {120}
    path.write_text("reason\tline\tsource\ttarget\n")
    assert dropped_examples([(path, "one")]) == []


def test_a_run_is_inspected(inspected: Inspected, tmp_path: Path) -> None:
    for name, model in (("after", inspected.after), ("before", inspected.before)):
        assert isinstance(model, AverageEncoder)
        model.write(tmp_path / name)
    pd.DataFrame({"source": TEXTS, "target": TEXTS[::-1]}).to_parquet(tmp_path / "pairs.parquet")
    (tmp_path / "dropped.tsv").write_text("reason\tsource\ttarget\nlength\ta\tb\n")
    tables = {name: tmp_path / f"{name}.csv" for name in ("neighbours", "pieces", "map", "dropped")}
    inspect_model(
        tmp_path / "after", tmp_path / "before", [(tmp_path / "pairs.parquet", "c")],
        [(tmp_path / "dropped.tsv", "c")], tables,
        sentences=None, candidates=40,
    )  # fmt: skip
    found = [row["sentence"] for row in read_csv(tables["map"])]
    assert [len(each) for each in found] == [min(120, len(" ".join(text.split()))) for text in TEXTS[:40]]
    assert tables["dropped"].read_text().splitlines()[1] == "length,c,a,b"
    assert tables["neighbours"].read_text().count("\n") == 25


def test_the_command_prints_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text("A dog runs.\n\nA hound  is running.\nThe market fell.\nA dog runs.\n")
    command = ["inspect", "--sentences", str(tmp_path / "a.txt"), "--map", str(tmp_path / "map.svg")]
    assert main([*command, "--sentence", "dogs are running"]) == 0
    shown = capsys.readouterr().out
    # Nothing is known of the model before training, and no piece occurs often.
    assert shown.split("\n")[2] == "sentence\trank\tafter training\tcosine"
    assert "\nPieces\n" in shown
    assert "\n1\t" in shown.split("\nPieces\n")[1]
    first = shown.split("\n")[3].split("\t")
    assert first[:2] == ["dogs are running", "1"]
    assert first[2] in ("A dog runs.", "A hound is running.")
    (cosine,) = load_model().score_raw_text([("dogs are running", first[2])])
    assert float(first[3]) == pytest.approx(cosine, abs=0.006)
    assert "map.svg: 3 sentences, by " in shown
    assert "a.txt" in (tmp_path / "map.svg").read_text()
    (tmp_path / "a.txt").write_text("A dog runs.\n" + "x" * 2_000_000 + "\nA cat\x1b sits.\n")
    assert main([*command, "--sentence", "the cat"]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.split("\n"))) < 400
    assert "A cat sits." in shown
    assert main([*command[:-1], str(tmp_path / "map.txt")]) == 1
    assert "map.txt: a map is written as .svg, .png or .pdf" in capsys.readouterr().err
    (tmp_path / "a.txt").write_text("one\n")
    assert main(command) == 1
    assert "a.txt: at least two different sentences are needed" in capsys.readouterr().err
