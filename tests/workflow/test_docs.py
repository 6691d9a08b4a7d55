"""Test that the documentation is true: commands plan, Python runs, paths exist, settings are explained."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from documentation import generate
from pipelines import ROOT, snakemake

from paraphrastic.cli import main
from paraphrastic_pipeline.base.tables import read_csv
from paraphrastic_pipeline.settings.faults import keys_of
from paraphrastic_pipeline.settings.sections.configuration import Configuration

PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "config" / "README.md",
        *(ROOT / "docs").rglob("*.md"),
    ]
)

# Other tests type the quick starts as a whole.
GUIDES = [page for page in PAGES if page.parent.name != "quickstart"]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)


def slow_elsewhere(page: Path) -> list[pytest.MarkDecorator]:
    """Mark what is on another page than the README as slow."""
    return [] if page.name == "README.md" else [pytest.mark.slow("tries each example of the pages")]


COMMANDS = [
    pytest.param(line.split("#")[0].strip(), id=f"{page.stem}: {line}", marks=slow_elsewhere(page))
    for page in GUIDES
    for block in blocks(page, "sh")
    for line in block.splitlines()
    # Another test writes the configuration that README describes.
    if line.startswith("snakemake") and "mine.yaml" not in line
]


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_plan(finished_once: Path, line: str) -> None:
    program, *arguments = shlex.split(line)
    assert program == "snakemake"
    run = snakemake(finished_once, "--dry-run", *(a for a in arguments if a not in ("--cores", "all", "8")))
    assert run.returncode == 0, run.stdout


# These commands need only what the sample's models need. Commands for corpora would need a network.
EXAMPLES = [
    pytest.param(
        [line.replace("\\\n", " ") for line in lines],
        id=f"{page.stem}: {lines[0][:24]}",
        marks=slow_elsewhere(page),
    )
    for page in GUIDES
    for block in blocks(page, "sh")
    if (
        lines := re.findall(
            r"^paraphrastic (?:embed|score|evaluate|mine|search|dedup|export|report) (?:.*\\\n)*.*$",
            block,
            re.M,
        )
    )
]
OUTPUTS = ("--output", "--report")


@pytest.fixture(scope="module")
def own_finished(finished_once: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the pipeline with the finished run of the sample, for examples that write files."""
    return Path(shutil.copytree(finished_once, tmp_path_factory.mktemp("docs") / "pipeline"))


@pytest.mark.parametrize("lines", EXAMPLES)
def test_examples_run(own_finished: Path, monkeypatch: pytest.MonkeyPatch, lines: list[str]) -> None:
    monkeypatch.chdir(own_finished)
    # The examples use this name for the reader's own file.
    Path("pairs.tsv").write_text("A dog runs.\tThe dog is running.\n")
    Path("sentences.txt").write_text("A man plays the guitar.\nIt is raining.\n")
    Path("query.txt").write_text("a musician\n")
    Path("texts.csv").write_text("number,text,other\n7,A dog runs.,The dog is running.\n")
    written = []
    for line in lines:
        arguments = shlex.split(line)[1:]
        assert main(arguments) == 0, line
        named = [arguments[n + 1] for n, word in enumerate(arguments) if word in OUTPUTS]
        written += [Path(name) for name in named if name != "-"]
    for path in written:
        if path.is_dir():
            assert (path / "README.md").read_text(encoding="utf-8").rstrip().endswith(".")
            shutil.rmtree(path)
        else:
            assert path.stat().st_size > 0
            path.unlink()


# The example of `corpora` needs a network; the tests of OPUS run this command instead.
COMMANDS_WITH_EXAMPLES = ("embed", "score", "search", "dedup", "mine", "new", "config", "report")


@pytest.mark.slow("tries each example of the help")
@pytest.mark.parametrize("command", COMMANDS_WITH_EXAMPLES)
def test_examples_of_help_run(own_finished: Path, command: str) -> None:
    before = set(own_finished.iterdir())
    if command == "config":
        (own_finished / "mine.yaml").write_text("seed: 2\n")  # the reader's own settings
    run = [sys.executable, "-m", "paraphrastic.cli"]
    page = subprocess.run([*run, command, "--help"], capture_output=True, text=True, check=True).stdout
    example = re.split("examples?:\n", page)[1].split("\n\n")[0]
    shell = f'paraphrastic() {{ {shlex.join(run)} "$@"; }}\nset -eo pipefail\n{example}'
    subprocess.run(["bash", "-c", shell], cwd=own_finished, check=True)
    for path in set(own_finished.iterdir()) - before:
        assert path.stat().st_size
        path.unlink()


@pytest.mark.slow("tries each example of the pages")
@pytest.mark.parametrize(
    "page", [page for page in GUIDES if blocks(page, "python")], ids=lambda page: page.stem
)
def test_python_examples_run(own_finished: Path, monkeypatch: pytest.MonkeyPatch, page: Path) -> None:
    monkeypatch.chdir(own_finished)
    names: dict[str, Any] = {}
    for block in blocks(page, "python"):
        exec(compile(block, str(page), "exec"), names)
    if "vectors" in names:
        assert names["vectors"].shape[1] == names["model"].dim
    assert all(-1 <= score <= 1 for score in names.get("scores", ()))


def test_readme_shows_what_its_example_prints(capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    ((code, shown),) = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", text, re.M | re.S)
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out == shown


def test_the_figures_of_the_readme_are_those_of_the_run_that_its_picture_shows() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\| .* \| ([\d.]+) \| ([\d,]+) \| ([\d.]+) \|$", text, re.M)
    rows = read_csv(ROOT / "docs/pictures/front.csv")
    measured = {
        (row["sts"], f"{int(row['sentences_per_second']):,}", row["megabytes"])
        for row in rows
        if row["source"] == "measured"
    }
    assert set(shown) == measured
    assert len(shown) == 5
    slowest = min(int(row["sentences_per_second"]) for row in rows if row["system"].startswith("en"))
    assert "half a million sentences a second on one core" in text
    assert 500_000 <= slowest < 600_000


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    for link in links:
        if not link.startswith("http"):
            assert (page.parent / link).exists(), link


def test_the_site_has_every_page(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "docs/site.py", tmp_path / "pages"], cwd=ROOT, check=True)
    pages = {path.relative_to(tmp_path / "pages").as_posix() for path in (tmp_path / "pages").rglob("*.md")}
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert set(re.findall(r": ([\w/-]+\.md)$", text, re.M)) == pages
    for page in pages:
        for link in re.findall(r"\]\(([^)#]+)\)", (tmp_path / "pages" / page).read_text(encoding="utf-8")):
            assert "://" in link or (tmp_path / "pages" / page).parent.joinpath(link).exists(), (page, link)


def test_every_setting_is_explained() -> None:
    page = generate.settings()
    for section in keys_of(Configuration):
        assert re.search(rf"^\| `{section}[.`]", page, re.M), section


def test_editors_accept_the_configurations() -> None:
    schema = json.loads(generate.schema())
    jsonschema.Draft202012Validator.check_schema(schema)
    editor = jsonschema.Draft202012Validator(schema)
    for path in [*(ROOT / "config").glob("*.yaml"), *(ROOT / "config/papers").glob("*.yaml")]:
        assert not list(editor.iter_errors(yaml.safe_load(path.read_text(encoding="utf-8")))), path
    assert list(editor.iter_errors({"models": ["en"], "definitions": {"en": {"languages": "en"}}}))


def test_the_environments_have_the_locked_versions() -> None:
    pinned = [(ROOT / f"requirements/{name}.txt").read_text().lower() for name in ("all", "torch")]
    locked = dict(re.findall(r"^([\w.-]+)==([\w.]+)", "\n".join(pinned), re.MULTILINE))
    for path in (ROOT / "envs").glob("*.yaml"):
        entries = yaml.safe_load(path.read_text())["dependencies"]
        pins = [entry for entry in entries if isinstance(entry, str)]
        pins += [entry for group in entries if isinstance(group, dict) for entry in group["pip"]]
        for name, version in (re.split("=+", pin) for pin in pins if "=" in pin):
            assert name == "python" or locked[name] == version, f"{path.name}: {name}"
