"""The models that come with the package."""

from pathlib import Path

_FOLDER = Path(__file__).parents[1] / "models"


def shipped_models() -> dict[str, Path]:
    """The folder of each model that comes with the package, by name; see docs/models.md."""
    return {config.parent.name: config.parent for config in sorted(_FOLDER.glob("*/config.json"))}
