"""Test what is written about a run."""

import json
import subprocess
import sys
from pathlib import Path

from paraphrastic_pipeline.report.provenance import config_digest, write_provenance


def test_code_configuration_and_packages_are_written(tmp_path: Path) -> None:
    config = {"seed": 3, "models": ["en"]}
    (tmp_path / "a b.csv").write_text("x")
    write_provenance(tmp_path / "p.json", tmp_path / "sums", files=[tmp_path / "a b.csv"], config=config)
    content = json.loads((tmp_path / "p.json").read_text())
    assert (content["seed"], content["config"]) == (3, config)
    assert content["config_digest"] == config_digest(dict(reversed(config.items())))
    assert content["config_digest"] != config_digest({**config, "seed": 4})
    assert {"time", "host", "processor", "commit", "python"} < content["written"].keys()
    assert "numpy" in content["written"]["packages"]
    check = ["sha256sum", "--check", "--quiet", tmp_path / "sums"]
    assert subprocess.run(check, check=False).returncode == 0
    (tmp_path / "a b.csv").write_text("y")
    assert subprocess.run(check, check=False, capture_output=True).returncode != 0


def test_the_commit_is_that_of_the_code(tmp_path: Path) -> None:
    """A copy of the code within a repository of somebody else has no commit."""
    source = Path(__file__).parents[2] / "src"
    for name in ("paraphrastic", "paraphrastic_pipeline"):
        (tmp_path / name).mkdir()
        for path in (source / name).rglob("*.py"):
            target = tmp_path / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    code = "from paraphrastic_pipeline.report.provenance import commit; print(commit())"
    run = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert run.stdout.strip() == "None"
