"""Test which cells of tables that are not of systems the ledger compares, and how systems differ on STS."""

import json
from pathlib import Path

import numpy as np
from function_encoder import FunctionEncoder
from ledgers import ABOUT, intervals, ledger, printed_row, write

from paraphrastic_pipeline.base.tables import read_csv
from paraphrastic_pipeline.evaluation.measurement import correlations
from paraphrastic_pipeline.evaluation.results import write_result
from paraphrastic_pipeline.evaluation.study_tables import tabulate_differences
from paraphrastic_pipeline.evaluation.testset_names import CAPTION_DATASETS

STUDY = {"study": "megabatch", "setting": "sweep.megabatch 20", "system": "Word Avg.",
         "development": "84.0", "sts": "", "sts_datasets": "70.0"}  # fmt: skip


def studies(folder: Path, **cells: str) -> Path:
    row = {"source": "measured", "data": "official", "development": "83.9", "sts": "69.0", "datasets": "25",
           "sts_datasets": "70.5", "sts_datasets_low": "69.0", "sts_datasets_high": "72.0"}  # fmt: skip
    keys = {"study": "megabatch", "system": "P-SP (WORD) word-megabatch"}
    rows = [
        {**keys, "setting": f"sweep.megabatch {size}", "model": f"word-megabatch-{number}", **row, **cells}
        for number, size in ((1, 1), (2, 20))
    ]
    return write(folder / "measured.csv", rows)


def test_rows_of_a_study_are_met_by_their_models(tmp_path: Path) -> None:
    about = {**ABOUT, "config": "paper.yaml", "model": "word-megabatch-2"}
    published = printed_row(tmp_path, "studies", {**STUDY, **about})
    tables = {"studies": studies(tmp_path)}
    digests = {"word": "w", "word-megabatch-2": "v"}
    development, datasets = ledger(tmp_path, published, {}, tables=dict(tables), config_digests=digests)
    assert (development["row"], development["name"]) == ("megabatch, sweep.megabatch 20", "word-megabatch-2")
    assert (development["measured"], development["verdict"]) == ("83.90", "worse")
    assert development["config_digest"] == "v"
    assert (datasets["column"], datasets["measured"], datasets["verdict"]) == (
        "sts_datasets",
        "70.50",
        "reproduced",
    )
    # A study's models inherit what their definition claims; the setting finds the right one.
    claims = {name: ["Word Avg."] for name in ("word", "word-megabatch-1", "word-megabatch-2")}
    rows = ledger(tmp_path, published, {}, tables=dict(tables), published_as=claims, configs=[])
    assert {row["name"] for row in rows} == {"word-megabatch-2"}


def test_a_mean_over_fewer_datasets_is_not_compared(tmp_path: Path) -> None:
    about = {**ABOUT, "config": "paper.yaml", "model": "word-megabatch-2"}
    published = printed_row(tmp_path, "studies", {**STUDY, **about})
    rows = ledger(tmp_path, published, {}, tables={"studies": studies(tmp_path, datasets="24")})
    assert [(row["column"], row["verdict"]) for row in rows] == [
        ("development", "worse"),
        ("sts_datasets", "not run"),
    ]
    assert (
        rows[1]["why"] == "the measured figure lacks 1 of 25 data sets, which the published figure includes"
    )


def test_statistics_of_corpora_are_those_of_a_model(tmp_path: Path) -> None:
    keys = ("corpus", "language", "pairs_millions", "used_millions", "idf", "parse_entropy")
    published = write(
        tmp_path / "corpora.csv",
        [
            {**dict(zip(keys, row, strict=True)), **ABOUT, "config": "paper.yaml", "model": model}
            for model, *row in (
                ("de", "all", "en-de", "", "6.47", "", ""),
                ("en", "all", "en", "", "25.85", "", ""),
                ("czeng", "Czeng1.6", "en", "51.4", "", "7.4", "4.1"),
                ("en", "News", "en", "0.19", "", "", ""),
            )
        ],
    )
    columns = ("model", "corpus", "language", "pairs", "used", "idf", "parse_entropy")
    table = write(
        tmp_path / "measured.csv",
        [
            dict(zip(columns, row, strict=True))
            for row in (
                ("de", "tanzil", "en", "9", "9", "1.0", "no parser"),
                ("de", "tanzil", "de", "9", "9", "1.0", "no parser"),
                ("de", "all", "en-de", "9000000", "6474000", "", ""),
                ("en", "a", "en", "1", "1", "1.0", ""),
                ("en", "b", "en", "2", "2", "1.0", ""),
                ("en", "all", "en", "3", "26000000", "", ""),
                ("czeng", "cz_en", "en", "51410000", "100", "7.61", "no parser"),
                ("czeng", "all", "en", "51410000", "100", "", ""),
            )
        ],
    )
    rows = ledger(tmp_path, published, {}, tables={"corpora": table})
    assert [(row["row"], row["column"], row["measured"], row["verdict"]) for row in rows] == [
        ("all, en-de", "used_millions", "6.47", "reproduced"),
        ("all, en", "used_millions", "26.00", "different"),
        ("Czeng1.6, en", "pairs_millions", "51.41", "reproduced"),
        ("Czeng1.6, en", "idf", "7.61", "different"),
        ("Czeng1.6, en", "parse_entropy", "", "not run"),
        # This model has two corpora, neither of which is known to be the paper's.
        ("News, en", "pairs_millions", "", "not run"),
    ]
    rows = ledger(tmp_path, published, {}, tables={"corpora": table}, configs=["config.yaml"])
    assert {row["why"] for row in rows if row["model"] == "de"} == {
        "config/paper.yaml makes this figure, from de"
    }


def test_speeds_have_no_verdict(tmp_path: Path) -> None:
    keys = {"device": "cpu", "cores": "1", "batch_size": "64", "preprocessing": "not counted"}
    published = printed_row(tmp_path, "speed", {"system": "P-SP", **keys, "sentences_per_second": "12776"})
    row = {
        "system": "P-SP en",
        "source": "measured",
        **keys,
        "sentences": "9",
        "sentences_per_second": "13000",
    }
    named = intervals(tmp_path, "sts", ("en", "2012", 1, 1, 1))
    tables = {"speed": write(tmp_path / "measured.csv", [row])}
    (found,) = ledger(tmp_path, published, named, tables=tables)
    assert (found["measured"], found["verdict"]) == ("13000.00", "not run")
    assert found["why"] == "the published speed was measured on another machine"


def test_tables_with_columns_of_their_own_are_compared(tmp_path: Path) -> None:
    named = intervals(tmp_path, "sts", ("word", "2012", 1, 1, 1), ("tri", "2012", 1, 1, 1))
    published = printed_row(
        tmp_path,
        "dataset_differences",
        {"system": "Word Avg.", "other": "Trigram Avg.", "difference": "2.75", **ABOUT},
    )
    row = {"system": "P-SP word", "other": "P-SP tri", "source": "measured", "data": "official"}
    figures = {"difference": "2.60", "difference_low": "2.50", "difference_high": "2.90"}
    table = write(tmp_path / "differences.csv", [row | figures])
    (found,) = ledger(
        tmp_path,
        published,
        named,
        tables={"dataset_differences": table},
        published_as={"word": ["Word Avg."], "tri": ["Trigram Avg."]},
    )
    assert (found["verdict"], found["row"], found["measured"]) == ("reproduced", "Trigram Avg.", "2.60")


def test_differences_count_in_both_directions(tmp_path: Path) -> None:
    named = intervals(tmp_path, "sts", ("word", "2012", 1, 1, 1), ("them", "2012", 1, 1, 1))
    about = {**ABOUT, "config": "paper.yaml"}
    published = write(
        tmp_path / "dataset_differences.csv",
        [
            {"system": "Word", "other": "InferSent", "difference": "", "mean": "10.5", "2014/images": "6.4",
             **about, "model": "word"},
            {"system": "Word", "other": "Theirs", "difference": "2.75", "mean": "", "2014/images": "",
             **about, "model": "word them"},
        ],
    )  # fmt: skip
    row = {"system": "P-SP them", "other": "P-SP word", "source": "measured", "data": "official",
           "datasets": "24", "difference": "9.00", "difference_low": "8.00", "difference_high": "9.50",
           "mean": "-10.00", "mean_low": "-11.00", "mean_high": "-9.00", "2014/images": "6.00"}  # fmt: skip
    table = write(tmp_path / "differences.csv", [row])

    def found(**settings) -> list[tuple[str, ...]]:
        rows = ledger(tmp_path, published, named, tables={"dataset_differences": table}, **settings)
        keys = ("column", "measured", "low", "high", "verdict")
        return [tuple(row[key] for key in keys) for row in rows]

    assert found(published_as={"them": ["InferSent"]}) == [
        ("mean", "10.00", "9.00", "11.00", "not run"),
        ("2014/images", "-6.00", "-6.00", "-6.00", "different"),
        ("difference", "9.00", "8.00", "9.50", "not run"),
    ]
    assert found()[0] == ("mean", "", "", "", "not run")
    rows = ledger(tmp_path, published, named, tables={"dataset_differences": table})
    assert rows[0]["why"] == "nothing in the configuration is published_as 'InferSent'"


def test_differences_are_those_of_the_datasets(tmp_path: Path) -> None:
    paths, values = {}, {}
    for name, noise in (("word", 0.5), ("tri", 1.0)):
        found = {}
        for seed, dataset in enumerate((*CAPTION_DATASETS, "2013/FNWN")):
            generator = np.random.default_rng(seed)
            gold = generator.normal(size=100)
            scores = gold + noise * np.random.default_rng([seed, len(name)]).normal(size=100)
            found |= correlations(scores, gold, name=dataset, at=dataset, digest="d", samples=100)
        encoder = FunctionEncoder(f"P-SP {name}", 3, name, lambda sentences, _: np.ones((1, 1)))
        paths[name] = tmp_path / f"{name}.json"
        datasets = {"datasets": {each: {} for each in (*CAPTION_DATASETS, "2013/FNWN")}}
        write_result(
            paths[name], encoder, found, task="sts", source="measured", official=False, details=datasets
        )
        values[name] = np.array([found[f"pearson {dataset}"].value for dataset in datasets["datasets"]])
    captions = {name: f"{number}.5" for number, name in enumerate(["mean", *CAPTION_DATASETS])}
    published = write(
        tmp_path / "p.csv",
        [
            {"system": "A", "other": "B", "difference": "2.75", **dict.fromkeys(captions, "")},
            {"system": "A", "other": "InferSent (SNLI)", "difference": "", **captions},
        ],
    )
    tabulate_differences(list(paths.values()), published, tmp_path / "t.csv")
    (row,) = read_csv(tmp_path / "t.csv")
    differences = 100 * (values["word"] - values["tri"])
    assert (row["system"], row["other"], row["datasets"]) == ("P-SP word", "P-SP tri", "4")
    assert row["difference"] == f"{np.abs(differences).mean():.2f}"
    assert row["mean"] == f"{differences.mean():.2f}"
    for kind in ("mean", "difference"):
        assert float(row[f"{kind}_low"]) < float(row[kind]) < float(row[f"{kind}_high"])
    assert row["model_digest"] == "word,tri"
    assert row["2014/images"] == f"{differences[1]:.2f}"
    for path in (paths["word"], paths["tri"]):
        path.write_text(json.dumps(json.loads(path.read_text()) | {"data": "official"}))
    tabulate_differences(list(paths.values()), published, tmp_path / "t.csv")
    text = (tmp_path / "t.csv").read_text()
    assert "A,B,published,official,25,2.75" in text
    printed = read_csv(tmp_path / "t.csv")[1]
    assert (printed["system"], printed["other"]) == ("A", "InferSent (SNLI)")
    assert [printed[name] for name in ("mean", *CAPTION_DATASETS)] == ["0.5", "1.5", "2.5", "3.5"]


def test_correlations_have_a_row_a_figure(tmp_path: Path) -> None:
    keys = {"languages": "All Lang.", "embeddings": "shared"}
    published = printed_row(
        tmp_path,
        "language_choice_correlations",
        {**keys, "n": "46", "sp_overlap": "71.5", "language_distance": "-22.8", **ABOUT},
    )
    figures = {"sp_overlap": ("60.0", "40.0", "75.0"), "language_distance": ("-60.0", "-80.0", "-30.0")}

    def verdicts(languages: int, datasets: int) -> list[tuple[str, ...]]:
        measured = write(
            tmp_path / "measured.csv",
            [
                {"source": source, "data": "official", **keys, "predictor": predictor, "spearman": value,
                 "low": low, "high": high, "p": "0.010", "n": str(languages), "datasets": str(datasets)}
                for source in ("published", "measured")
                for predictor, (value, low, high) in figures.items()
            ],
        )  # fmt: skip
        rows = ledger(tmp_path, published, {}, tables={"language_choice_correlations": measured})
        about = ("row", "column", "measured", "verdict", "why")
        return [tuple(row[key] for key in about) for row in rows]

    assert verdicts(46, 25) == [
        ("All Lang., shared", "sp_overlap", "60.00", "reproduced", ""),
        ("All Lang., shared", "language_distance", "-60.00", "different", ""),
    ]
    lacks = "the measured figure lacks 1 of 25 data sets, which the published figure includes"
    assert [row[2:] for row in verdicts(46, 24)] == [
        ("60.00", "not run", lacks),
        ("-60.00", "not run", lacks),
    ]
    fewer = "the published figure is over 46 languages, the measured one over 9"
    assert {row[3:] for row in verdicts(9, 25)} == {("not run", fewer)}


def test_correlations_over_some_languages_belong_to_a_study_of_all(tmp_path: Path) -> None:
    subset = {"languages": "Lang. (SP Ovl. > 0.3)", "embeddings": "shared"}
    published = printed_row(
        tmp_path, "language_choice_correlations", {**subset, "n": "46", "sp_overlap": "18.5", **ABOUT}
    )

    def verdict(languages: int) -> str:
        row = {"source": "measured", "data": "official", "predictor": "sp_overlap", "spearman": "18.5",
               "low": "10.0", "high": "20.0", "datasets": "25"}  # fmt: skip
        every = {**subset, "languages": "All Lang."}
        rows = [{**row, **every, "n": str(languages)}, {**row, **subset, "n": "20"}]
        measured = write(tmp_path / "measured.csv", rows)
        (found,) = ledger(tmp_path, published, {}, tables={"language_choice_correlations": measured})
        return found["verdict"]

    assert (verdict(46), verdict(40)) == ("reproduced", "not run")


def test_statistics_that_were_measured_otherwise_are_not_compared(tmp_path: Path) -> None:
    about = {"corpus": "Czeng1.6", "language": "en"}
    published = printed_row(
        tmp_path, "corpora", {**about, "length": "13.3", "idf": "7.4", "parse_entropy": "4.1"}
    )
    cells = {"length": "13.3", "idf": "7.4", "parse_entropy": "no parser"}
    row = {"model": "en", "corpus": "paranmt", "language": "en", "pairs": "9", "used": "9", **cells}
    tables = {"corpora": write(tmp_path / "measured.csv", [row])}
    why = {"corpora": {"idf": "the frequencies are its own", "parse_entropy": "there is no parser"}}

    def verdicts(**settings) -> list[tuple[str, ...]]:
        rows = ledger(tmp_path, published, {}, tables=dict(tables), **settings)
        return [tuple(found[key] for key in ("column", "measured", "verdict", "why")) for found in rows]

    assert verdicts(incomparable=why) == [
        ("length", "13.30", "reproduced", ""),
        ("idf", "7.40", "not run", "the frequencies are its own"),
        ("parse_entropy", "", "not run", "there is no parser"),
    ]
    assert verdicts()[1] == ("idf", "7.40", "reproduced", "")
