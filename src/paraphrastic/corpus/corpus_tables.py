"""Tables of what the corpora hold and of what became of their pairs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paraphrastic.base.files import read_json, write_csv
from paraphrastic.corpus.blocks import read_blocks
from paraphrastic.corpus.filters import REASONS
from paraphrastic.corpus.statistics import WordStatistics

# What becomes of the pairs of a corpus, in order.
FUNNEL = ("read", *REASONS, "duplicates", "near_duplicates", "contaminated", "capped", "kept")
_STATISTICS = (
    "length", "length_std", "idf", "idf_std", "vocabulary_entropy",
    "paraphrase_score", "paraphrase_score_std", "parse_entropy",
)  # fmt: skip

# Of contamination.
KINDS = ("exact", "near")

# A model and one of its corpora.
ModelCorpus = tuple[str, str]


def tabulate_contamination(
    counts: Sequence[tuple[ModelCorpus, str | Path]], output: str | Path, *, drop: Sequence[str]
) -> None:
    """Write how many pairs of each model and corpus stand in each test set, and in any (`all`).

    Columns: `model`, `corpus`, `testset`, `read` (selected pairs), `exact`, `near` (empty where it was not
    looked for), `dropped` (by the setting) and `share` (found of read, in %).

    Args:
        counts: JSON files of `mark_contamination`, in the order of the rows.
        output: the CSV file.
        drop: kinds that are left out of training.
    """
    rows = []
    for (model, corpus), path in counts:
        result = read_json(path)
        for testset, kinds in (*result["testsets"].items(), ("all", result["all"])):
            row = {"model": model, "corpus": corpus, "testset": testset, "read": result["read"]}
            row |= {kind: kinds.get(kind, "") for kind in KINDS}
            row["dropped"] = sum(kinds.get(kind, 0) for kind in drop)
            row["share"] = _percent(sum(kinds.values()), result["read"])
            rows.append(row)
    write_csv(output, ["model", "corpus", "testset", "read", *KINDS, "dropped", "share"], rows)


def tabulate_corpora(
    described: Sequence[tuple[ModelCorpus, str | Path, str | Path]],
    merged: Mapping[str, str | Path],
    output: str | Path,
) -> None:
    """Write the statistics of each model's corpora, and how many of their pairs the model is trained on.

    Columns: `model`, `corpus`, `language` (of the side that is measured), `pairs`, `used`, and the figures
    of ParaNMT-50M's Table 2: `length` and `length_std` (tokens), `idf`, `idf_std` and `vocabulary_entropy`
    (nats; on the sample), `paraphrase_score` and its `_std` (empty where there is none) and `parse_entropy`
    (nats; `no parser` where none was set). A last row a model, whose corpus is `all`, has the pairs that it
    is trained on, as Table 1 of *Paraphrastic Representations at Scale*.

    Args:
        described: JSON and sample of `describe_corpus`, in the order of the rows.
        merged: JSON of `merge_pairs` by model.
        output: the CSV file.
    """
    statistics = {str(path): read_json(path) for _, path, _ in described}
    samples = {str(path): sample for _, path, sample in described}
    words = _word_statistics(statistics, samples)
    rows: list[dict[str, Any]] = []
    for model, counts in merged.items():
        result = read_json(counts)
        own = [(corpus, str(path)) for (name, corpus), path, _ in described if name == model]
        by_corpus = _by_corpus(result)
        for corpus, path in own:
            used = by_corpus[corpus]
            score = statistics[path]["paraphrase_score"] or {"mean": None, "std": None}
            for language, side in statistics[path]["sides"].items():
                measures = words[language]
                figures = (
                    *side["length"].values(),
                    *measures.idf(path),
                    measures.vocabulary_entropy(path),
                    *score.values(),
                    side["parse_entropy"],
                )
                row = {"model": model, "corpus": corpus, "language": language}
                row |= {"pairs": statistics[path]["pairs"], "used": used["kept"]}
                row |= {name: _figure(value) for name, value in zip(_STATISTICS, figures, strict=True)}
                row["parse_entropy"] = row["parse_entropy"] or "no parser"
                rows.append(row)
        languages = "-".join(dict.fromkeys(row["language"] for row in rows if row["model"] == model))
        pairs = sum(statistics[path]["pairs"] for _, path in own)
        total = {
            "model": model,
            "corpus": "all",
            "language": languages,
            "pairs": pairs,
            "used": result["kept"],
        }
        rows.append(total)
    write_csv(output, ["model", "corpus", "language", "pairs", "used", *_STATISTICS], rows)


def _by_corpus(merged: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What `merge_pairs` counted, by corpus: the name of the corpus's file."""
    return {Path(each["file"]).stem: each for each in merged["corpora"]}


def _word_statistics(
    statistics: Mapping[str, Any], samples: Mapping[str, str | Path]
) -> dict[str, WordStatistics]:
    """Of all samples in a language, by language; each sample by the name of its corpus's statistics."""
    texts: dict[str, dict[str, list[str]]] = {}
    for path, sample in samples.items():
        for language, side in statistics[path]["sides"].items():
            blocks = read_blocks(sample, columns=[side["side"]])
            column = [text for block in blocks for text in block[side["side"]].to_pylist()]
            texts.setdefault(language, {})[path] = column
    return {language: WordStatistics(of_language) for language, of_language in texts.items()}


def tabulate_funnel(
    selected: Sequence[tuple[ModelCorpus, str | Path]],
    merged: Mapping[str, str | Path],
    funnel: str | Path,
    overlap: str | Path,
) -> None:
    """Write what became of the pairs of each model's corpora, and how many pairs two filters both drop.

    Columns of `funnel`: `model`, `corpus`, and `FUNNEL`: pairs read, dropped by each filter as the first that
    does not accept them (empty where it was not asked), dropped by the merge, and kept. Columns of `overlap`:
    `model`, `corpus`, `filter`, and all filters: pairs that neither of the two accepts; where both are the
    same, pairs that it does not accept, whatever the others say.

    Args:
        selected: JSON of `select_pairs`, in the order of the rows.
        merged: JSON of `merge_pairs` by model.
        funnel: a CSV file.
        overlap: a CSV file.
    """
    flow, pairs = [], []
    for model, counts in merged.items():
        own = [(corpus, read_json(path)) for (name, corpus), path in selected if name == model]
        by_corpus = _by_corpus(read_json(counts))
        for corpus, first in own:
            then = by_corpus[corpus]
            head = {"model": model, "corpus": corpus}
            flow.append({**head, **then, "read": first["read"], **first["dropped"]})
            for reason, fails in first["fails"].items():
                both = {
                    other: first["fails_both"][other][reason] for other in _before(reason, first["fails"])
                }
                both |= {reason: fails, **first["fails_both"].get(reason, {})}
                pairs.append({**head, "filter": reason, **both})
    write_csv(funnel, ["model", "corpus", *FUNNEL], flow)
    write_csv(overlap, ["model", "corpus", "filter", *REASONS], pairs)


def _before(reason: str, reasons: Mapping[str, Any]) -> list[str]:
    names = list(reasons)
    return names[: names.index(reason)]


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f}" if whole else ""
