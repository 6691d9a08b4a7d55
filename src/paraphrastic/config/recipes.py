"""Named settings of training: the papers', and what was found to be better (`docs/recipe.md`)."""

from collections.abc import Mapping
from typing import Any

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
