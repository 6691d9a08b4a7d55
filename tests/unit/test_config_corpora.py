"""Test the names, versions and faults of mined corpora and of corpora that are given by their paths."""

import os
from pathlib import Path

import pytest
from configurations import DEFAULT, REGISTRY, ROOT, assert_fault, changed, configured, load

from paraphrastic.base.files import sha256
from paraphrastic_pipeline.settings.check import check_config
from paraphrastic_pipeline.settings.datasets import datasets_of, needed
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
    definition = config.definitions["de"]
    assert definition.names == ["multi30k", "my_data_v2"]
    described = {"name": "my_data_v2", "kind": "tsv", "columns": [3, 1], "languages": ["en", "de"]}
    assert described.items() <= as_json(definition.corpora[1]).items()
    dataset = datasets_of(config, REGISTRY)["my_data_v2"]
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
    dataset = datasets_of(config, REGISTRY)["pairs"]
    files = [(file.location, file.languages, file.version) for file in dataset.select(("de", "en"))]
    digests = [f"sha256:{sha256(path)}" for path in ("news.de", "pairs.txt")]
    assert files == [("news.de", ("de",), digests[0]), ("pairs.txt", ("en",), digests[1])]
    paraphrases = changed("definitions.de.corpora", [{**entry, "languages": ["de"]}])
    paraphrases["selection"] = {"paraphrase": {"paraphrase_score": None}}
    dataset = datasets_of(configured(paraphrases), REGISTRY)["pairs"]
    assert dataset.kind == "captions"
    assert [file.location for file in dataset.select(("de",))] == ["pairs.txt", "news.de"]


def test_a_name_and_a_kind_may_be_given(mine: Path) -> None:
    entry = {"path": "pairs.txt", "name": "ours", "kind": "tsv"}
    config = changed("definitions.de.corpora", [entry])
    config["max_pairs"] = {"ours": 10}
    # One file can serve several languages; a translation memory often does.
    config["definitions"]["fr"]["corpora"] = [entry]
    datasets = datasets_of(configured(config), REGISTRY)
    assert [file.languages for file in datasets["ours"].files] == [("en", "de"), ("en", "fr")]


def test_the_version_of_a_file_is_its_content(mine: Path) -> None:
    config = configured(changed("definitions.de.corpora", [{"path": "My-Data.v2.tsv.gz"}]))

    def version() -> str:
        return datasets_of(config, REGISTRY)["my_data_v2"].version

    first = version()
    path = Path("My-Data.v2.tsv.gz")
    status = path.stat()
    path.write_bytes(b"CONTENT")  # the length stays the same, and the old time is set again
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    second = version()
    assert second != first
    path.write_bytes(b"content")
    assert version() == first


@pytest.mark.parametrize(
    ("entry", "at", "cause"),
    [
        ({"name": "x"}, ".path", "missing"),
        (7, "", "mapping"),
        ({**MINE, "name": "My Data"}, ".name", "match"),
        ({**MINE, "kind": "opus"}, ".kind", "tsv"),
        ({**MINE, "columns": [0, 1]}, ".columns.0", "1"),
        ({**MINE, "columns": [1]}, "", "'tsv'"),
        ({**MINE, "languages": ["pl"]}, ".languages", "'pl'"),
        ({"path": "none.tsv"}, ".path", "not a file"),
        ({"path": "."}, ".path", "not a file"),
        ({"path": "a {x}.tsv"}, ".path", "brace"),
        ({"path": "pairs.doc"}, "", ".jsonl"),
        ({"path": "pairs.txt", "target": "gone.de"}, ".target", "not a file"),
        ({"path": "pairs.txt", "target": "pairs.txt"}, "", "side"),
        ({"path": "pairs.txt", "target": "pairs.doc", "kind": "tsv"}, "", "side"),
        ({"path": "pairs.txt", "target": "pairs.doc", "columns": [1, 2]}, "", "side"),
        ({"path": "pairs.txt", "kind": "tsv", "name": "other"}, ".name", "'other'"),
    ],
)
def test_each_fault_of_a_corpus_by_path_is_one_line(mine: Path, entry: object, at: str, cause: str) -> None:
    config = changed("definitions.fr.corpora", ["sample_aligned", entry])
    config["definitions"]["de"]["corpora"] = [{"path": "My-Data.v2.tsv.gz", "name": "other"}]
    assert_fault(config, f"definitions.fr.corpora.1{at}", cause)


def mining(**changes: object) -> dict:
    """Return the default configuration with a mined corpus and a model that is trained on it."""
    config = load("config")
    mined = {"languages": ["de", "en"], "corpora": ["sample_opus"], "encoder": "de"}
    config["mined"] = {"found": {**mined, **changes}}
    config["definitions"]["en"]["corpora"] = ["found"]
    config["definitions"]["en"]["selection"] = {"paraphrase": {"paraphrase_score": None}}
    return config


def test_a_mined_corpus_is_a_corpus() -> None:
    config = {**mining(), "registry": str(ROOT / DEFAULT)}
    complete, datasets = check_config(config)
    assert complete.mined["found"].min_similarity == 0.7
    found = datasets["found"]
    assert (found.kind, found.version) == ("mined", "de-en of sample_opus 1, by the encoder de at 0.7")
    assert found.select(("en",))[0].version == found.version


def test_what_a_model_needs_is_needed_by_its_mined_corpora_too() -> None:
    found = needed(configured(mining()), [("definitions", "en")])
    assert [*found] == [("definitions", "en"), ("mined", "found"), ("definitions", "de")]


@pytest.mark.parametrize(
    ("changes", "path", "cause"),
    [
        ({"min_similarity": 70}, "mined.found.min_similarity", "1"),
        ({"corpora": ["sample_paranmt"]}, "mined.found.corpora", "de-en"),
        ({"corpora": ["found"]}, "mined.found.corpora", "de-en"),
        ({"encoder": "dee"}, "mined.found.encoder", "'dee'"),
        ({"encoder": "LaBSE"}, "mined.found.encoder", "{path"),
        ({"encoder": "fr"}, "mined.found.encoder", "de"),
        ({"encoder": {"path": "nowhere"}}, "mined.found.encoder.path", "not a folder"),
        ({"encoder": "en"}, "definitions.en", "itself, by way of found"),
        ({"encoder": None}, "mined.found", "translator"),
        ({"translator": {"model": "a/b"}}, "mined.found", "encoder and translator"),
        ({"languages": ["en", "de"]}, "definitions.en.corpora", "'found'"),
    ],
)
def test_faults_of_mined_corpora(changes: dict, path: str, cause: str) -> None:
    assert_fault(mining(**changes), path, cause)


@pytest.mark.parametrize(("name", "at"), [("multi30k", ""), ("mine", ".corpora.0.name")])
def test_a_mined_corpus_needs_a_name_of_its_own(mine: Path, name: str, at: str) -> None:
    Path("mine.tsv").write_text("a\tb\n")
    config = mining(corpora=[{"path": "mine.tsv"}])
    config["mined"] = {name: config["mined"]["found"]}
    config["definitions"]["en"]["corpora"] = [name]
    assert_fault(config, f"mined.{name}{at}", "")


def test_a_mined_corpus_reads_a_file_in_its_own_order(mine: Path) -> None:
    Path("mine.tsv").write_text("a\tb\n")
    config = mining(corpora=[{"path": "mine.tsv"}])
    config["definitions"]["de"]["corpora"] = [{"path": "mine.tsv"}]
    configured(config)
    config["mined"]["found"]["corpora"] = [{"path": "mine.tsv", "name": "turned", "columns": [2, 1]}]
    assert configured(config).mined["found"].names == ["turned"]
