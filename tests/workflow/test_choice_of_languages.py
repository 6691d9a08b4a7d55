"""Test the study of languages in the pipeline, with prefixed variants and distances from an archive."""

import csv
import json
import random
from pathlib import Path

import pytest
from pipelines import configure, planned, snakemake

from paraphrastic import load_model
from paraphrastic.base.errors import InputError
from uriel_archives import ORDER, distances, write_matrices

TABLE, CORRELATIONS = "results/tables/language_choice.csv", "results/tables/language_choice_correlations.csv"
FIGURE = "results/figures/language_choice.svg"
CONFIG = """
models: [de]
definitions:
  de:
    languages: [en, de]
    corpora: [{path: mine/pairs.tsv}]
language_id: null
selection:
  bitext: {language: null}
vocabulary: {size: 60, languages: overlapping}
training: {dimension: 8, epochs: 1}
evaluation: {sts: sample_sts, bootstrap_samples: 100}
contamination: {drop: none}
language_choice: {models: [de], prefixed: true, uriel: mine_uriel}
"""
RUN = ("--configfile", "config.yaml", "--")
WORDS = {"man": "mann", "dog": "hund", "taxi": "taxi", "plays": "spielt", "runs": "rennt", "red": "rotes"}


@pytest.fixture
def own(pipeline: Path) -> Path:
    (pipeline / "mine").mkdir()
    (pipeline / "config.yaml").write_text(CONFIG)
    generator = random.Random(0)
    chosen = [generator.choices(sorted(WORDS), k=6) for _ in range(400)]
    lines = [" ".join(words) + "\t" + " ".join(WORDS[word] for word in words) + "\n" for words in chosen]
    (pipeline / "mine/pairs.tsv").write_text("".join(lines))
    files = write_matrices(pipeline / "mine", distances())
    with (pipeline / "config/datasets.tsv").open("a") as registry:
        for file in files:
            cells = ["mine_uriel", "1", "uriel", "-", file.name, f"file:mine/{file.name}", *"---", "own", "-"]
            registry.write("\t".join(cells) + "\n")
    return pipeline


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow("trains more models")
def test_a_language_with_its_variant_and_its_distances(own: Path) -> None:
    run = snakemake(own, *RUN, TABLE, FIGURE)
    assert run.returncode == 0, run.stdout
    (row,) = rows(own / TABLE)
    assert (row["system"], row["language"], row["data"]) == (
        "P-SP (overlapping vocabularies) de", "de", "sample",
    )  # fmt: skip
    assert 0 < float(row["sp_overlap"]) < 1
    assert float(row["syntactic"]) == distances()["syntactic"][ORDER.index("deu"), ORDER.index("eng")]
    results = {
        name: json.loads((own / f"results/eval/{name}/sts.json").read_text())
        for name in ("de", "de-prefixed")
    }
    averages = {
        name: 100 * result["measurements"]["pearson avg"]["value"] for name, result in results.items()
    }
    assert (row["sts"], row["prefixed"]) == (f"{averages['de']:.1f}", f"{averages['de-prefixed']:.1f}")
    # One language has no correlation, so the cells are empty and the log says why.
    cells = [(cell["n"], cell["spearman"]) for cell in rows(own / CORRELATIONS)]
    assert len(cells) == 2 * 3 * 7
    assert set(cells) <= {("1", ""), ("0", "")}
    log = (own / "results/logs/tabulate_language_choice.log").read_text()
    assert "All Lang., sp_overlap: " in log

    # Words that both languages spell alike share a vector in the model, but not in its prefixed variant.
    texts = ["taxi"]
    for name, alike in (("de", True), ("de-prefixed", False)):
        model = load_model(own / "results/models" / name)
        with pytest.raises(InputError, match="language must be 'en' or 'de'"):
            model.embed_raw_text(texts)
        english, german = (model.embed_raw_text(texts, language=code) for code in ("en", "de"))
        assert (english == german).all() == alike
    vocabularies = [
        (own / f"results/vocabulary/{name}/sentencepiece.model").read_bytes()
        for name in ("de", "de-prefixed")
    ]
    assert vocabularies[0] == vocabularies[1]

    # Files that do not fit together are an error of one line.
    (own / TABLE).unlink()
    (own / "mine/distances_languages.txt").write_text("eng,deu")
    (own / "resources/downloads/mine_uriel/distances_languages.txt").unlink()
    run = snakemake(own, *RUN, TABLE)
    assert run.returncode != 0
    assert "error in tabulate_language_choice: resources/downloads/mine_uriel/distances2.zip, " in run.stdout
    assert "Traceback" not in run.stdout


def test_the_sample_has_the_study_without_more_models(finished_once: Path) -> None:
    assert [row["language"] for row in rows(finished_once / TABLE)] == ["de", "es", "fr"]
    everything = rows(finished_once / CORRELATIONS)[0]
    assert (everything["languages"], everything["predictor"], everything["n"]) == (
        "All Lang.",
        "sp_overlap",
        "3",
    )
    for name in ("language_choice.md", "language_choice_correlations.tex"):
        assert (finished_once / "results/tables" / name).stat().st_size > 0
    assert (finished_once / FIGURE).stat().st_size > 5000


def test_variants_train_nothing_else_again(finished: Path) -> None:
    configure(finished, "language_choice.prefixed", True)
    plan = planned(finished, "paper_tables")
    trained = {message for message in plan.messages if message.startswith("Train ")}
    assert trained
    assert all("-prefixed" in message for message in trained)
    assert "download_file" not in plan.rules


def test_no_study_where_it_is_off(finished: Path) -> None:
    configure(finished, "language_choice.models", [])
    plan = planned(finished, "paper_tables", "--forceall")
    assert plan.rules.isdisjoint({"measure_overlap", "tabulate_language_choice"})
    assert "Plot language_choice" not in plan.messages
    run = snakemake(finished, "--dry-run", TABLE)
    assert run.returncode != 0
    assert "config: language_choice.models: is empty, so there is no study of languages" in run.stdout
