"""Test how a configuration is reduced to some of its languages."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.settings.check import check_config
from paraphrastic_pipeline.settings.sections.fields import as_json

ROOT = Path(__file__).resolve().parents[2]


def narrowed(name: str, languages: Any, **more: Any) -> dict[str, Any]:
    config = yaml.safe_load((ROOT / "config" / f"{name}.yaml").read_text(encoding="utf-8"))
    checked, _ = check_config(
        {**config, **more, "languages": languages, "registry": str(ROOT / "config/datasets.tsv")}
    )
    return as_json(checked)


@pytest.mark.parametrize(
    ("name", "languages", "models"),
    [
        ("config", None, ["en", "de", "es", "fr"]),
        ("config", ["fr"], ["fr"]),
        ("config", ["fr", "en"], ["en", "fr"]),
        ("small", ["de"], ["de", "de-paper"]),
    ],
)
def test_models_of_the_languages_are_kept_in_their_order(
    name: str, languages: list[str] | None, models: list[str]
) -> None:
    assert narrowed(name, languages)["models"] == models


@pytest.mark.parametrize(
    ("languages", "cause"),
    [
        (["xx", "fr"], "xx"),
        ("fr", r"\[fr\]"),
        ([], "1"),
    ],
)
def test_languages_without_a_model_are_told(languages: Any, cause: str) -> None:
    with pytest.raises(InputError, match=f"^config: languages: .*{cause}"):
        narrowed("config", languages)
