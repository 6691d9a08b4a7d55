"""The best run of a sweep becomes the model."""

import csv
import logging
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paraphrastic.files import atomic_output, read_json
from paraphrastic.model import CONFIG, SENTENCEPIECE, WEIGHTS
from paraphrastic.structure import Structure, encoder_name

log = logging.getLogger(__name__)

# Pearson's r × 100 on STS 2017 en-en of each run, and which one became the model.
SWEEP = ["dropout", "megabatch", "development", "chosen"]


def choose_model(scores: Sequence[Path], counts: Path, output: Path) -> None:
    """Copy the run with the highest development score to `output`, with a model card and the sweep's table.

    Of runs with equal scores the first is taken.

    Args:
        scores: one `development.json` a run, in the folder of the run's model.
        counts: JSON file of `merge_pairs`, for the card.
        output: the model's folder.
    """
    values = [float(read_json(score)["pearson"]) for score in scores]
    chosen = max(range(len(scores)), key=lambda run: values[run])
    folder = scores[chosen].parent
    log.info("%s: chosen of %d runs, Pearson %.2f on STS 2017 en-en", folder, len(scores), values[chosen])
    for name in (WEIGHTS, SENTENCEPIECE, CONFIG):
        with atomic_output(output / name) as temporary:
            shutil.copyfile(folder / name, temporary)
    runs = []
    for index, (score, value) in enumerate(zip(scores, values, strict=True)):
        training = read_json(score.parent / CONFIG)["training"]
        settings = [training["dropout"], training["megabatch"]]
        runs.append([*settings, f"{value:.2f}", "yes" if index == chosen else ""])
    _write(output / "sweep.csv", SWEEP, runs)
    with atomic_output(output / "README.md") as temporary:
        card = _card(read_json(folder / CONFIG), read_json(counts), values[chosen])
        temporary.write_text(card, encoding="utf-8")


def tabulate_sweep(sweeps: Mapping[str, Path], output: Path) -> None:
    """Write the sweeps of all models as one table: `model`, and the columns `SWEEP`.

    Args:
        sweeps: CSV file of `choose_model` by model, in the order of the rows.
        output: the CSV file.
    """
    rows = []
    for model, path in sweeps.items():
        with path.open(encoding="utf-8", newline="") as file:
            rows += [[model, *row] for row in list(csv.reader(file))[1:]]
    _write(output, ["model", *SWEEP], rows)


def _write(output: Path, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    with atomic_output(output) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def _card(config: dict[str, Any], counts: dict[str, Any], score: float) -> str:
    languages = config["languages"]
    corpora = "\n".join(
        f"| {name} | {version} | {corpus['kept']:,} |"
        for (name, version), corpus in zip(config["corpora"].items(), counts["corpora"], strict=True)
    )
    settings = "\n".join(f"| {name} | {value} |" for name, value in config["training"].items())
    embedded = scored = ""
    if "structure" in config and Structure.from_json(config["structure"]).separate:
        first = languages[0]
        embedded, scored = f', language="{first}"', f', languages=("{first}", "{first}")'
    return f"""---
language: [{", ".join(languages)}]
tags: [sentence-similarity, paraphrase]
---
# Paraphrastic sentence embeddings: {config["model"]}

Languages: {" and ".join(languages)}. {_description(config)}

```python
from paraphrastic import load_model

model = load_model("results/models/{config["model"]}")
model.embed_raw_text(["This is a test."]{embedded})  # float32 [1, {config["dimension"]}]
model.score_raw_text([("This is a test.", "This is another test.")]{scored})  # cosines
```

Pearson's r × 100 on STS 2017 en-en, on which the run was chosen: {score:.1f}.

| corpus | version | pairs |
| --- | --- | ---: |
{corpora}

| setting | value |
| --- | --- |
{settings}
"""


def _description(config: dict[str, Any]) -> str:
    """What a sentence's vector is, in words."""
    if config["training"].get("epochs") == 0:
        name = encoder_name(config)
        return f"A baseline: {name}, in {config['dimension']} dimensions,\nwhose parameters were not trained."
    if "structure" not in config:
        unit = config.get("unit", "subword")
        return (
            f"A sentence is the average of its {unit}s' embeddings, in\n{config['dimension']} dimensions, "
            "trained as in *Paraphrastic Representations at Scale* (Wieting et al. 2021)."
        )
    return (
        f"The encoder is {encoder_name(config)}, in {config['dimension']} dimensions;\n"
        "`config.json` has its parts under `structure`."
    )
