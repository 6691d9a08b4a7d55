"""Tables that show what the corpora contain, and which of their pairs occur in test sets."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paraphrastic.base.files import read_json
from paraphrastic_pipeline.base.tables import write_csv
from paraphrastic_pipeline.corpus.blocks import read_table
from paraphrastic_pipeline.corpus.statistics import WordStatistics

_STATISTICS = (
    "length", "length_std", "idf", "idf_std", "vocabulary_entropy",
    "paraphrase_score", "paraphrase_score_std",
)  # fmt: skip
# Kinds of contamination.
CONTAMINATION_KINDS = ("exact", "near")
# A model and one of its corpora.
ModelCorpus = tuple[str, str]


def tabulate_contamination(
    counts: Sequence[Path], table: Path, *, corpora: Sequence[ModelCorpus], drop: Sequence[str]
) -> None:
    """Write how many pairs of each model and corpus occur in each test set, and in any of them (`all`).

    Columns: `model`, `corpus`, `testset`, `read` (selected pairs), `exact`, `near` (empty if near duplicates
    were not looked for), `dropped` (according to `drop`) and `share` (of the pairs read, in %).

    Args:
        counts: JSON files written by `mark_contamination`, in the order of the rows.
        table: the CSV file.
        corpora: the model and corpus of each file.
        drop: kinds of contamination that are left out of training.
    """
    rows = []
    for (model, corpus), path in zip(corpora, counts, strict=True):
        result = read_json(path)
        for testset, kinds in (*result["testsets"].items(), ("all", result["all"])):
            read = result["read"]
            share = f"{100 * sum(kinds.values()) / read:.2f}" if read else ""
            row = {"model": model, "corpus": corpus, "testset": testset, "read": read, **kinds}
            rows.append(row | {"dropped": sum(kinds.get(kind, 0) for kind in drop), "share": share})
    write_csv(table, ["model", "corpus", "testset", "read", *CONTAMINATION_KINDS, "dropped", "share"], rows)


def tabulate_corpora(
    statistics: Sequence[Path],
    samples: Sequence[Path],
    merged: Sequence[Path],
    table: Path,
    *,
    corpora: Sequence[ModelCorpus],
    models: Sequence[str],
) -> None:
    """Write the statistics of each model's corpora, and how many of their pairs the model is trained on.

    Columns: `model`, `corpus`, `language` (of the side that is measured), `pairs`, `used`, and the figures
    of ParaNMT-50M's Table 2 except the parses: `length` and `length_std` (tokens), `idf`, `idf_std` and
    `vocabulary_entropy` (nats, on the sample), `paraphrase_score` and `paraphrase_score_std` (empty if there
    is no score). The last row of each model has the corpus `all` and the number of pairs that the model is
    trained on, as in Table 1 of *Paraphrastic Representations at Scale*.

    Args:
        statistics: JSON files written by `describe_corpus`, in the order of the rows.
        samples: the samples that it wrote beside them, in which document frequencies are counted.
        merged: JSON files written by `merge_pairs`, one per model.
        table: the CSV file.
        corpora: the model and corpus of each of the `statistics`.
        models: the model of each of the merged.
    """
    read = {path: read_json(path) for path in statistics}
    words = _word_statistics(read, dict(zip(statistics, samples, strict=True)))
    rows: list[dict[str, Any]] = []
    for model, counts in zip(models, merged, strict=True):
        used = [corpus["kept"] for corpus in read_json(counts)["corpora"]]
        files = [
            (corpus, path) for (name, corpus), path in zip(corpora, statistics, strict=True) if name == model
        ]
        pairs, known = 0, dict[str, None]()
        for (corpus, path), kept in zip(files, used, strict=True):
            about = read[path]
            pairs += about["pairs"]
            score = about["paraphrase_score"] or {"mean": None, "std": None}
            for language, side in about["sides"].items():
                figures = (
                    *side["length"].values(),
                    *words[language].idf(path),
                    words[language].vocabulary_entropy(path),
                    *score.values(),
                )
                cells = ("" if value is None else f"{value:.2f}" for value in figures)
                head = {"model": model, "corpus": corpus, "language": language, "pairs": about["pairs"]}
                rows.append({**head, "used": kept, **dict(zip(_STATISTICS, cells, strict=True))})
                known[language] = None
        total = {"model": model, "corpus": "all", "language": "-".join(known), "pairs": pairs}
        rows.append(total | {"used": sum(used)})
    write_csv(table, ["model", "corpus", "language", "pairs", "used", *_STATISTICS], rows)


def _word_statistics(
    statistics: Mapping[Path, Any], samples: Mapping[Path, Path]
) -> dict[str, WordStatistics]:
    """Word statistics by language; both arguments, and the samples inside, are keyed by statistics file."""
    texts: dict[str, dict[Path, list[str]]] = {}
    for path, sample in samples.items():
        for language, side in statistics[path]["sides"].items():
            column = read_table(sample, columns=[side["side"]])[side["side"]].to_pylist()
            texts.setdefault(language, {})[path] = column
    return {language: WordStatistics(of_language) for language, of_language in texts.items()}
