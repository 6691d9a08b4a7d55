"""Test what the rows of a registry mean, what is refused, and that the shipped registry is correct."""

import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import sha256
from paraphrastic_pipeline.registry.datasets import COLUMNS, read_registry

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "config" / "datasets.tsv"
DIGEST = "0" * 64

OPUS = {
    "name": "tanzil",
    "version": "v1",
    "kind": "opus",
    "languages": "en-fr de-en",
    "file": "{a}-{b}.txt.zip",
    "addresses": "https://host/{a}-{b}.txt.zip https://host/{b}-{a}.txt.zip",
    "members": "T.{a}-{b}.{a} T.{a}-{b}.{b} T.{b}-{a}.{a} T.{b}-{a}.{b}",
    "licence": "free",
}
ALIGNED = {
    "name": "captions30",
    "version": "1",
    "kind": "aligned",
    "languages": "en",
    "file": "train.en.gz",
    "addresses": "https://host/train.en.gz",
    "licence": "free",
}


def write(path, *rows, columns=COLUMNS):
    lines = ["\t".join(columns)] + ["\t".join(row.get(column, "-") for column in columns) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def error_of(path):
    with pytest.raises(InputError) as caught:
        read_registry(path)
    message = str(caught.value)
    assert "\n" not in message
    return message.removeprefix(f"{path}:")


def test_a_family_row_is_one_file_a_pair(tmp_path):
    dataset = read_registry(write(tmp_path / "r.tsv", OPUS))["tanzil"]
    assert dataset.pairs == (("en", "fr"), ("de", "en"))
    first, second = dataset.files
    assert (first.name, second.name) == ("en-fr.txt.zip", "de-en.txt.zip")
    assert first.addresses == ("https://host/en-fr.txt.zip", "https://host/fr-en.txt.zip")
    assert first.version == "v1"
    assert first.sha256 is None
    assert first.size is None
    assert first.members == ("T.en-fr.en", "T.en-fr.fr", "T.fr-en.en", "T.fr-en.fr")
    assert second.members == ("T.de-en.de", "T.de-en.en", "T.en-de.de", "T.en-de.en")


def test_members_follow_the_languages_when_upstream_codes_differ(tmp_path):
    row = OPUS | {"languages": "en-zh", "file": "en-zh_cn.zip", "members": "O.en-zh_cn.en O.en-zh_cn.zh_cn"}
    row["addresses"] = "https://host/en-zh_cn.zip"
    (file,) = read_registry(write(tmp_path / "r.tsv", row))["tanzil"].select(("zh", "en"))
    assert (file.languages, file.members) == (("en", "zh"), ("O.en-zh_cn.en", "O.en-zh_cn.zh_cn"))


def test_select_finds_a_pair_in_either_order_and_says_what_there_is(tmp_path):
    dataset = read_registry(write(tmp_path / "r.tsv", OPUS))["tanzil"]
    assert dataset.select(("fr", "en")) == dataset.select(("en", "fr")) == dataset.files[:1]
    with pytest.raises(InputError, match="'tanzil' has nothing in pl-en; it has en-fr, de-en"):
        dataset.select(("pl", "en"))
    with pytest.raises(InputError, match="nothing in en;"):
        dataset.select(("en",))


def test_select_gives_aligned_files_in_the_order_asked(tmp_path):
    rows = [
        ALIGNED | {"languages": code, "file": f"train.{code}.gz", "sha256": DIGEST, "size": "12"}
        for code in ("en", "de", "fr")
    ]
    dataset = read_registry(write(tmp_path / "r.tsv", *rows))["captions30"]
    assert [file.name for file in dataset.select(("fr", "en"))] == ["train.fr.gz", "train.en.gz"]
    assert (dataset.files[0].sha256, dataset.files[0].size) == (DIGEST, 12)
    assert dataset.pairs == (("en", "de"), ("en", "fr"), ("de", "fr"))
    with pytest.raises(InputError, match="nothing in fr-pl; it has pairs of en, de, fr"):
        dataset.select(("fr", "pl"))


def test_select_gives_all_caption_files_of_one_language(tmp_path):
    rows = [
        ALIGNED | {"kind": "captions", "languages": code, "file": f"train.{i}.{code}.gz"}
        for code in ("en", "de")
        for i in (1, 2)
    ]
    dataset = read_registry(write(tmp_path / "r.tsv", *rows))["captions30"]
    assert [file.name for file in dataset.select(("de",))] == ["train.1.de.gz", "train.2.de.gz"]
    assert dataset.pairs == ()


def test_a_file_name_is_shared_only_among_downloads(tmp_path):
    other = OPUS | {"name": "other"}
    shipped = OPUS | {"name": "sample", "languages": "en-es", "addresses": "file:data/en-es.txt.zip"}
    remote = OPUS | {"name": "third", "languages": "en-es"}
    registry = read_registry(write(tmp_path / "r.tsv", OPUS, other, shipped, remote))
    # Two downloads share the name, no more.
    assert all(file.name_is_shared for name in ("other", OPUS["name"]) for file in registry[name].files)
    assert not registry["third"].files[0].name_is_shared
    assert registry["sample"].files[0].shipped
    assert not registry["third"].files[0].shipped


def test_notes_empty_lines_and_carriage_returns_are_allowed(tmp_path):
    path = write(tmp_path / "r.tsv", ALIGNED)
    path.write_bytes(b"# a note\r\n\r\n" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert list(read_registry(path)) == ["captions30"]


@pytest.mark.parametrize(
    ("change", "column", "cause"),
    [
        ({"name": "Tanzil"}, "name", "not made of a-z"),
        ({"version": "-"}, "version", "is empty"),
        ({"licence": ""}, "licence", "is empty"),
        ({"kind": "opsu"}, "kind", "'opsu' is not one of opus"),
        ({"languages": "en"}, "languages", "kind 'opus' needs a pair such as en-fr, not 'en'"),
        ({"languages": "-"}, "languages", "needs a pair"),
        ({"languages": "en-zh_cn"}, "languages", "codes of 2 or 3 letters"),
        ({"languages": "en-en"}, "languages", "needs a pair"),
        ({"kind": "aligned"}, "languages", "needs one language"),
        ({"file": "../x.zip"}, "file", "not a plain file name"),
        ({"file": ".hidden"}, "file", "not a plain file name"),
        ({"file": "x.zip"}, "file", "'x.zip' is listed twice"),
        ({"addresses": "-"}, "addresses", "is empty"),
        ({"addresses": "ftp://host/x"}, "addresses", "not an http, https or file address"),
        ({"addresses": "https:///x"}, "addresses", "need a host"),
        ({"addresses": "https://host/{c}.zip"}, "addresses", r"the only placeholders are {a} and {b}"),
        ({"addresses": "https://host/%2e%2e/x"}, "addresses", "no plain path"),
        ({"sha256": "abc"}, "sha256", "not 64 lower-case hexadecimal digits"),
        ({"sha256": DIGEST}, "sha256", "a row for several files"),
        ({"size": "1.5"}, "size", "not a number of bytes"),
        ({"members": "-"}, "members", "needs one member per language"),
        ({"members": "a b c"}, "members", "needs one member per language"),
        ({"kind": "manythings", "members": "-"}, "members", "needs the name of the member"),
        ({"kind": "tsv", "languages": "-"}, "languages", "needs one language or a pair such as en-fr"),
        ({"kind": "tsv", "members": "1 2 3 4 5"}, "members", "needs two to four different columns"),
        ({"kind": "tsv", "members": "1 2 -"}, "members", "'-' can only stand for the paraphrase score"),
        ({"kind": "tsv", "members": "1 2 - en"}, "members", "numbers from 1, or all of them names"),
        ({"kind": "tsv", "members": "1 en"}, "members", "numbers from 1, or all of them names"),
        ({"kind": "jsonl", "members": "en"}, "members", "kind 'jsonl' needs two to four different columns"),
        ({"kind": "parquet", "members": "en en"}, "members", "different columns"),
        ({"kind": "tmx", "members": "en fr"}, "members", "kind 'tmx' has no columns"),
    ],
)
def test_a_bad_cell_is_one_line_with_its_line_and_column(tmp_path, change, column, cause):
    message = error_of(write(tmp_path / "r.tsv", ALIGNED, OPUS | change))
    assert message.startswith(f"3: {column}: ")
    assert cause in message


def test_a_table_has_one_file_a_pair(tmp_path):
    row = OPUS | {"kind": "tsv", "languages": "en-fr", "members": "-", "file": "a.tsv"}
    message = error_of(write(tmp_path / "r.tsv", row, row | {"languages": "fr-en", "file": "b.tsv"}))
    assert message == "3: languages: data set 'tanzil' has another file in fr-en"


def test_rows_of_one_data_set_must_agree(tmp_path):
    message = error_of(write(tmp_path / "r.tsv", OPUS, OPUS | {"version": "v2", "languages": "en-es"}))
    assert message.startswith("3: version: 'v2'")


def test_bad_files_are_one_line(tmp_path):
    path = tmp_path / "r.tsv"
    assert "No such file" in error_of(path)
    path.write_bytes(b"\xff\n")
    assert "not readable" in error_of(path)
    path.write_text("# only a note\n")
    assert "empty" in error_of(path)
    assert error_of(write(path, columns=("name", "version"))).startswith(
        "1: header: the columns must be name"
    )
    path.write_text("\t".join(COLUMNS) + "\nonly\tthree\tcells\n")
    assert error_of(path) == "2: row: 3 columns, expected 11"


def test_reading_the_registry_imports_only_the_standard_library():
    imported = "from paraphrastic_pipeline.registry.datasets import read_registry"
    code = f"import sys; {imported}; read_registry(sys.argv[1]); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code, str(SHIPPED)],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert not loaded & {"numpy", "torch", "yaml", "h5py", "pandas", "polars", "sentencepiece"}


def test_the_shipped_registry_names_the_corpora_of_the_papers():
    registry = read_registry(SHIPPED)
    for language in ("ar", "de", "es", "fr", "ru", "tr", "zh"):
        for name in ("opensubtitles", "tanzil", "globalvoices"):
            (file,) = registry[name].select(("en", language))
            assert file.addresses[0].startswith("https://object.pouta.csc.fi/OPUS-")
            assert len(file.members) == 4
        assert registry["tatoeba"].select((language, "en"))[1].name.endswith(".eng")
        assert registry["tatoeba"].select(("en", language))[0].name.endswith(".eng")
    # LASER has 112 languages; most of them have a code of two letters here and of three letters there.
    tatoeba = registry["tatoeba"]
    assert len(tatoeba.pairs) == 112
    for pair in tatoeba.pairs:
        (language,) = set(pair) - {"en"}
        own, english = tatoeba.select((language, "en"))
        code = own.name.removeprefix("tatoeba.")[:3]
        assert (own.name, english.name) == (f"tatoeba.{code}-eng.{code}", f"tatoeba.{code}-eng.eng")
        assert own.addresses[-1].endswith(f"/facebookresearch/LASER/main/data/tatoeba/v1/{own.name}")
        assert len(language) == 2 or language == code
    assert tatoeba.select(("sw", "en"))[0].name == "tatoeba.swh-eng.swh"
    assert len(registry["multi30k_captions"].select(("en",))) == 5
    assert registry["paranmt"].select(("en",))[0].members == ("para-nmt-50m/para-nmt-50m.txt",)
    assert len(registry["paranmt"].files[0].addresses) == 2


def test_the_shipped_registry_agrees_with_the_real_files(mirror):
    checked = 0
    for dataset in read_registry(SHIPPED).values():
        for file in dataset.files:
            paths = [mirror / address.partition("://")[2] for address in file.addresses]
            real = next((path for path in paths if path.is_file()), None)
            if file.sha256 and real:
                assert (sha256(real), real.stat().st_size) == (file.sha256, file.size), file.name
                checked += 1
    assert checked == 60


def test_what_can_change_upstream_has_a_digest_or_a_commit():
    names = ("tatoeba", "uriel", "bibles", "senteval", "sts_open", "bucc2018_open", "wmt21", "wmt22", "wmt23")
    registry = read_registry(SHIPPED)
    assert [
        file.name
        for name in names
        for file in registry[name].files
        if not file.sha256 and re.search(r"/(main|master)/", file.addresses[0])
    ] == []
    assert "tatoeba_english" not in registry
    assert not any("//senteval/" in address for address in registry["senteval"].files[0].addresses)
    assert registry["paranmt"].files[0].addresses[0].startswith("https://drive.usercontent.google.com/")


def test_the_sample_of_the_shipped_registry_is_in_the_repository():
    samples = [d for d in read_registry(SHIPPED).values() if d.name.startswith("sample_")]
    assert len(samples) == 8
    digests = {f.addresses[0]: (f.sha256, f.size) for d in samples for f in d.files if f.sha256}
    for file in (file for dataset in samples for file in dataset.files):
        assert file.shipped
        shipped = ROOT / urlsplit(file.addresses[0]).path
        # A row for several languages has no digest; the file that it shares has one in its own row.
        assert (sha256(shipped), shipped.stat().st_size) == digests[file.addresses[0]], shipped
