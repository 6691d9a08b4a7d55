"""Test a mined corpus: its encoder comes first, its threshold changes alone, and a model is trained on it."""

import json
import random
import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from pipelines import ROOT, planned, snakemake
from tiny_transformer import write_marian

Edit = Callable[[Path, str, str], None]

CONFIG = """
models: [en]
definitions:
  xx: {languages: [en, xx], corpora: [{path: bitext.jsonl}]}
  en: {languages: [en], corpora: [bitext_mined, sample_paranmt]}
mined:
  bitext_mined: {languages: [xx, en], corpora: [{path: bitext.jsonl}], encoder: xx, min_similarity: 0.5}
language_id: null
shards: 2
selection:
  bitext: {language: null}
  paraphrase: {language: null, trigram_overlap: null, length: {min: 1}}
max_pairs: {sample_paranmt: 100}
vocabulary: {size: 300}
training: {dimension: 32, init_std: 0.1, learning_rate: 0.01, epochs: 20}
evaluation: {sts: sample_sts}
"""
RUN = ("--configfile", "config.yaml", "--")
MODEL = "results/models/en/config.json"
PAIRS = "results/pairs/bitext_mined/en-en"
WORDS = [("small", "little"), ("big", "large"), ("quick", "fast"), ("begins", "starts"), ("shop", "store")]


def bitext(path: Path) -> dict[str, set[str]]:
    """Write 600 sentences of an invented language, and return the two translations of each."""
    generator = random.Random(1)
    rows, translations = [], {}
    for number in range(600):
        words = generator.sample(WORDS, 3)
        source = " ".join(f"{one}um" for one, _ in words) + f" {number}"
        both = {" ".join(pair[side] for pair in words) + f" {number}" for side in (0, 1)}
        translations[source] = both
        rows += [{"en": english, "xx": source} for english in sorted(both)]
    generator.shuffle(rows)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return translations


@pytest.fixture
def mined(pipeline: Path) -> Path:
    (pipeline / "config.yaml").write_text(CONFIG)
    bitext(pipeline / "bitext.jsonl")
    return pipeline


def test_the_encoder_is_trained_before(mined: Path) -> None:
    plan = planned(mined, *RUN, PAIRS + ".parquet")
    assert plan.messages >= {
        "Read the pairs of corpus bitext, xx-en",
        "Read the pairs of corpus bitext, en-xx",
        "Choose the best run of xx",
        "Measure the similarity of bitext's sides for bitext_mined, shard 1-of-2",
        "Measure the similarity of bitext's sides for bitext_mined, shard 2-of-2",
        "Sample paraphrases for bitext_mined",
    }
    assert not [message for message in plan.messages if "paranmt" in message]


@pytest.mark.slow("trains two models")
def test_a_model_of_mined_paraphrases(mined: Path, edit: Edit) -> None:
    card = "results/models/en/README.md"
    run = snakemake(mined, *RUN, MODEL, card, "results/tables/funnel.csv", "results/tables/corpora.csv")
    assert run.returncode == 0, run.stdout
    pairs = pd.read_parquet(mined / f"{PAIRS}.parquet")
    translations = bitext(mined / "bitext.jsonl")
    drawn = [{*both} for both in zip(pairs["source"], pairs["target"], strict=True)]
    assert all(pair in translations.values() for pair in drawn)
    counts = json.loads((mined / f"{PAIRS}.counts.json").read_text())
    assert (counts["read"], counts["pairs"]) == (1200, len(drawn))
    assert counts["groups"] > 300
    assert (mined / f"{PAIRS}.examples.tsv").read_text().count("\npairs\t") == 20
    corpora = json.loads((mined / MODEL).read_text())["corpora"]
    assert re.fullmatch(r"xx-en of bitext sha256:\w{64}, by the encoder xx at 0\.5", corpora["bitext_mined"])
    assert "| bitext_mined | xx-en of bitext" in (mined / card).read_text()
    assert f"en,bitext_mined,{len(drawn)}," in (mined / "results/tables/funnel.csv").read_text()

    assert planned(mined, *RUN, MODEL).rules == set()
    edit(mined / "config.yaml", "min_similarity: 0.5", "min_similarity: 0.6")
    plan = planned(mined, *RUN, MODEL)
    assert {"sample_paraphrases", "score_pairs", "train_model"} <= plan.rules
    assert plan.rules.isdisjoint({"extract_corpus", "measure_similarity"})
    assert not [message for message in plan.messages if re.search(r"\bxx\b", message)]
    edit(mined / "config.yaml", "size: 300", "size: 310")
    assert "measure_similarity" in planned(mined, *RUN, MODEL).rules


@pytest.mark.slow("plans each example")
def test_the_examples_of_the_documentation_plan(pipeline: Path) -> None:
    page = (ROOT / "docs/corpora.md").read_text(encoding="utf-8")
    mined, translated = re.findall(r"^```yaml\n(models:.*?)^```$", page, re.M | re.S)
    (pipeline / "config.yaml").write_text(mined)
    plan = planned(pipeline, "--configfile", "config.yaml")
    assert {"measure_similarity", "sample_paraphrases"} <= plan.rules
    assert {"Choose the best run of de", "Choose the best run of en"} <= plan.messages
    (pipeline / "config.yaml").write_text(translated)
    plan = planned(pipeline, "--configfile", "config.yaml")
    assert {"translate_corpus", "gather_translations"} <= plan.rules
    # The examples of the other pages that train on what these corpora need.
    (pipeline / "data/questions.tsv").write_text("How are you?\tHow do you do?\n")
    (pipeline / "data/notes.txt").write_text("A note.\n")
    begins = {"fit_tables", "train_model"}
    for name, expected in (
        ("encoders", [{"tokenize_pairs", "train_transformer", "choose_transformer"}]),
        ("training", [begins]),
    ):
        page = (ROOT / f"docs/{name}.md").read_text(encoding="utf-8")
        examples = re.findall(r"^```yaml\n(models:.*?)^```$", page, re.M | re.S)
        for example, rules in zip(examples, expected, strict=True):
            (pipeline / "config.yaml").write_text(example)
            assert rules <= planned(pipeline, "--configfile", "config.yaml").rules


TRANSLATED = """
models: [en]
definitions:
  en: {languages: [en], corpora: [bitext_translated]}
mined:
  bitext_translated:
    languages: [xx, en]
    corpora: [{path: bitext.jsonl}]
    translator: {model: ./marian, beam: 2}
language_id: null
shards: 1
selection:
  paraphrase:
    {language: null, length: null, trigram_overlap: null, near_copy: null,
     rank: {by: translation_score, min: 0.5, max: 1}}
vocabulary: {size: 300}
evaluation: {sts: sample_sts}
"""


@pytest.mark.slow("trains a translator")
def test_a_corpus_is_translated(pipeline: Path) -> None:
    """The translations of a tiny Marian are bad, but they end, and their scores reach the filter."""
    translations = bitext(pipeline / "bitext.jsonl")
    pairs = [(source, english) for source, both in translations.items() for english in sorted(both)]
    write_marian(pipeline / "marian", pairs, steps=60)
    lines = (pipeline / "bitext.jsonl").read_text().splitlines(keepends=True)[:40]
    (pipeline / "bitext.jsonl").write_text("".join(lines))
    (pipeline / "config.yaml").write_text(TRANSLATED)
    folder = pipeline / "results/pairs/bitext_translated"
    ended = snakemake(pipeline, *RUN, "results/selected/en/bitext_translated/en-en.parquet")
    assert ended.returncode == 0, ended.stdout
    result = json.loads((folder / "en-en.counts.json").read_text())
    assert result["read"] == 40 == sum(result.values()) - 40
    made = pd.read_parquet(folder / "en-en.parquet")
    assert made["translation_score"].max() < 0
    selected = pd.read_parquet(pipeline / "results/selected/en/bitext_translated/en-en.parquet")
    assert 0 < len(selected) <= len(made) // 2 + 1
    shard = pd.read_parquet(pipeline / "results/translated/bitext_translated/bitext/1-of-1.parquet")
    assert set(shard["source"]) <= {english for both in translations.values() for english in both}
