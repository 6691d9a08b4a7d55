"""Test that YAML means what people take it for, and that an endless text is refused at once."""

from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from paraphrastic.base.errors import InputError
from paraphrastic.cli import main
from paraphrastic_pipeline.settings.check import read_config
from paraphrastic_pipeline.settings.yaml import read_yaml


def chain(first: str, line: str, length: int = 9) -> str:
    """A text whose entries each repeat the one before; `line` has its name as NEW and the other as *OLD."""
    names = [f"a{n}" for n in range(length + 1)]
    lines = (line.replace("OLD", old).replace("NEW", new) for old, new in pairwise(names))
    return "\n".join([f"a0: &a0 {first}", *lines])


REFUSED = {
    "lists": (chain("[lol, lol]", f"NEW: &NEW [{', '.join(['*OLD'] * 9)}]"), "aliases"),
    "code": ("__use_yte__: true\na: ?open('x', 'w')", "code"),
    "code by another name": ('seed: 1\n<<: {"__use\\x5fyte__": yes}', "code"),
    "a circle": ("a: &a [1, *a]", ""),
    "depth": ("a: " + "[" * 100_000, "deep"),
    "a key that is given twice": ("training:\n  margin: 1\n  'margin': 1\n", "margin"),
    **{number: (f"seed: {number}", number) for number in ("1_000", "010", "0x1F", "1:30", "1_0.5", "1:30.5")},
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_text_that_misleads_is_refused(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text, cause = REFUSED[kind]
    path = tmp_path / "x.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=f"x.yaml.*{cause}"):
        read_config([path])
    monkeypatch.chdir(Path(__file__).parents[2])
    assert main(["config", "--config", f"models={text}"]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("text", ["1", "-0.5", "1e-3", "1.0e+5", ".5", "2.", "'010'", "0", "[.inf, .nan]"])
def test_plain_numbers_are_read_as_yaml_does(text: str) -> None:
    assert repr(read_yaml(text)) == repr(yaml.safe_load(text))


def test_long_texts_and_aliases_that_repeat_little_are_read() -> None:
    assert len(read_yaml("\n".join(f"- {'x' * 500}" for _ in range(2500)))) == 2500
    assert read_yaml(chain("[1]", "NEW: &NEW [*OLD]", 50))
    assert read_yaml("a: &a {x: 1}\nb: &b {y: 2}\nc: {<<: *a, <<: *b, x: 3}")["c"] == {"x": 3, "y": 2}
    assert read_yaml("") is None
