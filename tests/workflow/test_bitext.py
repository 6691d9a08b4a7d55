"""Test Tatoeba and BUCC in the pipeline: which systems are evaluated on which languages."""

import csv
import io
import json
import re
import tarfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
from pipelines import configure, snakemake

Edit = Callable[[Path, str, str], None]

BUCC = "data/sample/bucc-{a}-{b}.tar.bz2"
ROW = "mine\t1\tfile\tde-en\tbucc-{a}-{b}.tar.bz2\tfile:" + BUCC + "\t-\t-\tx.{a} x.{b} x.gold\tmine\t-\n"


def rows(folder: Path, table: str) -> list[dict[str, str]]:
    with (folder / f"results/tables/{table}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_models_are_evaluated_on_their_languages(finished_once: Path) -> None:
    table = {(row["system"], row["source"]): row for row in rows(finished_once, "tatoeba")}
    assert {name for name, _ in table} == {"P-SP de", "P-SP es", "P-SP fr", "P-SP, one model per language"}
    for language in ("de", "es", "fr"):
        trained, untrained = (table[f"P-SP {language}", source] for source in ("measured", "untrained"))
        assert {code for code in ("de", "es", "fr") if trained[code]} == {language}
        assert float(trained[language]) < float(untrained[language])
        result = json.loads((finished_once / f"results/eval/{language}/tatoeba.json").read_text())
        assert result["datasets"][language]["n"] == 500
        assert set(result["measurements"]) == {
            f"error {language}", f"error {language}-en", f"error en-{language}"
        }  # fmt: skip


def test_some_systems_only(finished: Path, edit: Edit) -> None:
    edit(finished / "config/config.yaml", "only: {stsb: []}", "only: {stsb: [], tatoeba: [fr]}")
    run = snakemake(finished, "results/tables/tatoeba.csv")
    assert run.returncode == 0, run.stdout
    assert {row["system"] for row in rows(finished, "tatoeba")} == {"P-SP fr"}


def test_systems_without_a_language_are_told(finished_once: Path) -> None:
    run = snakemake(finished_once, "--dry-run", "results/eval/en/tatoeba.json")
    assert "en: knows none of the evaluated languages of sample_tatoeba" in run.stdout
    run = snakemake(finished_once, "--dry-run", "results/eval/de/bucc.json")
    assert "config: evaluation.bucc: is null, so nothing is evaluated on it" in run.stdout


def test_an_archive_of_bucc(finished: Path) -> None:
    pairs = pd.read_parquet(finished / "results/corpora/de/pairs.parquet").head(400)
    sides = {"x.de": pairs["target"][:300], "x.en": pairs["source"][200:]}
    texts = {
        name: "".join(f"{name}-{i}\t{text}\n" for i, text in enumerate(side)) for name, side in sides.items()
    }
    texts["x.gold"] = "".join(f"x.de-{i + 200}\tx.en-{i}\n" for i in range(100))
    with tarfile.open(finished / BUCC.format(a="de", b="en"), "w:bz2") as archive:
        for name, text in texts.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    registry = finished / "config/datasets.tsv"
    registry.write_text(registry.read_text(encoding="utf-8") + ROW, encoding="utf-8")
    configure(finished, "evaluation.bucc", {"testsets": "mine"})
    run = snakemake(finished, "results/tables/bucc.csv", "results/tables/bucc.md")
    assert run.returncode == 0, run.stdout
    assert not re.search("rule (train_model|evaluate_system)", run.stdout)
    table = {(row["system"], row["source"]): float(row["f1"]) for row in rows(finished, "bucc")}
    assert set(table) == {
        (f"P-SP de ({scoring})", source)
        for scoring in ("cosine", "margin")
        for source in ("measured", "untrained")
    }
    assert table["P-SP de (margin)", "measured"] > 80 > table["P-SP de (margin)", "untrained"]
    result = json.loads((finished / "results/eval/de/bucc.json").read_text())
    assert result["datasets"]["de-en"]["gold"] == 100
    assert result["data"] == "sample"
