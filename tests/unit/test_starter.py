"""Test that the pipeline accepts a configuration from `paraphrastic new` without changes."""

import gzip
import json
import shlex
from pathlib import Path

import pytest
import yaml

from paraphrastic import InputError
from paraphrastic.cli import main
from paraphrastic_pipeline.registry.language_labels import shortest_code
from paraphrastic_pipeline.settings.check import check_config, read_config
from paraphrastic_pipeline.workflow.starter import starter_configuration

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _in_the_folder_of_the_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def write_pairs(path: Path, n: int, *, score: bool = False) -> str:
    lines = [
        f"Sentence {i} is here.\tSatz {i} ist hier.{f'{chr(9)}0.{i % 10}' if score else ''}\n"
        for i in range(n)
    ]
    text = "".join(lines).encode()
    path.write_bytes(gzip.compress(text, mtime=0) if path.suffix == ".gz" else text)
    return str(path)


def test_a_file_of_translations(tmp_path: Path) -> None:
    path = write_pairs(tmp_path / "my.tsv.gz", 3000)
    text = starter_configuration(["en", "pl"], [path], "pl.yaml")
    config = yaml.safe_load(text)
    assert config["models"] == ["pl"]
    assert config["definitions"] == {"pl": {"languages": ["en", "pl"], "corpora": [{"path": path}]}}
    assert config["training"]["dimension"] == 300
    assert "about 3,000 pairs" in text
    assert "--configfile pl.yaml" in text
    # The configuration has at most twelve lines, and the data sets for languages and STS are filled in.
    assert sum(1 for line in text.splitlines() if line and not line.startswith("#")) <= 12
    checked, _ = check_config(config)
    assert (checked.language_id, checked.evaluation.sts) == ("lid176", "sts")


@pytest.mark.parametrize("score", [False, True])
def test_paraphrases_with_and_without_scores(tmp_path: Path, score: bool) -> None:
    path = write_pairs(tmp_path / "my.tsv", 50, score=score)
    config = yaml.safe_load(starter_configuration(["en"], [path], "en.yaml"))
    assert config["models"] == ["en"]
    assert ("selection" in config["definitions"]["en"]) is not score
    check_config(config)


@pytest.mark.parametrize(("languages", "section"), [(["en", "xog"], "bitext"), (["xog"], "paraphrase")])
def test_a_language_that_the_identifier_does_not_know(
    tmp_path: Path, languages: list[str], section: str
) -> None:
    text = starter_configuration(languages, [write_pairs(tmp_path / "my.tsv", 50)], "xog.yaml")
    config = yaml.safe_load(text)
    selection = config["definitions"]["xog"]["selection"]
    assert selection == {
        section: {"language": None, **({"paraphrase_score": None} if section != "bitext" else {})}
    }
    assert "# The language identifier does not know xog, so languages are not checked.\n" in text
    check_config(config)


def test_large_files_and_several(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraphrastic_pipeline.workflow.starter._MANY", 2000)
    rows = [json.dumps({"en": f"Sentence {i}.", "pl": f"Zdanie {i}."}) for i in range(1500)]
    (tmp_path / "more.jsonl").write_text("\n".join(rows))
    paths = [write_pairs(tmp_path / "my.tsv", 900), str(tmp_path / "more.jsonl")]
    text = starter_configuration(["en", "pl"], paths, "pl.yaml")
    assert "about 2,400 pairs" in text
    assert "training" not in yaml.safe_load(text)


def test_corpora_of_the_registry_and_of_unknown_size() -> None:
    text = starter_configuration(["en", "de"], ["multi30k"], "de.yaml")
    assert "of unknown size" in text
    assert yaml.safe_load(text)["definitions"]["de"]["corpora"] == ["multi30k"]


@pytest.mark.parametrize(
    ("languages", "corpus", "message"),
    [
        (["en", "pl"], "nowhere/my.tsv", r"^nowhere/my\.tsv: is not a file$"),
        (
            ["en", "pl"],
            "README.md",
            r"^README\.md: its format is unknown; give its name one of the endings \.tsv, \.txt, \.csv, "
            r"\.jsonl, \.ndjson, \.parquet, \.tmx$",
        ),
        (["en", "pl"], "Makefile.gz/x", r"^Makefile\.gz/x: is not a file$"),
        (
            ["en", "en"],
            "multi30k",
            r"^--languages en-en: for paraphrases, name the language once: --languages en$",
        ),
        (
            ["en", "pl"],
            "",
            r"^--corpus: a name is empty; give a file, or a corpus of OPUS or of the registry$",
        ),
        (["en", "pl"], "Nothing", r"Nothing"),
    ],
)
def test_what_the_pipeline_would_refuse(languages: list[str], corpus: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        starter_configuration(languages, [corpus], "mine.yaml")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("my.tsv", b"", r"my\.tsv: the corpus is empty"),
        ("my.tsv", b"One. Jeden.\n" * 9, r"my\.tsv: .*`columns`.*'One"),
        ("my.tsv", b"a\tb\tc\td\n" * 9, r"my\.tsv: .*`columns`.*4: 'a'"),
        ("my.tsv", "a\tb\n".encode("utf-16"), r"my\.tsv: .*UTF-16"),
        ("my.tsv.gz", b"\x1f\x8bnothing", r"my\.tsv\.gz: damaged"),
        ("my.jsonl", b'{"de": "a", "en": "b"}\n' * 9, r"my\.jsonl: .*`columns`.*'de', 'en'"),
        ("my.parquet", b"nothing", r"my\.parquet"),
        ("my.tmx", b"<tmx></tmx>", r"my\.tmx: "),
    ],
)
def test_a_file_without_a_pair_is_refused_with_the_readers_words(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        starter_configuration(["en", "pl"], [str(tmp_path / name)], "mine.yaml")
    assert "config: " not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["my", "my.doc", "my.xls.gz"])
def test_a_file_of_unknown_format(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r": its format is unknown; give its name one of the endings \.tsv"):
        starter_configuration(["en", "pl"], [write_pairs(tmp_path / name, 9)], "mine.yaml")


def test_files_whose_names_are_taken_get_others(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    names = ["multi30k.tsv", "my.tsv", "more/My.tsv.gz", "日.tsv", "本.tsv", "my_2.tsv"]
    paths = [write_pairs(tmp_path / name, 9) for name in names]
    text = starter_configuration(["en", "de"], ["multi30k", *paths], "mine.yaml")
    corpora = yaml.safe_load(text)["definitions"]["de"]["corpora"]
    assert corpora[0] == "multi30k"
    assert [entry["path"] for entry in corpora[1:]] == paths
    expected = ["multi30k_2", None, "my_2", "corpus_1", "corpus_2", "my_2_2"]
    assert [entry.get("name") for entry in corpora[1:]] == expected
    check_config(yaml.safe_load(text))


def test_a_corpus_that_is_given_twice(tmp_path: Path) -> None:
    path = write_pairs(tmp_path / "my.tsv", 9)
    (tmp_path / "more").mkdir()
    again = str(tmp_path / "more/../my.tsv")
    for corpora in ([path, again], ["multi30k", path, "multi30k"]):
        with pytest.raises(InputError, match=rf"^{corpora[-1]}: is given twice; name each corpus once$"):
            starter_configuration(["en", "de"], corpora, "mine.yaml")


NAMES = [
    *("my pairs", "my: pairs", "a #b", "'", '"', "'\"\\", "- x", "-x", "a,b", "[a]", "!x", "&a", "*a", "%a"),
    *("~", "null", "no", "1_000", "1:30", "0x1F", "2024-01-01", ".inf", "=", "<<", "?", "|", ">", " x "),
    *("\\n", "`a`", "日本", "Zażółć", "\N{GRINNING FACE}"),
    *("x" * 200, "word " * 40, "$(ls)", "a;b", "100%", "@a", "x:"),
]  # fmt: skip


UNSEEN = [
    "\n",
    "\r",
    "\t",
    "\x1b",
    "\x7f",
    "\x85",
    "\u2028",
    "\u2029",
    "\N{ZERO WIDTH SPACE}",
    "\ufeff",
    "\ue000",
]


@pytest.mark.parametrize("name", [*NAMES, f"my{''.join(UNSEEN)}#: pairs"])
def test_the_names_of_files_are_read_as_they_are(name: str, tmp_path: Path) -> None:
    path = write_pairs(tmp_path / f"{name}.tsv", 9)
    output = tmp_path / f"{name if name in NAMES else 'my'}.yaml"
    assert main(["new", "--languages", "no-on", f"--corpus={path}", f"--output={output}"]) == 0
    assert read_config([output])["definitions"]["no-on"]["corpora"][0]["path"] == path
    comment = next(line for line in output.read_text().splitlines() if "snakemake -n" in line)
    assert shlex.split(comment.removeprefix("#"))[:4] == ["snakemake", "-n", "--configfile", str(output)]


def test_the_command_that_shows_a_configuration_knows_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_pairs(tmp_path / "my: \u2028pairs.tsv", 9)
    output = tmp_path / "my.yaml"
    assert main(["new", "--languages", "no-on", f"--corpus={path}", f"--output={output}"]) == 0
    assert main(["config", "--configfile", str(output), "--model", "no-on"]) == 0
    (corpus,) = yaml.safe_load(capsys.readouterr().out)["corpora"]
    assert corpus["path"] == path


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        *((f"my{brace}pairs", "contains a brace, which Snakemake reads as a wildcard") for brace in "{}"),
        ("my\udcffpairs", "is not UTF-8"),
        ("x" * 256, "is longer than a file system allows"),
        ("x/" * 2048 + "my", "is longer than a file system allows"),
    ],
)
@pytest.mark.parametrize("option", ["--corpus", "--output"])
def test_names_that_no_configuration_can_have(
    option: str, name: str, cause: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = {"--corpus": write_pairs(tmp_path / "my.tsv", 9), "--output": str(tmp_path / "new.yaml")}
    options[option] = str(tmp_path / f"{name}.{'tsv' if option == '--corpus' else 'yaml'}")
    if len(name) < 255:
        write_pairs(Path(options["--corpus"]), 9)
    assert main(["new", "--languages", "en-de", *(f"{key}={value}" for key, value in options.items())]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"paraphrastic: error: {option}: ")
    assert cause in line
    assert not list(tmp_path.glob("*.yaml"))
    if option == "--corpus":
        definition = {"languages": ["en", "de"], "corpora": [{"path": options["--corpus"]}]}
        with pytest.raises(InputError, match=r"^config: definitions\.de\.corpora\.0\.path: [^\n]*$"):
            check_config({"models": ["de"], "definitions": {"de": definition}})


@pytest.mark.parametrize("character", UNSEEN)
def test_an_output_that_a_comment_cannot_show(
    character: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / f"my{character}.yaml"
    assert main(["new", "--languages", "en-de", "--corpus", "multi30k", "--output", str(output)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(" has characters that cannot be shown; choose another name")
    assert not output.exists()


def test_an_output_that_begins_with_a_hyphen() -> None:
    assert "--configfile ./-x.yaml " in starter_configuration(["en", "de"], ["multi30k"], "-x.yaml")


def test_it_runs_where_the_pipeline_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"is not a file: run this command in the folder of the pipeline$"):
        starter_configuration(["en", "de"], ["multi30k"], "mine.yaml")


def test_the_command_overwrites_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "mine.yaml"
    arguments = ["new", "--languages", "en-de", "--corpus", "multi30k", "--output", str(output)]
    assert main(arguments) == 0
    written = output.read_text()
    assert main(arguments) == 1
    assert capsys.readouterr().err.endswith(f"{output}: already exists and would be overwritten\n")
    assert output.read_text() == written
    with pytest.raises(SystemExit):
        main(["new", "--languages", "English", "--corpus", "multi30k", "--output", "-"])


def write(path: Path, *rows: str) -> str:
    path.write_text("".join(f"{row}\n" for row in rows))
    return str(path)


@pytest.mark.parametrize("names", [("news.en", "news.pol"), ("news.pl", "news.eng"), ("a.txt", "b.txt")])
def test_two_files_are_the_sides_of_one_corpus(tmp_path: Path, names: tuple[str, str]) -> None:
    one, other = (write(tmp_path / name, "First.", "Second.") for name in names)
    more = write_pairs(tmp_path / "more.tsv", 9)
    text = starter_configuration(["en", "pl"], [one, more, other], "mine.yaml")
    source, target = (other, one) if names[0] == "news.pl" else (one, other)
    config = yaml.safe_load(text)
    corpora = config["definitions"]["pl"]["corpora"]
    assert sorted(corpora, key=len) == [{"path": more}, {"path": source, "target": target}]
    assert "about 11 pairs" in text
    check_config(config)


def test_two_files_of_paraphrases(tmp_path: Path) -> None:
    files = [write(tmp_path / f"{name}.txt", name, "Second.") for name in ("one", "other")]
    config = yaml.safe_load(starter_configuration(["en"], files, "mine.yaml"))
    assert config["definitions"]["en"]["corpora"] == [{"path": files[0], "target": files[1]}]
    assert config["definitions"]["en"]["selection"] == {"paraphrase": {"paraphrase_score": None}}


@pytest.mark.parametrize("names", [("captions.pl", "news.en"), ("news.pl.txt", "news.en.txt")])
def test_the_codes_of_files_say_which_side_they_are(tmp_path: Path, names: tuple[str, str]) -> None:
    polish, english = (write(tmp_path / name, "First.", "Second.") for name in names)
    text = starter_configuration(["en", "pl"], [polish, english], "mine.yaml")
    (entry,) = yaml.safe_load(text)["definitions"]["pl"]["corpora"]
    assert {key: entry[key] for key in ("path", "target")} == {"path": english, "target": polish}


def test_two_files_that_are_not_alike(tmp_path: Path) -> None:
    english, polish = (
        write(tmp_path / "news.en", "First."),
        write(tmp_path / "news.pl", "Pierwszy.", "Drugi."),
    )
    with pytest.raises(InputError, match=r"news\.en has 1 lines, .*news\.pl has 2 lines$"):
        starter_configuration(["en", "pl"], [english, polish], "mine.yaml")
    with pytest.raises(InputError, match=r"news\.pl: is in one language; give the file of the other"):
        starter_configuration(["en", "pl"], [polish], "mine.yaml")


@pytest.mark.parametrize(
    ("name", "rows", "columns"),
    [
        ("my.txt", ["Go.\tIdź.\tCC-BY 2.0", "No.\tNie.\tCC-BY 2.0"], [1, 2]),
        ("my.tsv", ["Go.\tIdź.\t", "No.\tNie.\t"], [1, 2]),
        ("my.tsv", ["1\tGo.\t7\tIdź.", "2\tNo.\t8\tNie."], [2, 4]),
        ("my.csv", ["id,english,polish", '1,"Go, go.",Idź.', "2,No.,Nie."], None),
        ("my.csv", ["id;english;polish", '1;"Go; go.";Idź.', "2;No, no.;Nie, nie."], None),
        ("my.tsv", ["this\tthat\tsimilarity", "Go.\tIdź.\t0.5"], ["this", "that", "similarity"]),
        ("my.tsv", ["Go.\tIdź.\t0.5", "No.\tNie.\t0.25"], None),
        ("my.csv", ["pl,en,note", "Idź.,Go.,good", "Nie.,No.,good"], None),
        ("my.tsv", ["Go.\tIdź.", "No.\tNie."], None),
    ],
)
def test_columns_without_text_are_left_out(
    tmp_path: Path, name: str, rows: list[str], columns: list[str | int] | None
) -> None:
    path = write(tmp_path / name, *rows)
    text = starter_configuration(["en", "pl"], [path], "mine.yaml")
    config = yaml.safe_load(text)
    (entry,) = config["definitions"]["pl"]["corpora"]
    assert entry == {"path": path} | ({"columns": columns} if columns else {})
    assert ("The text is in the columns" in text) is (columns is not None)
    assert f"about {len(rows) - (name == 'my.csv' or 'similarity' in rows[0])} pairs" in text


def test_captions_of_the_registry_have_no_scores() -> None:
    for corpora, null in ((["multi30k_captions", "sample_paranmt"], True), (["sample_paranmt"], False)):
        config = yaml.safe_load(starter_configuration(["en"], corpora, "mine.yaml"))
        assert ("selection" in config["definitions"]["en"]) is null
        check_config(config)


def test_text_with_tabs_is_a_table(tmp_path: Path) -> None:
    text = starter_configuration(["en", "pl"], [write_pairs(tmp_path / "my.txt", 9)], "mine.yaml")
    assert "about 9 pairs" in text


@pytest.mark.parametrize(
    ("languages", "expected"),
    [
        (["en", "de"], {"tatoeba": {"testsets": "tatoeba"}, "bucc": {"testsets": "bucc2018"}}),
        (["en", "tr"], {"tatoeba": {"testsets": "tatoeba"}}),
        (["tr", "fr"], {"sts": None}),
        (["en"], None),
    ],
)
def test_models_are_evaluated_in_their_own_languages(
    tmp_path: Path, languages: list[str], expected: dict[str, object] | None
) -> None:
    text = starter_configuration(languages, [write_pairs(tmp_path / "my.tsv", 9)], "mine.yaml")
    config = yaml.safe_load(text)
    assert config.get("evaluation") == expected
    # Copies of the sentences that the model is tested on are looked for.
    searched = [*["sts"] * ("en" in languages), *["tatoeba"] * ("tatoeba" in (expected or {}))]
    assert list(config.get("contamination", {}).get("testsets", {})) == searched
    check_config(config)


@pytest.mark.parametrize(
    ("code", "short"),
    [("tur", "tr"), ("ger", "de"), ("tr", "tr"), ("ceb", "ceb"), ("yue", "yue"), ("xyz", "xyz")],
)
def test_codes_of_three_letters(code: str, short: str) -> None:
    assert shortest_code(code) == short
