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


# Named settings of training: the papers', and what was found to be better (docs/recipe.md).
RECIPES: Mapping[str, Mapping[str, Any]] = {
    # Wieting et al. 2021, section 5.1, and the original code.
    "paper": {
        "init_std": 1.0,
        "init_sif": None,
        "margin": 0.4,
        "learning_rate": 0.001,
        "learning_rate_schedule": "constant",
    },
    "best": {
        "init_std": 0.1,
        "init_sif": 0.003,
        "margin": 0.6,
        "learning_rate": 0.003,
        "learning_rate_schedule": "linear",
    },
}


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
