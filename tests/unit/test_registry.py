"""Test what the rows of a registry mean, what is refused, and that the shipped registry is correct."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import sha256
from paraphrastic_pipeline.registry.datasets import COLUMNS, RemoteFile, read_registry

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


def one(tmp_path, *rows):
    """The data set of some rows."""
    (dataset,) = read_registry(write(tmp_path / "r.tsv", *rows)).values()
    return dataset


def error_of(path):
    with pytest.raises(InputError) as caught:
        read_registry(path)
    message = str(caught.value)
    assert "\n" not in message
    return message.removeprefix(f"{path}:")


def test_a_family_row_is_one_file_a_pair_in_either_order(tmp_path):
    dataset = one(tmp_path, OPUS)
    assert dataset.pairs == (("en", "fr"), ("de", "en"))
    addresses = ("https://host/en-fr.txt.zip", "https://host/fr-en.txt.zip")
    members = ("T.en-fr.en", "T.en-fr.fr", "T.fr-en.en", "T.fr-en.fr")
    first = RemoteFile("tanzil", "en-fr.txt.zip", ("en", "fr"), addresses, members=members, version="v1")
    assert dataset.files[0] == first
    assert dataset.files[1].members == ("T.de-en.de", "T.de-en.en", "T.en-de.de", "T.en-de.en")
    assert dataset.select(("fr", "en")) == dataset.select(("en", "fr")) == dataset.files[:1]
    assert dataset.pairs_among(["fr", "de", "en"]) == [("fr", "en"), ("de", "en")]
    for languages in (("pl", "en"), ("en",)):
        with pytest.raises(InputError, match=f"'tanzil' .* {'-'.join(languages)};.* en-fr, de-en$"):
            dataset.select(languages)


def test_files_with_a_side_each_are_selected_in_the_order_asked(tmp_path):
    rows = [
        ALIGNED | {"languages": code, "file": f"train.{code}.gz", "sha256": DIGEST, "size": "12"}
        for code in ("en", "de", "fr")
    ]
    dataset = one(tmp_path, *rows)
    assert [file.name for file in dataset.select(("fr", "en"))] == ["train.fr.gz", "train.en.gz"]
    assert (dataset.files[0].sha256, dataset.files[0].size) == (DIGEST, 12)
    assert dataset.pairs == (("en", "de"), ("en", "fr"), ("de", "fr"))
    with pytest.raises(InputError, match="nothing in fr-pl; it has en, de, fr"):
        dataset.select(("fr", "pl"))
    with pytest.raises(InputError, match="nothing in en;"):
        dataset.pairs_among(["en"])
    captions = [row | {"kind": "captions", "file": f"{i}.{row['file']}"} for row in rows for i in (1, 2)]
    dataset = one(tmp_path, *captions)
    assert [file.name for file in dataset.select(("de",))] == ["1.train.de.gz", "2.train.de.gz"]
    assert (dataset.pairs, dataset.pairs_among(["pl", "de"])) == ((), [("de", "de")])


@pytest.mark.parametrize(
    ("addresses", "shipped", "on_request"),
    [
        ("file:data/x.gz", True, None),
        ("https://host/x.gz file:resources/x.gz", False, None),
        ("file:resources/x.gz", True, "resources/x.gz"),
    ],
)
def test_what_is_shipped_or_given_on_request(tmp_path, addresses, shipped, on_request):
    path = write(tmp_path / "r.tsv", ALIGNED | {"addresses": addresses, "licence": " free "})
    path.write_bytes(b"# a note\r\n\r\n" + path.read_bytes().replace(b"\n", b"\r\n"))
    dataset = read_registry(path)["captions30"]
    assert (dataset.licence, dataset.commercial) == ("free", "unknown")
    (file,) = dataset.files
    assert (file.shipped, file.on_request) == (shipped, on_request)


@pytest.mark.parametrize(
    ("change", "column", "cause"),
    [
        ({"name": "Tanzil"}, "name", "'Tanzil'"),
        (ALIGNED | {"file": "x", "version": "v2"}, "version", "'v2'"),
        (ALIGNED, "file", "'train.en.gz' is listed twice"),
        ({"name": "captions30", "version": "1"}, "kind", "'opus'"),
        ({"licence": ""}, "licence", "empty"),
        ({"kind": "opsu"}, "kind", "opus"),
        ({"languages": "en"}, "languages", "2"),
        ({"languages": "en-en"}, "languages", "'en-en'"),
        ({"kind": "aligned"}, "languages", "1"),
        (ALIGNED | {"kind": "tsv", "languages": "-", "members": "-"}, "languages", "1 or 2"),
        ({"file": "../x.zip"}, "file", "plain file name"),
        ({"file": "x.zip"}, "file", "'x.zip' is listed twice"),
        ({"kind": "tsv", "languages": "en-fr fr-en", "members": "-"}, "languages", "'fr-en.txt.zip'"),
        ({"addresses": "https://host/x ftp://host/x"}, "addresses", "'ftp://host/x'"),
        ({"addresses": "https://host/{c}.zip"}, "addresses", "{a} and {b}"),
        ({"sha256": "abc", "languages": "en-fr"}, "sha256", "'abc'"),
        ({"sha256": DIGEST}, "sha256", "several files"),
        ({"size": "1.5", "languages": "en-fr"}, "size", "'1.5'"),
        ({"commercial": "maybe"}, "commercial", "'maybe'"),
        ({"members": "T.{c}"}, "members", "{a} and {b}"),
        ({"members": "-"}, "members", "not 0"),
        ({"kind": "manythings", "members": "-"}, "members", "not 0"),
        ({"kind": "tsv", "members": "1 2 3 4 5"}, "members", "not 5"),
        ({"kind": "tsv", "members": "1 -"}, "members", "'-'"),
        ({"kind": "csv", "members": "1 0"}, "members", "'0'"),
        ({"kind": "tmx", "members": "en fr"}, "members", "not 2"),
    ],
)
def test_a_bad_cell_is_one_line_with_its_line_and_column(tmp_path, change, column, cause):
    message = error_of(write(tmp_path / "r.tsv", ALIGNED, OPUS | change))
    assert message.startswith(f"3: {column}: ")
    assert cause in message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\n", "1: not UTF-8"),
        (b"# a note\nname\tversion\n", "2: header: "),
        ("\t".join(COLUMNS).encode() + b"\nonly\tthree\tcells\n", "2: row: 3 columns"),
    ],
)
def test_what_is_no_registry_is_one_line(tmp_path, content, message):
    (tmp_path / "r.tsv").write_bytes(content)
    assert message in error_of(tmp_path / "r.tsv")


def test_the_shipped_registry_names_the_corpora_of_the_papers():
    registry = read_registry(SHIPPED)
    for language in ("ar", "de", "es", "fr", "ru", "tr", "zh"):
        for name in ("opensubtitles", "tanzil", "globalvoices"):
            (file,) = registry[name].select(("en", language))
            assert file.addresses[0].startswith("https://object.pouta.csc.fi/OPUS-")
            assert len(file.members) == 4
    # LASER has 112 languages; most of them have a code of two letters here and of three letters there.
    assert len(registry["tatoeba"].pairs) == 112
    own, english = registry["tatoeba"].select(("fr", "en"))
    assert (own.name, english.name) == ("tatoeba.fra-eng.fra", "tatoeba.fra-eng.eng")


def test_the_shipped_registry_agrees_with_the_real_files(mirror):
    registry, checked = read_registry(SHIPPED), 0
    for dataset in registry.values():
        for file in dataset.files:
            paths = [mirror / address.partition("://")[2] for address in file.addresses]
            real = next((path for path in paths if path.is_file()), None)
            if file.sha256 and real:
                assert (sha256(real), real.stat().st_size) == (file.sha256, file.size), file.name
                checked += 1
    assert checked == 60
    # What can change upstream has a digest or a commit.
    names = ("tatoeba", "uriel", "bibles", "senteval", "sts_open", "bucc2018_open", "wmt21", "wmt22", "wmt23")
    moving = [file for name in names for file in registry[name].files if not file.sha256]
    assert not [file.name for file in moving if re.search(r"/(main|master)/", file.addresses[0])]


def test_the_sample_of_the_shipped_registry_is_in_the_repository():
    samples = [d for d in read_registry(SHIPPED).values() if d.name.startswith("sample_")]
    assert len(samples) == 8
    for file in (file for dataset in samples for file in dataset.files):
        assert file.shipped
        shipped = ROOT / urlsplit(file.addresses[0]).path
        # A row for several languages has no digest; the file that it shares has one in its own row.
        assert file.sha256 in (None, sha256(shipped)), shipped
