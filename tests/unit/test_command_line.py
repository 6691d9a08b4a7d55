"""Test which version the command line reports."""

from importlib import metadata

import pytest

from paraphrastic.cli import main


@pytest.mark.parametrize(
    ("versions", "line"),
    [
        ({"paraphrastic": "1.2.3"}, "paraphrastic 1.2.3\n"),
        ({}, "paraphrastic (a copy of the code that is not installed)\n"),
    ],
)
def test_the_version_is_that_which_is_installed(
    versions: dict[str, str], line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def version(name: str) -> str:
        if name not in versions:
            raise metadata.PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr(metadata, "version", version)
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == line
