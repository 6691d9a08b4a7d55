"""Test that the settings of `config/paper.yaml` do in a run what they say, on a few hundred pairs."""

import random
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pandas as pd
import pytest
import yaml
from pipelines import MakeOnce, copy_pipeline, keep_compiled, snakemake
from sentencepiece import SentencePieceProcessor

from paraphrastic import load_model

pytestmark = pytest.mark.slow("runs a pipeline")

NAMES = [(f"Word{letter}", f"synonym{letter}") for letter in "abcdefghijklmnopqrstuvwx"]
KEPT_ONCE = 300
TWICE = ("Wordc Wordd Worde Wordf Wordg Wordh", "synonymc synonymd synonyme synonymf synonymg synonymh")
# Lines that differ in capitals are no copies, and a rare spelling has no piece at the paper's coverage.
CAPITALS = ["Capitals make a difference here", "capitals make a difference here"]
RARE = "the snowman ☃☃ is here"
UNLIKE = ("Worda Wordb Wordc Wordd Worde Wordf", "synonymg synonymh synonymi synonymj synonymk synonyml")
# Treebank's words are "ca n't" and "can not", so three of the shorter side's six trigrams are shared.
CONTRACTED = ("I can't see it at all today", "I can not see it at all today")
UNEVEN = (" ".join(["Worda"] * 50), "synonyma synonymb synonymc synonymd synonyme")
CHINESE = "我来到北京清华大学"
WORDS = "我 来到 北京 清华 清华大学 华大 大学"

OVERRIDES = """
models: [en, zh]
registry: datasets.tsv
language_id: null
definitions:
  en:
    languages: [en]
    corpora: [{path: en.tsv}]
    training: {negatives: either_side}
  zh:
    languages: [en, zh]
    corpora: [{path: zh.tsv}]
shards: 1
contamination: {testsets: {sts: sample_sts}, drop: none}
max_pairs: {}
vocabulary: {size: 200}
training: {exclude_duplicates: false, dimension: 16, epochs: 1}
sweep: {dropout: [0.1], megabatch: [4]}
evaluation: {sts: sample_sts}
"""
MODELS = ("en", "zh")
RUN = "results/training/{}/dropout-0.1-megabatch-4"


def write_data(folder: Path) -> None:
    generator = random.Random(1)
    (folder / "datasets.tsv").write_bytes((folder / "config/datasets.tsv").read_bytes())
    (folder / "resources/manual/punkt").mkdir(parents=True)
    with ZipFile(folder / "resources/manual/punkt/punkt_tab.zip", "w") as punkt:
        for name in ("abbrev_types.txt", "collocations.tab", "sent_starters.txt", "ortho_context.tab"):
            punkt.writestr(f"punkt_tab/english/{name}", "")
    chosen = [generator.sample(NAMES, 8) for _ in range(KEPT_ONCE)]
    pairs = [(" ".join(a for a, _ in words), " ".join(b for _, b in words)) for words in chosen]
    pairs += [TWICE, TWICE, UNLIKE, CONTRACTED, UNEVEN]
    lines = (f"{a}\t{b}\t{0.3 if (a, b) == UNLIKE else 0.9}\n" for a, b in pairs)
    (folder / "en.tsv").write_text("".join(lines), encoding="utf-8")
    chinese = [(f"sentence number {i} of the corpus", f"{CHINESE} {i}") for i in range(KEPT_ONCE)]
    chinese += [(english, f"{CHINESE} {KEPT_ONCE}") for english in (*CAPITALS, RARE)]
    (folder / "zh.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in chinese), encoding="utf-8")


@pytest.fixture(scope="module")
def folder(made_once: MakeOnce) -> Path:
    """A finished run with the paper's settings, with smaller models of other data."""

    def fill(folder: Path) -> None:
        copy_pipeline(folder)
        write_data(folder)
        config: dict[str, Any] = yaml.safe_load((folder / "config/paper.yaml").read_text(encoding="utf-8"))
        config |= yaml.safe_load(OVERRIDES)
        config["text"]["lowercase"] = False
        config["selection"]["paraphrase"]["language"] = None
        (folder / "paper.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
        run = snakemake(
            folder, "--configfile", "paper.yaml", "--", *(f"{RUN.format(m)}/config.json" for m in MODELS)
        )
        assert run.returncode == 0, run.stdout
        keep_compiled(folder)

    return made_once("paper_settings", fill)


def pairs(folder: Path, model: str) -> list[tuple[str, str]]:
    table = pd.read_parquet(folder / f"results/corpora/{model}/pairs.parquet")
    return list(zip(table["source"], table["target"], strict=True))


def test_pairs_are_kept_and_dropped_as_in_the_papers(folder: Path) -> None:
    kept = {*pairs(folder, "en")}
    # All copies of a pair are dropped, and pairs with a low score. One side has more words than the limit,
    # but the mean of both does not.
    assert kept.isdisjoint({TWICE, UNLIKE})
    assert UNEVEN in kept
    assert len(kept) > KEPT_ONCE / 2
    # Capitals stay, and lines that differ in them are no copies.
    assert {source for source, _ in pairs(folder, "zh")} >= set(CAPITALS)
    upper, lower = load_model(folder / RUN.format("en")).embed_raw_text(["Worda Wordb", "worda wordb"])
    assert not (upper == lower).all()


def test_a_rare_spelling_has_a_row_of_its_own(folder: Path) -> None:
    model = load_model(folder / RUN.format("zh"))
    rare, unseen = model.tokenize([RARE, RARE.replace("☃☃", "☃")]).lists()
    assert len(rare) == len(unseen) + 1


def test_trigrams_are_counted_in_the_words_of_the_treebank(folder: Path) -> None:
    (scored,) = (folder / "results/scored/en/en-en").glob("*.parquet")
    rows = pd.read_parquet(scored)
    rows = rows[rows["source"] == CONTRACTED[0]]
    assert rows["trigram_overlap"].to_list() == [0.5]


def test_chinese_words_are_all_those_that_jieba_finds(folder: Path) -> None:
    assert {target.rsplit(maxsplit=1)[0] for _, target in pairs(folder, "zh")} == {WORDS}
    run = folder / RUN.format("zh")
    pieces = SentencePieceProcessor(model_file=str(run / "sentencepiece.model")).encode(WORDS)
    assert load_model(run).tokenize([CHINESE]).lists() == [pieces]
