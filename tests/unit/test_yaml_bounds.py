"""Test that a YAML text which stands for far more than it says, or asks for code, is refused at once."""

from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from paraphrastic_pipeline.base.yaml_bounds import MOST_LEVELS, MOST_REPEATED, RefusedError, check_bounds

from paraphrastic.base.errors import InputError
from paraphrastic.cli import main
from paraphrastic_pipeline.settings.check import read_config
from paraphrastic_pipeline.settings.yaml import read_yaml
from snakemake_logger_plugin_paraphrastic import refuse_files

LETTERS = "bcdefghij"


def chain(first: str, line: str, length: int = len(LETTERS)) -> str:
    """A text whose entries each repeat the one before; `line` has its name as NEW and the other as *OLD."""
    names = ["a", *(f"{LETTERS[n % 9]}{n}" for n in range(length))]
    lines = (line.replace("OLD", old).replace("NEW", new) for old, new in pairwise(names))
    return "\n".join([f"a: &a {first}", *lines])


ENDLESS = {
    "lists": (chain("[lol, lol]", f"NEW: &NEW [{', '.join(['*OLD'] * 9)}]"), "aliases repeat"),
    "mappings": (
        chain("{k: v}", f"NEW: &NEW {{{', '.join(f'k{n}: *OLD' for n in range(9))}}}"), "aliases repeat"
    ),
    "merges": (chain("{k: v}", f"NEW: &NEW {{<<: [{', '.join(['*OLD'] * 9)}]}}"), "aliases repeat"),
    "long words": (f"a: &a {'x' * 10_000}\nb: [{', '.join(['*a'] * 101)}]", "aliases repeat"),
    "keys": (chain("[a, b]", "NEW: &NEW {? *OLD : 1, k: [*OLD, *OLD]}", 25), "aliases repeat"),
    "code": ("__use_yte__: true\na: ?open('x', 'w')", "Snakemake would run code"),
    "code by another name": ('seed: 1\n<<: {"__use\\x5fyte__": yes}', "Snakemake would run code"),
    "a circle": ("a: &a [1, *a]", r"the alias \*a is part of what it repeats"),
    "a wider circle": ("a: &a {b: {c: [*a]}}", r"the alias \*a is part of what it repeats"),
    "depth in brackets": ("a: " + "[" * 100_000, "nested more than 100 deep"),
    "depth in lines": ("- " * 5000 + "1", "nested more than 100 deep"),
    "depth by aliases": (chain("[1]", "NEW: &NEW [*OLD]", 200), "nested more than 100 deep"),
    "depth in JSON": ('{"a": ' * 5000 + "1" + "}" * 5000, "nested more than 100 deep"),
}  # fmt: skip


@pytest.mark.parametrize("kind", ENDLESS)
def test_an_endless_text_is_refused_with_its_line(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text, message = ENDLESS[kind]
    path = tmp_path / "x.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=rf"x\.yaml:\d+: .*{message}") as told:
        read_config([path])
    assert "not YAML" not in str(told.value)
    # Snakemake reads the file before the workflow can.
    for arguments in (["-n", "--configfile", str(path)], [f"--configfile={path}"]):
        with pytest.raises(SystemExit, match=rf"^{path}:\d+: .*{message}"):
            refuse_files(arguments)
    if len(text) < 1000:
        monkeypatch.chdir(Path(__file__).parents[2])
        assert main(["config", "--config", f"models={{{text}}}".replace("\n", ", ")]) == 1
        assert len(capsys.readouterr().err.splitlines()) == 1


def test_aliases_that_repeat_little_are_read() -> None:
    text = f"a: &a {'x' * 1000}\nb: [{', '.join(['*a'] * (MOST_REPEATED // 1001))}]"
    assert len(read_yaml(text)["b"]) == 999
    assert read_yaml(chain("[1]", "NEW: &NEW [*OLD]", MOST_LEVELS - 2))
    with pytest.raises(RefusedError):
        read_yaml(text.replace("b: [", "b: [*a, "))


def test_a_long_text_without_aliases_is_read() -> None:
    assert len(read_yaml("\n".join(f"- {'x' * 500}" for _ in range(2500)))) == 2500


def test_other_arguments_and_faults_are_left_to_snakemake(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("a: [")
    (tmp_path / "y.json").write_bytes(b"\xff")
    files = (tmp_path / "x.yaml", tmp_path / "y.json", tmp_path / "gone.yaml", tmp_path)
    refuse_files(["-n", "results/a.yaml", "--config", "a=[b", *map(str, files), "x" * 5000])
    with pytest.raises(yaml.YAMLError):
        read_yaml("a: [")
    check_bounds("a: [")
