"""What a checked configuration says of a model."""

from collections.abc import Mapping
from itertools import product
from typing import Any

Json = dict[str, Any]

# Sections that a definition can override for its model.
OVERRIDABLE = (
    "selection",
    "duplicates",
    "near_duplicates",
    "max_pairs",
    "vocabulary",
    "encoder",
    "recipe",
    "training",
    "sweep",
)

# Settings of training that no figure depends on: a change of them is no reason to train again.
WATCHING = ("checkpoint_minutes", "tensorboard")


def sweep_runs(config: Mapping[str, Any], model: str) -> dict[str, Json]:
    """Training settings of every run of a model's sweep, by the name of the run."""
    definition = config["definitions"][model]
    return {
        f"dropout-{dropout}-megabatch-{megabatch}": {
            **{key: value for key, value in definition["training"].items() if key not in WATCHING},
            "dropout": float(dropout),
            "megabatch": megabatch,
            "seed": definition.get("seed", config["seed"]),
        }
        for dropout, megabatch in product(definition["sweep"]["dropout"], definition["sweep"]["megabatch"])
    }


def pair_of(definition: Mapping[str, Any]) -> tuple[str, str]:
    """Languages of the two sides of a definition's pairs; the same one twice for paraphrases."""
    languages = definition["languages"]
    return languages[0], languages[-1]


def selection_kind(definition: Mapping[str, Any]) -> str:
    """Which section of the selection holds for a definition."""
    return "bitext" if len(definition["languages"]) == 2 else "paraphrase"
