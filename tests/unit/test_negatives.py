"""Test that the command for negatives shows the ones that training chooses."""

import csv
import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pair_files import write_pairs
from small_corpus import sentence_pairs, write_training_data
from training_runs import SETTINGS, train_model

from paraphrastic import load_model
from paraphrastic.cli import main
from paraphrastic.model.architecture import Architecture
from paraphrastic_pipeline.training.negatives import choose_negatives, tabulate_negatives
from paraphrastic_pipeline.training.pair_dataset import PairDataset
from paraphrastic_pipeline.training.sentences import Sentences

PAIRS = list(dict.fromkeys(sentence_pairs(400)))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    train_model(write_training_data(folder, PAIRS), folder / "de", SETTINGS)
    return folder / "de"


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def rows(text: str) -> list[list[str]]:
    header, *lines = text.splitlines()
    assert header == "sentence\tM\tnegative\tcosine"
    return [line.split("\t") for line in lines]


def test_the_negative_is_the_nearest_sentence_of_the_other_side(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = write_pairs(tmp_path / "pairs.parquet", PAIRS)
    # The first is a source as a person would type it, the second a target far from the first pairs.
    asked = [" ".join(PAIRS[3][0].upper().split()), PAIRS[350][1]]
    arguments = ["--model", str(model), "--pairs", str(pairs), "--batch-size", "16", "--megabatch", "1", "5"]
    assert main(["negatives", *arguments, "--sentence", asked[0], "--sentence", asked[1]]) == 0
    found = rows(capsys.readouterr().out)
    encoder = load_model(model)
    others = [pair for pair in PAIRS if pair not in (PAIRS[3], PAIRS[350])]
    expected = []
    for pair, side in ((PAIRS[3], 0), (PAIRS[350], 1)):
        for size in (1, 5):
            candidates = [
                other[1 - side] for other in [PAIRS[3], PAIRS[350], *others][: size * 16] if other != pair
            ]
            own = unit(encoder.embed_raw_text([pair[side]]))
            cosines = unit(encoder.embed_raw_text(candidates)) @ own[0]
            best = int(cosines.argmax())
            expected.append([pair[side], str(size), candidates[best], f"{cosines[best]:.4f}"])
    assert [row[:3] for row in found] == [row[:3] for row in expected]
    np.testing.assert_allclose(
        [float(row[3]) for row in found], [float(row[3]) for row in expected], atol=2e-4
    )


def test_they_are_the_ones_of_a_run(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from paraphrastic_pipeline.training.checkpoint import Checkpoints
    from paraphrastic_pipeline.training.encoder_modules import initial_encoder
    from paraphrastic_pipeline.training.loop import TrainingRun
    from paraphrastic_pipeline.training.threads import Workers
    from paraphrastic_pipeline.training.train import build_engine

    with PairDataset(write_training_data(tmp_path, PAIRS)[0]) as pairs:
        initial = initial_encoder(pairs.units, SETTINGS, Architecture())
        engine = build_engine(initial, SETTINGS, Workers(1), steps=0)
        run = TrainingRun(
            [pairs], SETTINGS, Workers(1), lambda _: engine, Checkpoints(tmp_path / "none", identity="")
        )
        encoder = load_model(model)
        run.engine.parameters.table.reshape(pairs.units[0].n_rows, -1)[:-1, :16] = encoder.embeddings[
            pairs.units[0].pieces
        ]
        chosen = run._mine(Sentences.concatenate(list(pairs.read(0, 64))))[:5]
    shown = choose_negatives(encoder, PAIRS, [], megabatch=[2], batch_size=32)
    assert [row.negative for row in shown] == [PAIRS[number - 64][1] for number in chosen]


def test_the_table_of_the_pipeline_has_what_the_command_prints(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = write_pairs(tmp_path / "pairs.parquet", PAIRS)
    for sentences in (None, [PAIRS[7][0]]):
        more = [each for sentence in sentences or () for each in ("--sentence", sentence)]
        arguments = [
            "--model",
            str(model),
            "--pairs",
            str(pairs),
            "--batch-size",
            "16",
            "--megabatch",
            "1",
            "4",
        ]
        assert main(["negatives", *arguments, *more]) == 0
        settings = {"sentences": sentences, "megabatch": [1, 4], "batch_size": 16}
        tabulate_negatives(pairs, tmp_path / "negatives.csv", model=model, **settings)
        with (tmp_path / "negatives.csv").open(newline="") as file:
            table = list(csv.DictReader(file))
        assert list(table[0]) == ["sentence", "M", "negative", "cosine"]
        assert [list(row.values()) for row in table] == rows(capsys.readouterr().out)
        assert len(table) == 2 * (1 if sentences else 5)


def test_sentences_without_a_pair_are_no_negatives(model: Path, tmp_path: Path) -> None:
    tables = []
    for name, pairs, corpus in (
        ("all", [*[(source, source) for source, _ in PAIRS[40:80]], *PAIRS[:40]], [3] * 40 + [0] * 40),
        ("pairs", PAIRS[:40], [0] * 40),
    ):
        path = write_pairs(tmp_path / f"{name}.parquet", pairs, corpus=pa.array(corpus, pa.int16()))
        settings = {"sentences": None, "megabatch": [2], "batch_size": 16, "texts": [3]}
        tabulate_negatives(path, tmp_path / "negatives.csv", model=model, **settings)
        tables.append((tmp_path / "negatives.csv").read_text())
    assert tables[0] == tables[1]


def test_a_sentence_of_no_pair_and_tsv_from_and_to_standard_streams(
    model: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = "".join("\t".join(pair) + "\n" for pair in PAIRS[:40])
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(text.encode()))))
    sentences = tmp_path / "sentences"
    sentences.write_text("the cat sees a new idea\n\n")
    arguments = ["--model", str(model), "--pairs", "-", "--sentences", str(sentences), "--megabatch", "7"]
    assert main(["negatives", *arguments]) == 0
    ((sentence, size, negative, _),) = rows(capsys.readouterr().out)
    assert (sentence, size) == ("the cat sees a new idea", "7")
    assert negative in [target for _, target in PAIRS[:40]]


def test_copies_are_barred_as_in_training(model: Path) -> None:
    encoder = load_model(model)
    read = [("the dog", "der hund")] * 3
    (copy, *_) = choose_negatives(encoder, read, [], megabatch=[1], batch_size=8)
    assert copy.negative == "der hund"
    encoder.config = {
        **encoder.config,
        "training": {**encoder.config["training"], "exclude_duplicates": True},
    }
    (barred, *_) = choose_negatives(encoder, read, [], megabatch=[1], batch_size=8)
    assert (barred.negative, barred.cosine) == (None, None)


@pytest.mark.parametrize("languages", [["en"], []])
def test_both_sides_may_be_in_one_language(model: Path, languages: list[str]) -> None:
    encoder = load_model(model)
    encoder.config = {**encoder.config, "languages": languages}
    read = [("the dog", "the cat"), ("the house", "the tree")]
    found = choose_negatives(encoder, read, [], megabatch=[1], batch_size=8)
    assert [each.negative for each in found] == ["the tree", "the cat"]


@pytest.mark.parametrize(
    ("content", "more", "cause"),
    [
        ("", [], "there are no pairs"),
        ("one column\n", [], "pairs.tsv:1: does not have two columns"),
        (
            "a\tb\n",
            ["--batch-size", "1", "--megabatch", "1", "--sentence", "a", "--sentence", "c"],
            "2 sentences",
        ),
        (None, [], "pairs.tsv: cannot be read: No such file"),
    ],
)
def test_what_is_wrong_is_one_line(
    model: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    content: str | None,
    more: list[str],
    cause: str,
) -> None:
    if content is not None:
        (tmp_path / "pairs.tsv").write_text(content)
    assert main(["negatives", "--model", str(model), "--pairs", str(tmp_path / "pairs.tsv"), *more]) == 1
    error = capsys.readouterr().err
    assert cause in error
    assert error.count("\n") == 1


def test_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["negatives", "--help"])
    assert "paraphrastic negatives --model results/models/de" in capsys.readouterr().out
