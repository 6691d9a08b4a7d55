"""Test encoders other than the average over one table, in the pipeline."""

import json
import random
from pathlib import Path

import pytest
from pipelines import planned, snakemake

from paraphrastic import load_model

CONFIG = """
models: [lstm, mixed]
definitions:
  lstm:
    languages: [en, xx]
    corpora: [{path: mine/pairs.tsv}]
    encoder: {parts: [{kind: bilstm, peepholes: true}], languages: separate}
    training: {megabatch_anneal: 0}
  mixed:
    languages: [en, xx]
    corpora: [{path: mine/pairs.tsv}]
    encoder:
      parts: [{kind: average, unit: trigram, init_std: 0.01}, {kind: average, unit: word}]
      combine: add
    vocabulary: {units: {trigram: {size: 500}}}
    training: {initial_vectors: mine_vectors}
language_id: null
selection:
  bitext: {language: null}
vocabulary: {size: 300}
training: {dimension: 16, epochs: 1, init_std: 0.1}
evaluation: {sts: sample_sts, bootstrap_samples: 100}
contamination: {drop: none}
"""
RUN = ("--configfile", "config.yaml", "--")
TARGETS = ("results/models/lstm/README.md", "results/models/mixed/README.md")
WORDS = ["man", "dog", "street", "woman", "plays", "runs", "red", "big", "house", "water", "two", "people"]


@pytest.fixture
def own(pipeline: Path) -> Path:
    (pipeline / "mine").mkdir()
    (pipeline / "config.yaml").write_text(CONFIG)
    generator = random.Random(0)
    lines = []
    for _ in range(400):
        words = [generator.choice(WORDS) for _ in range(6)]
        lines.append(" ".join(words) + "\t" + " ".join(f"{word[::-1]}en" for word in words) + "\n")
    (pipeline / "mine/pairs.tsv").write_text("".join(lines))
    vectors = [f"{word} " + " ".join([f"{number / 10}"] * 16) + "\n" for number, word in enumerate(WORDS)]
    (pipeline / "mine/vectors.txt").write_text("".join(vectors))
    with (pipeline / "config/datasets.tsv").open("a") as registry:
        cells = [
            "mine_vectors",
            "1",
            "vectors",
            "en",
            "vectors.txt",
            "file:mine/vectors.txt",
            *"---",
            "own",
            "-",
        ]
        registry.write("\t".join(cells) + "\n")
    return pipeline


@pytest.mark.slow("trains LSTMs")
def test_an_lstm_and_a_mixed_model(own: Path) -> None:
    evaluated = ["results/eval/lstm/sts.json", "results/eval/mixed-untrained/sts.json"]
    run = snakemake(own, *RUN, *evaluated, *TARGETS)
    assert run.returncode == 0, run.stdout
    results = [json.loads((own / path).read_text()) for path in evaluated]
    assert [result["system"] for result in results] == [
        "BLSTM-SP (separate languages) lstm",
        "TRIGRAM-WORD (addition) mixed",
    ]
    models = {name: load_model(own / "results/models" / name) for name in ("lstm", "mixed")}
    assert [model.dim for model in models.values()] == [16, 16]
    texts = ["the man plays", "a big dog"]
    english, other = (models["lstm"].embed_raw_text(texts, language=code) for code in ("en", "xx"))
    assert (english != other).all()
    assert 'language="en"' in (own / "results/models/lstm/README.md").read_text()
    config = json.loads((own / "results/models/mixed/config.json").read_text())
    assert config["training"]["engine"] == "autograd"
    assert [part["init_std"] for part in config["architecture"]["parts"]] == [0.01, None]
    (history,) = (own / "results/training/lstm").glob("*/training.jsonl")
    assert {json.loads(line)["megabatch"] for line in history.read_text().splitlines()} == {60}
    assert "0.lstm.directions.1.peepholes.xx" in models["lstm"].tensors()
    vocabularies = sorted(path.name for path in (own / "results/vocabulary/mixed").iterdir())
    assert vocabularies == ["sentencepiece-word.model", "sentencepiece.model"]

    # Scrambling more sentences only trains the models again. The smaller trigram vocabulary is made again,
    # and the vocabulary of words stays.
    changed = CONFIG.replace("{size: 500}", "{size: 400}")
    (own / "config.yaml").write_text(changed + "encoder: {scramble: 0.5}\n")
    messages = planned(own, *RUN, *TARGETS).messages
    assert {message for message in messages if "vocabulary" in message or "Encode" in message} == {
        "Learn the vocabulary sentencepiece of model mixed",
        "Encode the training data of mixed",
    }
    assert any(message.startswith("Train model lstm, ") for message in messages)

    # Another initial standard deviation of a part trains its model again, and changes no data.
    (own / "config.yaml").write_text(CONFIG.replace("init_std: 0.01", "init_std: 0.02"))
    messages = planned(own, *RUN, *TARGETS).messages
    assert not {message for message in messages if "vocabulary" in message or "Encode" in message}
    trained = [message for message in messages if message.startswith("Train model ")]
    assert len(trained) == 1
    assert trained[0].startswith("Train model mixed, ")
