"""Test how the STS archives are read, and the correlations and tables."""

import json
import re
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from paraphrastic.base.errors import InputError
from paraphrastic.model.architecture import encoder_name
from paraphrastic.model.encoder import cosines
from paraphrastic.model.units import UNITS
from paraphrastic_pipeline.base.tables import read_csv_with_header
from paraphrastic_pipeline.evaluation import sts
from paraphrastic_pipeline.evaluation.results import Result
from paraphrastic_pipeline.evaluation.sts_data import prepare_sts
from paraphrastic_pipeline.evaluation.system_tables import tabulate_systems
from paraphrastic_pipeline.evaluation.systems import write_result
from paraphrastic_pipeline.evaluation.testset_names import DATASETS
from paraphrastic_pipeline.evaluation.testsets import content_digest

ROOT = Path(__file__).resolve().parents[2]
OFFICIAL = ROOT / "config" / "published" / "sts_digests.json"
PUBLISHED = ROOT / "config" / "published" / "sts.csv"


def archive_members() -> dict[str, str]:
    """Return a small but complete archive; sentence i of a dataset has the gold score i."""
    members = {}
    for year, datasets in DATASETS.items():
        for dataset in datasets:
            folder = f"STS/STS{year[2:]}-en-test"
            sentences = [f"{dataset} sentence {i}\tanother {year} sentence {i}" for i in range(5)]
            members[f"{folder}/STS.input.{dataset}.txt"] = "\n".join(sentences) + "\n"
            members[f"{folder}/STS.gs.{dataset}.txt"] = "".join(f"{i}\n" for i in range(5))
    members["STS/STS17-test/STS.input.track5.en-en.txt"] = "a b\tc d\t1.0\ne f\tg h\t4.0\n"
    return members


def write_archive(path: Path, members: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text.encode("utf-8", "surrogateescape"))
    return path


def prepared(tmp_path: Path, members: dict[str, str]) -> pd.DataFrame:
    prepare_sts(write_archive(tmp_path / "STS.zip", members), tmp_path / "sts.parquet")
    return pd.read_parquet(tmp_path / "sts.parquet")


def test_all_datasets_are_read(tmp_path: Path) -> None:
    pairs = prepared(tmp_path, archive_members())
    assert len(pairs[["year", "dataset"]].drop_duplicates()) == 25 + 1
    row = pairs.query("year == '2014' and dataset == 'images' and line == 4").iloc[0]
    assert row["sentence1"] == "images sentence 3"
    assert row["sentence2"] == "another 2014 sentence 3"
    assert row["gold"] == 3.0


def test_pairs_without_gold_score_are_left_out_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    members = archive_members()
    members["STS/STS16-en-test/STS.gs.headlines.txt"] = "0\n\n2\n \n4\n"
    pairs = prepared(tmp_path, members).query("year == '2016' and dataset == 'headlines'")
    np.testing.assert_array_equal(pairs["gold"], [0, np.nan, 2, np.nan, 4])
    assert "STS.zip: STS 2016 headlines: 2 of 5 pairs have no gold score" in caplog.text


def test_layouts_that_official_files_have(tmp_path: Path) -> None:
    members = archive_members()
    plain = prepared(tmp_path, members)
    name = "STS/STS16-en-test/STS.input.headlines.txt"
    members[name] = members[name].replace("\n", "\thttp://a\thttp://b\r\n")
    members[name.replace("input", "gs")] = members[name.replace("input", "gs")].replace("\n", "\r\n")
    members["STS/STS12-en-test/STS.input.MSRpar.txt"] += "\n"
    members["__MACOSX/STS/STS12-en-test/STS.input.MSRpar.txt"] = "no sentences"
    assert prepared(tmp_path, members).equals(plain)


def test_a_blank_line_is_no_pair(tmp_path: Path) -> None:
    members = archive_members()
    members["STS/STS12-en-test/STS.input.MSRpar.txt"] = "a\tb\n\nc\td\n"
    members["STS/STS12-en-test/STS.gs.MSRpar.txt"] = "1\n\n3\n"
    pairs = prepared(tmp_path, members).query("dataset == 'MSRpar'")
    assert (pairs["line"].to_list(), pairs["gold"].to_list()) == ([1, 3], [1, 3])


def test_the_licensed_dataset_may_be_missing_and_no_other(tmp_path: Path) -> None:
    members = archive_members()
    del members["STS/STS13-en-test/STS.input.SMT.txt"]
    assert "SMT" not in set(prepared(tmp_path, members)["dataset"])
    del members["STS/STS14-en-test/STS.gs.images.txt"]
    with pytest.raises(InputError, match=r"STS\.zip: STS14-en-test/STS\.gs\.images\.txt is missing"):
        prepared(tmp_path, members)


GOLD, PAIRS = "STS12-en-test/STS.gs.MSRpar.txt", "STS12-en-test/STS.input.MSRpar.txt"
TRACK = "STS17-test/STS.input.track5.en-en.txt"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (GOLD, "1\n2\n", f"{PAIRS} has 5 lines but STS.gs.MSRpar.txt has 2"),
        (GOLD, "1\n2\nx\n4\n5\n", f"{GOLD}:3: the gold score 'x' is not a number"),
        (GOLD, "1\n2\n0_3\n4\n5\n", f"{GOLD}:3: the gold score '0_3' is not a number"),
        (GOLD, "1\n2\n3,5\n4\n5\n", f"{GOLD}:3: the gold score '3,5' is not a number"),
        (GOLD, "1\n2\n7.5\n4\n5\n", f"{GOLD}:3: '7.5' is not a gold score"),
        (GOLD, "\n" * 5, "STS 2012 MSRpar has no pair with a gold score"),
        (PAIRS, "a\tb\n" * 4 + "ab\n", f"{PAIRS}:5: expected two sentences"),
        (PAIRS, "a\tb\n\udcff\tb\n", f"{PAIRS}:2: not UTF-8"),
        (TRACK, "a\tb\tnan\n", f"{TRACK}:1: the gold score 'nan' is not a number"),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(f'{tmp_path}/STS.zip: {message}')}"):
        prepared(tmp_path, {**archive_members(), f"STS/{name}": text})
    assert not (tmp_path / "sts.parquet").exists()


class WordOverlap:
    """A stand-in for an encoder, whose vectors count words by their length."""

    digest = "abc"
    dim = 16
    label = "P-SP en"

    def embed_raw_text(self, sentences: list[str], *, language: str, threads: int = 1) -> np.ndarray:
        vectors = np.zeros((len(sentences), 16), np.float32)
        for row, sentence in enumerate(sentences):
            for word in sentence.lower().split():
                vectors[row, sum(map(ord, word)) % 16] += 1
        return vectors

    def encode(self, sentences: list[str], *, language: str) -> np.ndarray:
        return self.embed_raw_text(sentences, language=language)


def evaluated(testsets: Path, output: Path, official: Path = OFFICIAL) -> dict:
    encoder = WordOverlap()
    figures = sts.evaluate_sts(encoder, testsets)
    write_result(
        output, encoder, figures, task="sts", official=official, source="measured", bootstrap_samples=200
    )
    return json.loads(output.read_text())


def varied(members: dict[str, str]) -> dict[str, str]:
    generator = np.random.default_rng(0)
    for name in members:
        if ".input." in name and "STS17" not in name:
            rows = generator.integers(0, 9, size=(20, 2, 6))
            members[name] = "".join("\t".join(" ".join(map(str, s)) for s in row) + "\n" for row in rows)
        elif ".gs." in name:
            members[name] = "".join(f"{g:.2f}\n" for g in generator.uniform(0, 5, 20))
    return members


def test_figures_are_those_of_scipy(tmp_path: Path) -> None:
    pairs = prepared(tmp_path, varied(archive_members()))
    result = evaluated(tmp_path / "sts.parquet", tmp_path / "sts.json")
    vectors = [WordOverlap().embed_raw_text(pairs[f"sentence{side}"], language="en") for side in (1, 2)]
    scores = cosines(*vectors)
    pairs = pairs.assign(score=scores)
    year_means, every = [], {"pearson": [], "spearman": []}
    for year, datasets in DATASETS.items():
        rs = []
        for dataset in datasets:
            group = pairs.query("year == @year and dataset == @dataset")
            rs.append(stats.pearsonr(group["score"], group["gold"]).statistic)
            every["pearson"].append(rs[-1])
            every["spearman"].append(stats.spearmanr(group["score"], group["gold"]).statistic)
            row = result["datasets"][f"{year}/{dataset}"]
            assert row["n"] == 20
            figure = result["measurements"][f"pearson {year}/{dataset}"]
            assert figure["value"] == pytest.approx(rs[-1])
            assert figure["interval"][0] < figure["value"] < figure["interval"][1]
        year_means.append(np.mean(rs))
        assert result["measurements"][f"pearson {year}"]["value"] == pytest.approx(year_means[-1])
        whole = pairs.query("year == @year and dataset != 'SMT'")
        rho = stats.spearmanr(whole["score"], whole["gold"]).statistic
        assert result["measurements"][f"spearman {year}"]["value"] == pytest.approx(rho)
    assert result["measurements"]["pearson avg"]["value"] == pytest.approx(np.mean(year_means))
    for statistic, values in every.items():
        figure = result["measurements"][f"{statistic} datasets"]
        assert len(values) == 25
        assert figure["value"] == pytest.approx(np.mean(values))
        assert figure["n"] == 25 * 20
        assert figure["interval"][0] < figure["value"] < figure["interval"][1]
    assert result["data"] == "sample"
    assert Result.read(tmp_path / "sts.json").without == ""


def test_pairs_without_gold_score_do_not_count(tmp_path: Path) -> None:
    members = varied(archive_members())
    prepared(tmp_path, members)
    whole = evaluated(tmp_path / "sts.parquet", tmp_path / "whole.json")
    for kind, line in (("input", "one\tmore\n"), ("gs", "\n")):
        members[f"STS/STS15-en-test/STS.{kind}.belief.txt"] += line * 2
    prepared(tmp_path, members)
    found = evaluated(tmp_path / "sts.parquet", tmp_path / "sts.json")
    row = whole["datasets"]["2015/belief"]
    assert row["n"] == 20
    assert found["datasets"]["2015/belief"] == row
    assert found["measurements"] == whole["measurements"]


def official_digests(tmp_path: Path, pairs: pd.DataFrame) -> Path:
    path = tmp_path / "official.json"
    groups = pairs.groupby(["year", "dataset"], sort=False)
    path.write_text(
        json.dumps({f"{year}/{name}": content_digest(year, name, group) for (year, name), group in groups})
    )
    return path


def table(tmp_path: Path, members: dict[str, str], *, official: bool) -> list[dict[str, str]]:
    pairs = prepared(tmp_path, members)
    digests = official_digests(tmp_path, pairs) if official else OFFICIAL
    evaluated(tmp_path / "sts.parquet", tmp_path / "sts.json", digests)
    systems = {"en": [tmp_path / "sts.json"]}
    tabulate_systems(systems, "sts", tmp_path / "sts.csv", tmp_path / "i.csv", published=PUBLISHED)
    header, rows = read_csv_with_header(tmp_path / "sts.csv")
    assert header == ["system", "source", "data", *DATASETS, "avg"]
    return rows


def test_published_rows_stand_beside_official_data_only(tmp_path: Path) -> None:
    members = varied(archive_members())
    on_sample = table(tmp_path, members, official=False)
    assert [(row["source"], row["data"]) for row in on_sample] == [("measured", "sample")]
    on_official = table(tmp_path, members, official=True)
    assert [row["source"] for row in on_official] == ["published"] * 32 + ["measured"]
    assert {row["data"] for row in on_official} == {"official"}
    assert on_official[-2]["system"] == "P-SP"


def test_tracks_are_in_the_languages_of_their_sides(tmp_path: Path) -> None:
    members = archive_members()
    lines = ["a b\ta c\t1\n", "d\te f\t2.5\n", "g h\tg h\t5\n"]
    members["STS/STS17-test/STS.input.track2.ar-en.txt"] = "".join(lines)
    prepared(tmp_path, members)

    asked: list[str] = []

    class Asked(WordOverlap):
        def encode(self, sentences: list[str], *, language: str) -> np.ndarray:
            asked.append(language)
            return super().encode(sentences, language=language)

    figures = sts.evaluate_tracks(Asked(), tmp_path / "sts.parquet", tracks=["ar-en"])
    assert list(figures) == ["pearson 2017/ar-en", "spearman 2017/ar-en"]
    assert asked == ["en", "ar"]
    with pytest.raises(InputError, match=r"sts\.parquet: STS 2017 has no track es-es"):
        sts.evaluate_tracks(Asked(), tmp_path / "sts.parquet", tracks=["es-es"])


def test_one_changed_word_makes_data_unofficial(tmp_path: Path) -> None:
    pairs = prepared(tmp_path, varied(archive_members()))
    digests = official_digests(tmp_path, pairs)
    pairs.loc[7, "sentence1"] = "a word"
    pairs.to_parquet(tmp_path / "sts.parquet")
    assert evaluated(tmp_path / "sts.parquet", tmp_path / "sts.json", digests)["data"] == "sample"


def test_the_table_says_that_smt_is_absent(tmp_path: Path) -> None:
    members = varied(archive_members())
    del members["STS/STS13-en-test/STS.input.SMT.txt"]
    (row,) = table(tmp_path, members, official=False)
    assert row["system"] == "P-SP en (2013 without SMT)"


def test_a_system_is_named_by_what_it_averages() -> None:
    names = [encoder_name({"unit": unit}) for unit in UNITS]
    assert names == ["P-SP", "WORD", "TRIGRAM"]


def test_the_mirror_holds_the_official_test_sets(mirror: Path, tmp_path: Path) -> None:
    prepare_sts(mirror / "www.cs.cmu.edu" / "~jwieting" / "STS.zip", tmp_path / "sts.parquet")
    pairs = pd.read_parquet(tmp_path / "sts.parquet")
    scored = pairs.dropna(subset="gold")
    sizes = scored.groupby(["year", "dataset"]).size()
    assert sizes["2012", "MSRpar"] == 750
    assert sizes["2016", "headlines"] == 249
    assert sizes["2017", "en-en"] == 250
    digests = json.loads(OFFICIAL.read_text())
    for (year, dataset), group in scored.groupby(["year", "dataset"]):
        assert digests[f"{year}/{dataset}"] == content_digest(year, dataset, group)
