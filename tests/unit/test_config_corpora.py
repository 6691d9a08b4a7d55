"""Test the names, versions and faults of mined corpora and of corpora that are given by their paths."""

import json
import os
from pathlib import Path

import pytest
from configurations import DEFAULT, REGISTRY, ROOT, assert_fault, changed, checked, configured, load

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import sha256
from paraphrastic_pipeline.settings.check import check_config, complete_config
from paraphrastic_pipeline.settings.definitions import definitions_needed
from paraphrastic_pipeline.settings.local_files import named_datasets
from paraphrastic_pipeline.settings.sections.fields import as_json

MINE = {"path": "My-Data.v2.tsv.gz"}


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to run in that contains a user's own corpus."""
    monkeypatch.chdir(tmp_path)
    Path("My-Data.v2.tsv.gz").write_bytes(b"content")
    for name in ("pairs.txt", "pairs.doc"):
        Path(name).write_text("content")
    return tmp_path


def test_a_corpus_by_path_is_named_and_described(mine: Path) -> None:
    entries = ["multi30k", {"path": "My-Data.v2.tsv.gz", "columns": [3, 1]}]
    config = configured(changed("definitions.de.corpora", entries))
    definition = as_json(config.definitions["de"])
    assert definition["corpora"] == ["multi30k", "my_data_v2"]
    assert definition["files"] == {
        "my_data_v2": {
            "path": "My-Data.v2.tsv.gz",
            "kind": "tsv",
            "columns": ["3", "1"],
            "languages": ["en", "de"],
        }
    }
    dataset = named_datasets(config, REGISTRY)["my_data_v2"]
    (file,) = dataset.select(("en", "de"))
    digest = sha256("My-Data.v2.tsv.gz")
    assert (file.location, file.members, file.version) == (
        "My-Data.v2.tsv.gz",
        ("3", "1"),
        f"sha256:{digest}",
    )


def test_a_corpus_of_two_files(mine: Path) -> None:
    Path("news.de").write_text("eins")
    entry = {"path": "pairs.txt", "target": "news.de"}
    config = configured(changed("definitions.de.corpora", [entry]))
    dataset = named_datasets(config, REGISTRY)["pairs"]
    files = [(file.location, file.languages, file.version) for file in dataset.select(("de", "en"))]
    digests = [f"sha256:{sha256(path)}" for path in ("news.de", "pairs.txt")]
    assert files == [("news.de", ("de",), digests[0]), ("pairs.txt", ("en",), digests[1])]
    paraphrases = changed("definitions.de.corpora", [{**entry, "languages": ["de"]}])
    paraphrases["selection"] = {"paraphrase": {"paraphrase_score": None}}
    dataset = named_datasets(configured(paraphrases), REGISTRY)["pairs"]
    assert dataset.kind == "captions"
    assert [file.location for file in dataset.select(("de",))] == ["pairs.txt", "news.de"]


def test_two_files_have_one_order_of_languages(mine: Path) -> None:
    Path("news.de").write_text("eins")
    config = changed("definitions.de.corpora", [{"path": "pairs.txt", "target": "news.de"}])
    config["definitions"]["ed"] = {**config["definitions"]["de"], "languages": ["de", "en"]}
    config["models"] = ["de", "ed"]
    with pytest.raises(
        InputError, match=r"the languages of 'pairs' are en-de elsewhere: .* its languages here"
    ):
        configured(config)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"target": "gone.de"}, r"corpora\.0\.target: 'gone\.de' is not a file$"),
        ({"target": "pairs.txt"}, r"corpora\.0\.target: is the same file as its path; give the file with"),
        ({"target": "pairs.doc", "kind": "tsv"}, r"corpora\.0\.target: two aligned files .* leave them out$"),
        (
            {"target": "pairs.doc", "columns": [1, 2]},
            r"corpora\.0\.target: two aligned files .* leave them out$",
        ),
    ],
)
def test_a_second_file_that_cannot_be_one(mine: Path, entry: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        configured(changed("definitions.de.corpora", [{"path": "pairs.txt", **entry}]))


def test_descriptions_of_a_file_that_mean_the_same_become_the_same(mine: Path) -> None:
    plain = changed("definitions.de.corpora", [{"path": "My-Data.v2.tsv.gz", "columns": [3, 1]}])
    other = changed("definitions.de.corpora", [{"columns": [3.0, 1.0], "path": "My-Data.v2.tsv.gz"}])
    assert json.dumps(complete_config(other)) == json.dumps(complete_config(plain))
    assert configured(other).definitions["de"].files["my_data_v2"].columns == ["3", "1"]


def test_a_name_and_a_kind_may_be_given(mine: Path) -> None:
    entry = {"path": "pairs.txt", "name": "ours", "kind": "tsv"}
    config = changed("definitions.de.corpora", [entry])
    config["max_pairs"] = {"ours": 10}
    # One file can serve several languages; a translation memory often does.
    config["definitions"]["fr"]["corpora"] = [entry]
    datasets = named_datasets(configured(config), REGISTRY)
    assert [file.languages for file in datasets["ours"].files] == [("en", "de"), ("en", "fr")]


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz", "zst"])
def test_an_ending_for_compression_is_ignored(mine: Path, ending: str) -> None:
    Path(f"our pairs.jsonl.{ending}").write_bytes(b"content")
    entry = {"path": f"our pairs.jsonl.{ending}"}
    files = checked(changed("definitions.de.corpora", [entry]))["definitions"]["de"]["files"]
    assert {name: file["kind"] for name, file in files.items()} == {"our_pairs": "jsonl"}


def test_the_version_of_a_file_is_its_content(mine: Path) -> None:
    config = configured(changed("definitions.de.corpora", [{"path": "My-Data.v2.tsv.gz"}]))

    def version() -> str:
        return named_datasets(config, REGISTRY)["my_data_v2"].version

    first = version()
    path = Path("My-Data.v2.tsv.gz")
    status = path.stat()
    path.write_bytes(b"CONTENT")  # the length stays the same, and the old time is set again
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    second = version()
    assert second != first
    path.write_bytes(b"content")
    assert version() == first


def test_a_digest_is_computed_once(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = configured(changed("definitions.de.corpora", [{"path": "pairs.txt", "kind": "tsv"}]))
    first = named_datasets(config, REGISTRY)
    monkeypatch.setattr(
        "paraphrastic_pipeline.settings.local_files.sha256", lambda path: pytest.fail("read again")
    )
    assert named_datasets(config, REGISTRY) == first


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"pth": "x.tsv"}, ".1.pth: unknown key; did you mean 'path'?"),
        ({"name": "x"}, ".1.path: is missing"),
        (7, ".1: 7 is not text or a mapping"),
        ({**MINE, "name": "My Data"}, ".1.name: 'My Data' is not a name of small letters"),
        ({**MINE, "kind": "opus"}, ".1.kind: 'opus' is not one of tsv, "),
        ({**MINE, "columns": [0, 1]}, ".1.columns.0: 0 is less than the minimum"),
        ({**MINE, "columns": [1]}, ".1.columns: kind 'tsv' needs two to four different columns"),
        (
            {**MINE, "columns": ["en", 2]},
            ".1.columns: columns of kind 'tsv' are numbers from 1, or all of them names",
        ),
        ({"path": "none.tsv"}, ".1.path: 'none.tsv' is not a file"),
        ({"path": "a {x}.tsv"}, ".1.path: 'a {x}.tsv' contains a brace, which Snakemake reads as a wildcard"),
        ("data/bi", ": 'data/bi' is not in the registry of data sets; a file is given as {path: data/bi}"),
        ("Bi.TSV.gz", ": 'Bi.TSV.gz' is not in the registry of data sets; a file is given as {path: "),
        ({"path": "."}, ".1.path: '.' is not a file"),
        ({"path": "pairs.doc"}, ".1.path: 'pairs.doc' has none of the endings .tsv, .txt, .csv, .jsonl, "),
        (
            {"path": "pairs.txt", "kind": "tmx", "columns": ["en", "de"]},
            ".1.columns: kind 'tmx' has no columns",
        ),
        ({**MINE, "name": "multi30k"}, ".1: the name 'multi30k' is taken by the registry of data sets"),
        (
            {"path": "pairs.txt", "kind": "tsv", "name": "other"},
            ".1: the name 'other' is given to two corpora",
        ),
    ],
)
def test_each_fault_of_a_corpus_by_path_is_one_line(mine: Path, entry: object, message: str) -> None:
    config = changed("definitions.fr.corpora", ["sample_aligned", entry])
    config["definitions"]["de"]["corpora"] = [{"path": "My-Data.v2.tsv.gz", "name": "other"}]
    assert_fault(config, "definitions.fr.corpora", message)


def mining(**changes: object) -> dict:
    """Return the default configuration with a mined corpus and a model that is trained on it."""
    config = load("config")
    mined = {"languages": ["de", "en"], "corpora": ["sample_opus"], "encoder": "de"}
    config["mined"] = {"found": {**mined, **changes}}
    config["definitions"]["en"]["corpora"] = ["found"]
    config["definitions"]["en"]["selection"] = {"paraphrase": {"paraphrase_score": None}}
    config["filter_study"]["model"] = None
    return config


def test_a_mined_corpus_is_a_corpus() -> None:
    config = {**mining(), "registry": str(ROOT / DEFAULT)}
    complete, datasets = check_config(config)
    assert complete.mined["found"].min_similarity == 0.7
    found = datasets["found"]
    assert (found.kind, found.version) == ("mined", "de-en of sample_opus 1, by the encoder de at 0.7")
    assert found.select(("en",))[0].version == found.version


def test_definitions_needed_are_those_of_encoders_too() -> None:
    config = configured({**mining(), "models": ["en"]})
    assert [entry.languages for entry in definitions_needed(config)] == [["en"], ["de", "en"], ["en", "de"]]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"languages": ["de"]}, "mined.found.languages: has 1 entry, at least 2 are needed"),
        ({"min_similarity": 70}, "mined.found.min_similarity: 70 is greater than the maximum of 1"),
        ({"min_similarty": 0.5}, "mined.found.min_similarty: unknown key; did you mean 'min_similarity'?"),
        ({"corpora": ["sample_paranmt"]}, "'sample_paranmt' has nothing in de-en; it has en"),
        ({"corpora": ["found"]}, "mined.found.corpora: data set 'found' has nothing in de-en; it has en"),
        (
            {"encoder": "dee"},
            "mined.found.encoder: 'dee' is not described under definitions; did you mean 'de'?",
        ),
        ({"encoder": "LaBSE"}, "other models are given as {path: …} or {sentence_transformers: …}"),
        ({"encoder": "fr"}, "mined.found.encoder: 'fr' is a model of en and fr, and does not know de"),
        ({"encoder": {"path": "nowhere"}}, "mined.found.encoder.path: 'nowhere' is not a folder"),
        (
            {"encoder": {"path": "a{b"}},
            "mined.found.encoder.path: 'a{b' contains a brace, which Snakemake reads as a wildcard",
        ),
        ({"encoder": {"paht": "x"}}, "mined.found.encoder.paht: unknown key; did you mean 'path'?"),
        ({"encoder": "en"}, "'en' depends on the corpus that it is meant to mine: en needs found"),
        (
            {"languages": ["en", "de"]},
            "definitions.en.corpora: data set 'found' has nothing in en; it has de",
        ),
    ],
)
def test_faults_of_mined_corpora(changes: dict, message: str) -> None:
    with pytest.raises(InputError) as error:
        checked(mining(**changes))
    assert message in str(error.value)
    assert all(line.startswith("config: ") for line in str(error.value).split("\n"))


def test_a_cycle_through_other_models_is_told() -> None:
    config = mining(encoder="other")
    config["definitions"]["other"] = {**config["definitions"]["en"], "corpora": ["second"]}
    config["mined"]["second"] = {**config["mined"]["found"], "encoder": "en"}
    with pytest.raises(InputError) as error:
        checked(config)
    assert "config: mined.found.encoder: 'other' depends on the corpus that it is meant to mine: " in str(
        error.value
    )
    assert "other needs second needs en needs found" in str(error.value)


@pytest.mark.parametrize(("name", "owner"), [("multi30k", "the registry of data sets"), ("mine", "a file")])
def test_a_mined_corpus_needs_a_name_of_its_own(mine: Path, name: str, owner: str) -> None:
    Path("mine.tsv").write_text("a\tb\n")
    config = mining(corpora=[{"path": "mine.tsv"}])
    config["mined"] = {name: config["mined"]["found"]}
    config["definitions"]["en"]["corpora"] = [name]
    with pytest.raises(InputError, match=f"mined.{name}: the name is taken by {owner}: give it another name"):
        checked(config)


@pytest.mark.parametrize(
    "file", [{"path": "mine.tsv"}, {"path": "mine.tsv", "kind": "jsonl", "columns": ["a", "b"]}]
)
def test_columns_of_a_file_have_one_order(mine: Path, file: dict) -> None:
    Path("mine.tsv").write_text("a\tb\n")
    config = mining(corpora=[file])
    config["definitions"]["de"]["corpora"] = [file]
    with pytest.raises(InputError, match=r"mined.found.corpora: the columns of 'mine' are en-de elsewhere"):
        checked(config)
    config["mined"]["found"]["corpora"] = [{"path": "mine.tsv", "name": "turned", "columns": [2, 1]}]
    assert checked(config)["mined"]["found"]["corpora"] == ["turned"]
    by_language = {"path": "mine.tsv", "kind": "jsonl"}
    config["mined"]["found"]["corpora"] = config["definitions"]["de"]["corpora"] = [by_language]
    assert checked(config)["mined"]["found"]["corpora"] == ["mine"]
