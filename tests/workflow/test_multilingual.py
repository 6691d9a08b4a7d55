"""Test a model of several languages from its corpora to its scores and tables."""

import csv
import json
from pathlib import Path

import pandas as pd
import pytest
from pipelines import configure, planned, snakemake

from paraphrastic import load_model

MODEL = "results/models/all"
TASKS = ("sts", "xling_sts", "tatoeba")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow("filters all corpora of the sample and trains")
def test_a_model_of_several_languages(finished: Path) -> None:
    corpora = ["sample_paranmt", "sample_opus", "sample_manythings", "sample_aligned"]
    definition = {
        "languages": ["en", "de", "es", "fr"],
        "corpora": corpora,
        "training": {"dimension": 32, "epochs": 2},
        "sweep": {"dropout": [0.0]},
    }
    configure(finished, "definitions.all", definition)
    configure(finished, "models", ["all"])
    # The corpora have been read and scored for the models of one language or two.
    assert not {"extract_corpus", "score_pairs"} & planned(finished, f"{MODEL}/model.safetensors").rules
    targets = [f"results/eval/all/{task}.json" for task in TASKS]
    run = snakemake(finished, *targets, f"{MODEL}/README.md", "results/tables/funnel.csv")
    assert run.returncode == 0, run.stdout

    merged = pd.read_parquet(finished / "results/corpora/all/pairs.parquet")
    used = merged.groupby("corpus").size().to_dict()
    funnel = rows(finished / "results/tables/funnel.csv")
    assert [(row["corpus"], int(row["kept"])) for row in funnel] == [
        (corpus, used[number]) for number, corpus in enumerate(corpora)
    ]
    # The noise of paraphrases is filtered as before, and so is that of the bitexts.
    for row, model in zip(funnel, ("en", "de", "es", "fr"), strict=True):
        corpus = row["corpus"]
        (counts,) = (finished / f"results/selected/{model}/{corpus}").glob("*.counts.json")
        own = json.loads((finished / f"results/selected/all/{corpus}/{counts.name}").read_text())
        assert own == json.loads(counts.read_text())

    scores = {task: json.loads(Path(finished, f"results/eval/all/{task}.json").read_text()) for task in TASKS}
    assert {"en-en", "es-es", "es-en"} <= {name.split("/")[1] for name in scores["xling_sts"]["datasets"]}
    assert scores["tatoeba"]["datasets"].keys() == {"de", "es", "fr"}
    model = load_model(finished / MODEL)
    same, other = model.score_raw_text(
        [("Ein Mann spielt Gitarre.", "A man plays a guitar."), ("Ein Mann spielt Gitarre.", "Two dogs run.")]
    )
    assert same > other
    card = (finished / MODEL / "README.md").read_text(encoding="utf-8")
    assert all(f"- {code}\n" in card for code in definition["languages"])
