"""Test that the origins of a result can be traced and that later changes to them are named."""

import json
import logging
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import sha256
from paraphrastic.cli import main
from paraphrastic_pipeline.base.records import recorded
from paraphrastic_pipeline.report.provenance import verify, write_provenance

CONFIG = {"seed": 7, "models": ["en"]}
Step = Callable[..., None]


def run_step(name: str, inputs: list[str], outputs: list[str]) -> None:
    """Act like a pipeline's step: write outputs and a log."""
    log = Path(f"results/logs/{name}.log")
    log.parent.mkdir(parents=True, exist_ok=True)
    handler = logging.FileHandler(log, mode="w")
    logger = logging.getLogger("paraphrastic_pipeline.base.records")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        with recorded(name, inputs=inputs, outputs=outputs, config=CONFIG, code="abc"):
            for path in outputs:
                Path(path).parent.mkdir(parents=True, exist_ok=True)
                Path(path).write_text(f"{path}\n")
    finally:
        logger.removeHandler(handler)
        handler.close()


@pytest.fixture
def step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Step:
    """`run_step`, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return run_step


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the results of two models, each made from its own download, and their provenance."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for model in ("en", "fr"):
            download, pairs = f"resources/downloads/{model}/pairs.gz", f"results/pairs/{model}.parquet"
            run_step(f"download_{model}", [], [download])
            run_step(f"extract_{model}", [download], [pairs])
            run_step(
                f"train_{model}",
                [pairs, "config/published/sts.csv"],
                [f"results/models/{model}/model.safetensors"],
            )
        models = [f"results/models/{model}/model.safetensors" for model in ("en", "fr")]
        run_step("tabulate", models, ["results/tables/sts.csv"])
        written(*models, "results/tables/sts.csv")
    return folder


@pytest.fixture
def run(made: Path, step: Step, tmp_path: Path) -> Path:
    """The results of `made`, in a copy that is the working folder."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return Path("results")


def written(*results: str) -> dict[str, dict]:
    write_provenance(results, "results/provenance.json", logs="results/logs", config=CONFIG)
    return json.loads(Path("results/provenance.json").read_text())


def test_data_are_followed_through_all_steps(run: Path) -> None:
    content = json.loads((run / "provenance.json").read_text())
    downloads = {model: f"resources/downloads/{model}/pairs.gz" for model in ("en", "fr")}
    assert content["results"]["results/models/en/model.safetensors"]["data"] == [downloads["en"]]
    assert content["results"]["results/tables/sts.csv"]["data"] == sorted(downloads.values())
    about = content["data"][downloads["fr"]]
    assert about["sha256"] == sha256(downloads["fr"])


def test_a_result_says_who_made_it_when_and_with_what(run: Path) -> None:
    content = json.loads((run / "provenance.json").read_text())
    about = content["results"]["results/tables/sts.csv"]
    assert (about["step"], about["code"], about["seed"]) == ("tabulate", "abc", 7)
    assert about["host"] == os.uname().nodename
    assert about["time"].endswith("+00:00")
    assert about["config"] == content["config_digest"]
    environment = content["environments"][about["environment"]]
    assert environment["packages"]["pytest"] == pytest.__version__
    assert environment["python"] == ".".join(map(str, sys.version_info[:3]))


def test_a_result_without_a_record_has_its_digest(run: Path) -> None:
    shutil.rmtree(run / "logs")
    (run / "logs").mkdir()
    (run / "logs/cut.log").write_text('provenance: {"step": "tabul')
    about = written("results/tables/sts.csv")["results"]["results/tables/sts.csv"]
    assert about["sha256"] == sha256(run / "tables/sts.csv")
    assert about["host"] is None
    assert about["data"] == []


def test_the_latest_record_counts(run: Path) -> None:
    log = run / "logs/a_earlier.log"
    record = json.loads((run / "logs/tabulate.log").read_text().partition("provenance: ")[2])
    log.write_text(
        "provenance: " + json.dumps({**record, "step": "earlier", "time": "2001-01-01T00:00:00+00:00"})
    )
    later = {**record, "step": "later", "time": "2999-01-01T00:00:00+00:00"}
    (run / "logs/b_later.log").write_text("provenance: " + json.dumps(later))
    about = written("results/tables/sts.csv")["results"]["results/tables/sts.csv"]
    assert about["step"] == "later"


def test_a_step_that_fails_records_nothing(step: Step) -> None:
    with pytest.raises(IsADirectoryError):
        step("broken", [], ["results"])
    assert "provenance" not in Path("results/logs/broken.log").read_text()


def test_a_result_that_is_missing_is_an_error(run: Path) -> None:
    with pytest.raises(InputError, match=r"results/tables/none\.csv: No such file"):
        written("results/tables/none.csv")


def test_untouched_results_verify(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify"]) == 0
    assert capsys.readouterr().out == "results: 5 files are unchanged\n"


def test_what_differs_is_named(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run / "tables/sts.csv").write_text("forged\n")
    (run / "models/fr/model.safetensors").unlink()
    Path("resources/downloads/en/pairs.gz").write_text("another\n")
    assert main(["verify", "--results", "results"]) == 1
    found = capsys.readouterr()
    assert re.search(r"results/tables/sts\.csv: has 7 bytes, not \d+\n", found.out)
    assert "results/models/fr/model.safetensors: does not exist" in found.out
    assert re.search(r"resources/downloads/en/pairs\.gz: has 8 bytes, not \d+\n", found.out)
    assert len(found.out.splitlines()) == 3
    assert "results: 3 of 5 files differ" in found.err


def test_a_record_of_a_stranger_shows_no_digest_of_a_file(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("nobody else's business")
    path = run / "provenance.json"
    about = {"sha256": "0" * 64, "bytes": secret.stat().st_size}
    path.write_text(json.dumps({**json.loads(path.read_text()), "results": {}, "data": {str(secret): about}}))
    assert main(["verify"]) == 1
    said = capsys.readouterr()
    assert f"{secret}: does not have the SHA-256 {'0' * 64}" in said.out
    assert sha256(secret) not in said.out + said.err


def test_results_can_be_verified_elsewhere_and_without_their_data(run: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(run, tmp_path / "elsewhere/copy"))
    found = verify(copy)
    assert (found.same, dict(found.differing)) == (3, {})
    assert len(found.absent) == 2
    (copy / "tables/sts.csv").write_text("forged\n")
    assert list(verify(copy).differing) == [str(copy / "tables/sts.csv")]


def test_names_are_no_commands_to_a_terminal(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = run / "provenance.json"
    path.write_text(path.read_text().replace("results/tables/sts.csv", "results/\\u001b[2J"))
    assert main(["verify"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "results have the path 'results/\\x1b[2J', which cannot be a file of theirs\n" in captured.err


def test_another_configuration_is_noticed(run: Path) -> None:
    path = run / "provenance.json"
    path.write_text(path.read_text().replace('"models": [', '"models": ["de",'))
    assert list(verify(run).differing) == [str(path)]


@pytest.mark.parametrize(
    "text", ["{", "[]", "null", '{"format": 1}', '{"format": 2, "results": {}, "data": {}}']
)
def test_a_damaged_record_is_one_line(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "provenance.json").write_text(text)
    assert main(["verify", "--results", str(tmp_path)]) == 1
    assert capsys.readouterr().err.count("\n") == 1


STRANGE = ", which cannot be a file of theirs"


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("results", [], "results are not listed by their paths"),
        ("data", None, "data are not listed by their paths"),
        ("data", {"": {"sha256": "", "bytes": 0}}, f"data have the path ''{STRANGE}"),
        ("results", {"/etc/passwd": {}}, f"results have the path '/etc/passwd'{STRANGE}"),
        ("results", {"results/../../x": {}}, f"results have the path 'results/../../x'{STRANGE}"),
        ("results", {"a.csv": []}, "its entry on a.csv is incomplete"),
        ("data", {"a.csv": {"sha256": [], "bytes": 1}}, "its entry on a.csv is incomplete"),
        ("data", {"a.csv": {"sha256": "0", "bytes": "1"}}, "its entry on a.csv is incomplete"),
        ("written", None, "its entry `written` is incomplete"),
    ],
)
def test_a_record_of_another_shape_is_one_line(
    run: Path, key: str, value: object, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = run / "provenance.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))
    assert main(["verify"]) == 1
    assert capsys.readouterr().err == f"paraphrastic: error: {path}: {message}\n"


def test_results_without_a_record_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--results", str(tmp_path)]) == 1
    assert "provenance.json: does not exist" in capsys.readouterr().err


def test_the_commit_is_that_of_the_code_alone(tmp_path: Path) -> None:
    """A copy of the code inside another repository does not report that repository's commit."""
    package = Path(__file__).resolve().parents[2] / "src" / "paraphrastic_pipeline"
    inside = tmp_path / "src" / "paraphrastic_pipeline"
    inside.mkdir(parents=True)
    (inside / "base").mkdir()
    (inside / "__init__.py").write_text("")
    shutil.copy(package / "base" / "records.py", inside / "base")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "empty"], check=True)
    command = [sys.executable, "-c", "from paraphrastic_pipeline.base.records import commit; print(commit())"]

    def commit() -> str:
        environment = {**os.environ, "PYTHONPATH": str(tmp_path / "src")}
        return subprocess.check_output(command, env=environment, text=True).strip()

    assert commit() == "None"
    subprocess.run([*git, "add", "src"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "code"], check=True)
    head = subprocess.check_output([*git, "rev-parse", "HEAD"], text=True).strip()
    assert commit() == head
    (inside / "base/records.py").write_text((inside / "base/records.py").read_text() + "\n")
    assert commit() == f"{head}-dirty"
