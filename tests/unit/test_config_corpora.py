"""Test the names, versions and faults of mined corpora and of corpora that are given by their paths."""

import os
from pathlib import Path

import pytest
from configurations import DEFAULT, REGISTRY, ROOT, assert_fault, changed, configured, load

from paraphrastic.base.files import sha256
from paraphrastic_pipeline.settings.check import check_config
from paraphrastic_pipeline.settings.datasets import datasets_of, needed

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
    assert config.definitions["de"].names == ["multi30k", "my_data_v2"]
    (file,) = datasets_of(config, REGISTRY)["my_data_v2"].select(("en", "de"))
    assert (file.location, file.members) == ("My-Data.v2.tsv.gz", ("3", "1"))
    assert file.version == f"sha256:{sha256('My-Data.v2.tsv.gz')}"


def test_a_corpus_of_two_files_or_for_two_models(mine: Path) -> None:
    Path("news.de").write_text("eins")
    entry = {"path": "pairs.txt", "target": "news.de"}
    dataset = datasets_of(configured(changed("definitions.de.corpora", [entry])), REGISTRY)["pairs"]
    files = [(file.location, file.languages, file.version) for file in dataset.select(("de", "en"))]
    digests = [f"sha256:{sha256(path)}" for path in ("news.de", "pairs.txt")]
    assert files == [("news.de", ("de",), digests[0]), ("pairs.txt", ("en",), digests[1])]
    # In one language, two files are like captions.
    paraphrases = changed("definitions.de.corpora", [{**entry, "languages": ["de"]}])
    assert datasets_of(configured(paraphrases), REGISTRY)["pairs"].kind == "captions"
    # One file can serve several languages; a translation memory often does.
    config = changed("definitions.de.corpora", [{"path": "pairs.txt", "name": "ours", "kind": "tsv"}])
    config["definitions"]["fr"]["corpora"] = config["definitions"]["de"]["corpora"]
    config["max_pairs"] = {"ours": 10}
    dataset = datasets_of(configured(config), REGISTRY)["ours"]
    assert [file.languages for file in dataset.files] == [("en", "de"), ("en", "fr")]


def test_the_version_of_a_file_is_its_content(mine: Path) -> None:
    config = configured(changed("definitions.de.corpora", [MINE]))
    versions, path = [], Path(MINE["path"])
    status = path.stat()
    for content in (b"content", b"CONTENT", b"content"):
        path.write_bytes(content)  # the length stays the same, and the old time is set again
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        versions.append(datasets_of(config, REGISTRY)["my_data_v2"].version)
    assert versions[0] == versions[2] != versions[1]


@pytest.mark.parametrize(
    ("entry", "at", "cause"),
    [
        ({"name": "x"}, ".path", "missing"),
        (7, "", "mapping"),
        ({**MINE, "name": "My Data"}, ".name", "match"),
        ({**MINE, "kind": "opus"}, ".kind", "tsv"),
        ({**MINE, "columns": [1]}, "", "'tsv'"),
        ({**MINE, "languages": ["pl"]}, ".languages", "'pl'"),
        ({"path": "none.tsv"}, ".path", "not a file"),
        ({"path": "."}, ".path", "not a file"),
        ({"path": "a {x}.tsv"}, ".path", "brace"),
        ({"path": "pairs.doc"}, "", ".jsonl"),
        ({"path": "pairs.txt", "target": "gone.de"}, ".target", "not a file"),
        ({"path": "pairs.txt", "target": "pairs.txt"}, "", "side"),
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
    return config


@pytest.mark.parametrize(
    ("changes", "path", "cause"),
    [
        ({"min_similarity": 70}, "mined.found.min_similarity", "1"),
        ({"corpora": ["sample_paranmt"]}, "mined.found.corpora", "de-en"),
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


def test_a_mined_corpus_is_a_corpus_with_a_name_of_its_own(mine: Path) -> None:
    complete, datasets = check_config({**mining(), "registry": str(ROOT / DEFAULT)})
    found = datasets["found"]
    assert (found.kind, found.version) == ("mined", "de-en of sample_opus 1, by the encoder de at 0.7")
    assert found.select(("en",))[0].version == found.version
    needs = needed(complete, [("definitions", "en")])
    assert [*needs] == [("definitions", "en"), ("mined", "found"), ("definitions", "de")]
    Path("mine.tsv").write_text("a\tb\n")
    config = mining(corpora=[{"path": "mine.tsv"}])
    config["definitions"]["de"]["corpora"] = [{"path": "mine.tsv"}]
    configured(config)
    for name, at in (("multi30k", ""), ("mine", ".corpora.0.name")):
        config["mined"] = {name: mining(corpora=[{"path": "mine.tsv"}])["mined"]["found"]}
        config["definitions"]["en"]["corpora"] = [name]
        assert_fault(config, f"mined.{name}{at}", "")
