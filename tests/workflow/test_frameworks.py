"""Test the recipes for Chroma, LangChain, LlamaIndex and Haystack by running each as its reader would."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pipelines import ROOT, environment

RECIPES = {
    "chroma": "chromadb",
    "langchain": "langchain_core",
    "llama_index": "llama_index",
    "haystack": "haystack",
}


@pytest.mark.slow("imports large libraries")
@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_finds_the_nearest_sentence(name: str, tmp_path: Path) -> None:
    if importlib.util.find_spec(RECIPES[name]) is None:
        pytest.skip(f"{name} is not installed: `make install-frameworks`")
    recipe = shutil.copy(ROOT / f"docs/frameworks/with_{name}.py", tmp_path)
    variables = {**environment(), "PYTHONPATH": str(ROOT / "src")}
    variables |= {"ANONYMIZED_TELEMETRY": "False", "HAYSTACK_TELEMETRY_ENABLED": "False"}
    # Chroma keeps its collection, and opens it again the second time.
    for _ in range(2 if name == "chroma" else 1):
        run = subprocess.run(
            [sys.executable, recipe], cwd=tmp_path, env=variables, text=True, capture_output=True, check=False
        )
        assert run.returncode == 0, run.stderr
        assert run.stdout == "A man plays the guitar.\n"


def test_there_are_recipes() -> None:
    assert {path.stem.removeprefix("with_") for path in (ROOT / "docs/frameworks").iterdir()} == {*RECIPES}
