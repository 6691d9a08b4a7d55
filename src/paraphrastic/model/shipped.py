"""The models that come with the package."""

from pathlib import Path

_FOLDER = Path(__file__).parents[1] / "models"


def shipped_models() -> dict[str, Path]:
    """The folder of each model that comes with the package, by name; see docs/models.md."""
    return {config.parent.name: config.parent for config in sorted(_FOLDER.glob("*/config.json"))}


def origin_of(folder: Path) -> str:
    """What finds a model's folder again in another process: a shipped model's name, or the whole path."""
    return next((name for name, place in shipped_models().items() if place == folder), str(folder.absolute()))


def folder_of(origin: str | Path) -> Path:
    """The folder that `origin_of` names, whatever the working directory is."""
    return shipped_models().get(str(origin), Path(origin))
