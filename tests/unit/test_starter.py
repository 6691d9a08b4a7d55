"""Test that the pipeline accepts a configuration from `paraphrastic new` without changes."""

import gzip
import json
import re
import shlex
from pathlib import Path

import pytest
import yaml

from paraphrastic import InputError
from paraphrastic.cli import main
from paraphrastic_pipeline.settings.check import check_config, read_config
from paraphrastic_pipeline.workflow.starter import starter_configuration

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _in_the_folder_of_the_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def write_pairs(path: Path, n: int = 9, *, score: bool = False) -> str:
    lines = [
        f"Sentence {i} is here.\tSatz {i} ist hier.{f'{chr(9)}0.{i % 10}' if score else ''}\n"
        for i in range(n)
    ]
    text = "".join(lines).encode()
    path.write_bytes(gzip.compress(text, mtime=0) if path.suffix == ".gz" else text)
    return str(path)


def write(path: Path, *rows: str) -> str:
    path.write_text("".join(f"{row}\n" for row in rows))
    return str(path)


def test_a_file_of_translations(tmp_path: Path) -> None:
    path = write_pairs(tmp_path / "my.tsv.gz", 3000)
    text = starter_configuration(["en", "pl"], [path], "pl.yaml")
    config = yaml.safe_load(text)
    assert config["models"] == ["pl"]
    assert config["definitions"] == {"pl": {"languages": ["en", "pl"], "corpora": [{"path": path}]}}
    assert config["training"]["dimension"] == 300
    assert "--configfile pl.yaml" in text
    # Three pairs are shown as they will be read.
    assert [f"#     Sentence {i} is here. | Satz {i} ist hier.\n" in text for i in range(4)] == [True] * 3 + [
        False
    ]
    # The configuration has at most twelve lines, and the data sets for languages and STS are filled in.
    assert sum(1 for line in text.splitlines() if line and not line.startswith("#")) <= 12
    checked, _ = check_config(config)
    assert (checked.language_id, checked.evaluation.sts) == ("lid176", "sts")


@pytest.mark.parametrize("score", [False, True])
def test_pairs_with_low_scores_are_counted_and_not_shown(tmp_path: Path, score: bool) -> None:
    path = write_pairs(tmp_path / "my.tsv", score=score)
    text = starter_configuration(["en"], [path], "en.yaml", columns=["1", "2", "3"][: 2 + score])
    assert yaml.safe_load(text)["models"] == ["en"]
    assert ("4 of the first 9" in text) is score
    assert ("#     Sentence 0 is here." in text) is not score
    assert "#     Sentence 4 is here." in text or not score
    check_config(yaml.safe_load(text))


@pytest.mark.parametrize(("languages", "section"), [(["en", "xog"], "bitext"), (["xog"], "paraphrase")])
def test_a_language_that_the_identifier_does_not_know(
    tmp_path: Path, languages: list[str], section: str
) -> None:
    text = starter_configuration(languages, [write_pairs(tmp_path / "my.tsv")], "xog.yaml")
    selection = yaml.safe_load(text)["definitions"]["xog"]["selection"]
    assert selection[section]["language"] is None
    check_config(yaml.safe_load(text))


@pytest.mark.parametrize(
    ("name", "rows", "columns"),
    [
        ("my.tsv", ["1\tGo.\t7\tIdź.", "2\tNo.\t8\tNie."], ["2", "4"]),
        ("my.tsv", ["Go.\tIdź.\t0.5", "No.\tNie.\t0.25"], ["1", "2"]),
        ("my.csv", ["id,this,that", '1,"Go, go.",Idź.', "2,No.,Nie."], ["this", "that"]),
        ("my.jsonl", [json.dumps({"a": "Go.", "b": "Idź."})], ["a", "b"]),
    ],
)
def test_columns_are_asked_for(tmp_path: Path, name: str, rows: list[str], columns: list[str]) -> None:
    path = write(tmp_path / name, *rows)
    with pytest.raises(InputError, match=rf"{name}: .*columns"):
        starter_configuration(["en", "pl"], [path], "mine.yaml")
    text = starter_configuration(["en", "pl"], [path], "mine.yaml", columns=columns)
    (entry,) = yaml.safe_load(text)["definitions"]["pl"]["corpora"]
    assert [str(column) for column in entry["columns"]] == columns
    assert "| Idź." in text
    check_config(yaml.safe_load(text))


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("my.csv", ["pl,en,note", "Idź.,Go.,good", "Nie.,No.,good"]),
        ("my.csv", ["source;target;id", '"Go; go.";Idź.;1']),
        ("my.tsv", ["query\tpassage\tnegative", "Go.\tIdź.\tNie."]),
        ("my.jsonl", [json.dumps({"question": "Go.", "answer": "Idź.", "id": "7"})]),
        ("my.txt", ["Go.\tIdź."]),
    ],
)
def test_known_columns_are_found(tmp_path: Path, name: str, rows: list[str]) -> None:
    text = starter_configuration(["en", "pl"], [write(tmp_path / name, *rows)], "mine.yaml")
    assert "#     Go" in text
    assert "| Idź." in text
    assert ("not used: " in text) is (name != "my.txt")
    check_config(yaml.safe_load(text))


@pytest.mark.parametrize("languages", [["en", "pl"], ["en"]])
def test_two_files_are_the_sides_of_one_corpus(tmp_path: Path, languages: list[str]) -> None:
    one, other = (write(tmp_path / name, name, "Second.") for name in ("news.one", "news.other"))
    text = starter_configuration(languages, [one], "mine.yaml", target=other)
    config = yaml.safe_load(text)
    assert config["definitions"][config["models"][0]]["corpora"] == [{"path": one, "target": other}]
    assert "#     news.one | news.other\n" in text or "#     news.other | news.one\n" in text
    check_config(config)


@pytest.mark.parametrize(
    ("languages", "corpora", "message"),
    [
        (["en", "pl"], ["nowhere/my.tsv"], r"nowhere/my\.tsv: is not a file"),
        (["en", "pl"], ["README.md"], r"README\.md"),
        (["en", "en"], ["multi30k"], "--languages en-en: .*--languages en"),
        (["en", "pl"], [""], "--corpus: .*empty"),
        (["en", "pl"], ["Nothing"], "'Nothing'"),
        (["en", "de"], ["multi30k", "multi30k"], "--corpus: .*twice"),
    ],
)
def test_what_the_pipeline_would_refuse(
    languages: list[str], corpora: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["new", "--languages", "-".join(languages), "--corpus", *corpora, "--output", "-"]
    assert main(command) != 0
    assert re.search(message, capsys.readouterr().err)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("my.tsv", b"", r"my\.tsv: .*no pair"),
        ("my.tsv", b"One. Jeden.\n" * 9, r"my\.tsv: .*columns"),
        ("my.tsv", "a\tb\n".encode("utf-16"), r"my\.tsv: .*UTF-16"),
        ("my.tsv.gz", b"\x1f\x8bnothing", r"my\.tsv\.gz: damaged"),
        ("my.parquet", b"nothing", r"my\.parquet"),
        ("my.tmx", b"<tmx></tmx>", r"my\.tmx: "),
    ],
)
def test_a_file_without_a_pair_is_refused(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        starter_configuration(["en", "pl"], [str(tmp_path / name)], "mine.yaml")
    assert "\n" not in str(caught.value)


def test_files_whose_names_are_taken_get_others(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    names = ["multi30k.tsv", "my.tsv", "more/My.tsv.gz", "日.tsv", "本.tsv", "my_2.tsv"]
    paths = [write_pairs(tmp_path / name) for name in names]
    text = starter_configuration(["en", "de"], ["multi30k", *paths], "mine.yaml")
    corpora = yaml.safe_load(text)["definitions"]["de"]["corpora"]
    assert [entry["path"] for entry in corpora[1:]] == paths
    expected = ["multi30k_2", None, "my_2", "corpus_1", "corpus_2", "my_2_2"]
    assert [entry.get("name") for entry in corpora[1:]] == expected
    check_config(yaml.safe_load(text))


@pytest.mark.parametrize(
    "name",
    ["my: pairs", "a #b", "'\"\\", "-x", "[a]", "&a", "null", "1_000", "2024-01-01", "<<", "日本", "$(ls)",
     "a;b", "x" * 200, "my\n\t\x85\u2028\N{ZERO WIDTH SPACE}#: pairs"],
)  # fmt: skip
def test_the_names_of_files_are_read_as_they_are(name: str, tmp_path: Path) -> None:
    path = write_pairs(tmp_path / f"{name}.tsv")
    output = tmp_path / f"{name if name.isprintable() else 'my'}.yaml"
    assert main(["new", "--languages", "no-on", f"--corpus={path}", f"--output={output}"]) == 0
    assert read_config([output])["definitions"]["no-on"]["corpora"][0]["path"] == path
    comment = next(line for line in output.read_text().splitlines() if "snakemake -n" in line)
    assert shlex.split(comment.removeprefix("#"))[:4] == ["snakemake", "-n", "--configfile", str(output)]


@pytest.mark.parametrize("option", ["--corpus", "--output"])
@pytest.mark.parametrize("name", ["my{pairs", "my\udcffpairs", "x" * 256])
def test_names_that_no_configuration_can_have(
    option: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = {"--corpus": write_pairs(tmp_path / "my.tsv"), "--output": str(tmp_path / "new.yaml")}
    options[option] = str(tmp_path / f"{name}.{'tsv' if option == '--corpus' else 'yaml'}")
    assert main(["new", "--languages", "en-de", *(f"{key}={value}" for key, value in options.items())]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"paraphrastic: error: {option}: ")
    assert not list(tmp_path.glob("*.yaml"))


def test_it_runs_where_the_pipeline_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="in the folder of the pipeline"):
        starter_configuration(["en", "de"], ["multi30k"], "mine.yaml")


def test_the_command_overwrites_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "mine.yaml"
    arguments = ["new", "--languages", "eng-ger", "--corpus", "multi30k", "--output", str(output)]
    assert main(arguments) == 0
    written = output.read_text()
    assert "languages: [en, de]" in written
    assert main(arguments) == 1
    assert "already exists" in capsys.readouterr().err
    assert output.read_text() == written


@pytest.mark.parametrize(
    ("languages", "evaluation", "searched"),
    [
        (
            ["en", "de"],
            {"tatoeba": {"testsets": "tatoeba"}, "bucc": {"testsets": "bucc2018"}},
            ["sts", "tatoeba"],
        ),
        (["en", "tr"], {"tatoeba": {"testsets": "tatoeba"}}, ["sts", "tatoeba"]),
        (["tr", "fr"], {"sts": None}, []),
        (["en"], None, ["sts"]),
    ],
)  # fmt: skip
def test_models_are_evaluated_in_their_own_languages(
    tmp_path: Path, languages: list[str], evaluation: dict[str, object] | None, searched: list[str]
) -> None:
    text = starter_configuration(languages, [write_pairs(tmp_path / "my.tsv")], "mine.yaml")
    config = yaml.safe_load(text)
    assert config.get("evaluation") == evaluation
    # Copies of the sentences that the model is tested on are looked for.
    assert list(config.get("contamination", {}).get("testsets", {})) == searched
    check_config(config)
