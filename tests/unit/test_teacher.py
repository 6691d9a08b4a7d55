"""Test that a model learns the cosines of a teacher."""

import gzip
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest
import torch
from small_corpus import sentence_pairs, write_training_data
from training_runs import SETTINGS, stopped, train_model, training_inputs

from paraphrastic import load_model
from paraphrastic.base.files import sha256
from paraphrastic.model.encoder import SentenceEncoder
from paraphrastic.systems.open import open_encoder
from paraphrastic_pipeline.evaluation.sts import evaluate_sts
from paraphrastic_pipeline.evaluation.sts_data import prepare_sts
from paraphrastic_pipeline.training.loss import cosines_loss
from paraphrastic_pipeline.training.teacher import embed_teacher
from paraphrastic_pipeline.training.train import Watching
from paraphrastic_pipeline.training.train import train_model as train

PAIRS = sentence_pairs(400)
PUPIL = replace(SETTINGS, dimension=8, loss="cosines", engine="auto")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("data")
    return write_training_data(folder, PAIRS, size=300)


@pytest.fixture(scope="module")
def teacher(data: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> SentenceEncoder:
    folder = tmp_path_factory.mktemp("teacher")
    train_model(data, folder, replace(SETTINGS, dimension=64, seed=11, epochs=6))
    return load_model(folder)


@pytest.fixture(scope="module")
def vectors(teacher: SentenceEncoder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vectors")
    source, target = zip(*PAIRS, strict=True)
    pd.DataFrame({"source": source, "target": target}).to_parquet(folder / "pairs.parquet")
    embed_teacher(folder / "pairs.parquet", folder / "t.h5", encoder=teacher, block_rows=150)
    return folder / "t.h5"


def taught(
    data: tuple[Path, Path], vectors: Path, output: Path, *, minutes: float = 60, **changes: object
) -> Path:
    inputs = replace(training_inputs(data, replace(PUPIL, **changes)), teacher=vectors)  # type: ignore[arg-type]
    train(inputs, output, threads=1, watching=Watching(minutes))
    return output


def test_vectors_are_those_of_the_teacher(vectors: Path, teacher: SentenceEncoder) -> None:
    with h5py.File(vectors) as file:
        for side, number in (("source", 0), ("target", 1)):
            expected = teacher.embed_raw_text([pair[number] for pair in PAIRS], normalize=True)
            np.testing.assert_allclose(file[side][:], expected, atol=1e-3)


def test_the_loss_is_the_mean_squared_difference_of_cosines() -> None:
    generator = torch.Generator().manual_seed(0)
    own, other = torch.randn(5, 3, generator=generator), torch.randn(5, 7, generator=generator)
    # A sentence without text has no cosine with itself either.
    own[3] = 0
    total = 0.0
    for i in range(5):
        for j in range(5):
            if i != j:
                cosines = [float(torch.cosine_similarity(each[i], each[j], dim=0)) for each in (own, other)]
                total += (cosines[0] - cosines[1]) ** 2
    assert cosines_loss(own, other).item() == pytest.approx(total / 20)
    assert cosines_loss(own, own).item() == pytest.approx(0.0, abs=1e-9)


def test_a_pupil_comes_nearer_to_its_teacher(
    data: tuple[Path, Path], vectors: Path, teacher: SentenceEncoder, tmp_path: Path
) -> None:
    pupil = load_model(taught(data, vectors, tmp_path / "pupil", epochs=8))
    alone = load_model(train_model(data, tmp_path / "alone", replace(SETTINGS, dimension=8)).parent)
    sentences = [sentence for pair in sentence_pairs(700)[500:] for sentence in pair]
    judged = [similarities(model, sentences) for model in (teacher, pupil, alone)]
    agreement = [float(np.corrcoef(judged[0], each)[0, 1]) for each in judged[1:]]

    assert agreement[0] > agreement[1] + 0.1


def test_a_transformer_of_sentence_transformers_teaches(data: tuple[Path, Path], tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    from sentence_transformers import SentenceTransformer
    from tiny_transformer import write_bert

    source, target = zip(*PAIRS, strict=True)
    bert = write_bert(tmp_path / "bert", [*source, *target])
    SentenceTransformer(str(bert)).save(str(tmp_path / "teacher"))
    pd.DataFrame({"source": source, "target": target}).to_parquet(tmp_path / "pairs.parquet")
    teacher = open_encoder({"sentence_transformers": str(tmp_path / "teacher"), "label": "BERT"})
    embed_teacher(tmp_path / "pairs.parquet", tmp_path / "t.h5", encoder=teacher)
    pupil = load_model(taught(data, tmp_path / "t.h5", tmp_path / "pupil", epochs=6))
    alone = load_model(train_model(data, tmp_path / "alone", replace(SETTINGS, dimension=8)).parent)
    sentences = list(source[:100])
    unit = teacher.encode(sentences)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    judged = (unit @ unit.T)[np.triu_indices(len(unit), 1)]
    distance = [float(np.square(similarities(each, sentences) - judged).mean()) for each in (pupil, alone)]

    assert distance[0] < distance[1] / 2


@pytest.mark.slow("trains two models on thousands of captions")
def test_a_pupil_comes_nearer_to_its_teachers_judgement_of_sts(mirror: Path, tmp_path: Path) -> None:
    """The model in the package teaches 64 dimensions on captions, which the same model learns from alone."""
    folder = mirror / "raw.githubusercontent.com/multi30k/dataset/master/data/task2/raw"
    sides = [gzip.decompress((folder / f"train.{n}.en.gz").read_bytes()).decode().split("\n") for n in (1, 2)]
    pairs = [(one, other) for one, other in zip(*sides, strict=True) if one and other][:8000]
    data = write_training_data(tmp_path, pairs, size=4000)
    teacher = load_model("en")
    source, target = zip(*pairs, strict=True)
    pd.DataFrame({"source": source, "target": target}).to_parquet(tmp_path / "pairs.parquet")
    embed_teacher(tmp_path / "pairs.parquet", tmp_path / "t.h5", encoder=teacher)
    settings = replace(SETTINGS, dimension=64, epochs=20, batch_size=128)
    pupil = load_model(
        taught(data, tmp_path / "t.h5", tmp_path / "pupil", dimension=64, epochs=20, batch_size=128)
    )
    alone = load_model(train_model(data, tmp_path / "alone", settings).parent)
    prepare_sts(mirror / "www.cs.cmu.edu/~jwieting/STS.zip", tmp_path / "sts.parquet")
    judged = [
        100 * evaluate_sts(model, tmp_path / "sts.parquet")["pearson avg"].value
        for model in (teacher, pupil, alone)
    ]
    assert abs(judged[1] - judged[0]) < abs(judged[2] - judged[0]), judged


def similarities(model: SentenceEncoder, sentences: list[str]) -> np.ndarray:
    unit = model.embed_raw_text(sentences, normalize=True)
    return np.asarray((unit @ unit.T)[np.triu_indices(len(unit), 1)])


def test_a_killed_run_goes_on(
    data: tuple[Path, Path], vectors: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = taught(data, vectors, tmp_path / "whole", dropout=0.2)
    with monkeypatch.context() as patch:
        patch.setattr(
            "training_runs.training_inputs",
            lambda given, settings: replace(training_inputs(given, settings), teacher=vectors),
        )
        stopped(data, tmp_path / "stopped", replace(PUPIL, dropout=0.2), patch, step=20)
    resumed = taught(data, vectors, tmp_path / "stopped", dropout=0.2)
    assert sha256(resumed / "model.safetensors") == sha256(whole / "model.safetensors")
