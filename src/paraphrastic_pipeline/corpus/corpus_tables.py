"""Tables that show what the corpora contain and what became of their pairs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_json
from paraphrastic_pipeline.base.compressed import open_stream
from paraphrastic_pipeline.base.tables import write_csv
from paraphrastic_pipeline.corpus.blocks import read_blocks
from paraphrastic_pipeline.corpus.counts import AGAIN, Counts, check_sum, in_order, read_merged, read_selected
from paraphrastic_pipeline.corpus.lines import MAX_BYTES, readable_lines
from paraphrastic_pipeline.corpus.losses import UNREADABLE
from paraphrastic_pipeline.corpus.statistics import WordStatistics

_STATISTICS = (
    "length", "length_std", "idf", "idf_std", "vocabulary_entropy",
    "paraphrase_score", "paraphrase_score_std", "parse_entropy",
)  # fmt: skip

# Kinds of contamination.
CONTAMINATION_KINDS = ("exact", "near")

# Documents whose words are counted at a time.
_DOCUMENTS = 10_000
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
    documents: Sequence[Path] = (),
    languages: Sequence[str] = (),
) -> None:
    """Write the statistics of each model's corpora, and how many of their pairs the model is trained on.

    Columns: `model`, `corpus`, `language` (of the side that is measured), `pairs`, `used`, and the figures
    of ParaNMT-50M's Table 2: `length` and `length_std` (tokens), `idf`, `idf_std` and `vocabulary_entropy`
    (nats, on the sample), `paraphrase_score` and `paraphrase_score_std` (empty if there is no score) and
    `parse_entropy` (nats, or `no parser`). The last row of each model has the corpus `all` and the number of
    pairs that the model is trained on, as in Table 1 of *Paraphrastic Representations at Scale*.

    Args:
        statistics: JSON files written by `describe_corpus`, in the order of the rows.
        samples: the samples that it wrote beside them.
        merged: JSON files written by `merge_pairs`, one per model.
        table: the CSV file.
        corpora: the model and corpus of each of the `statistics`.
        models: the model of each of the merged.
        documents: text files, plain or compressed, with a document on each line, from which document
            frequencies are counted; the samples serve languages without any.
        languages: the language of each of the documents.
    """
    read = {path: read_json(path) for path in statistics}
    sampled = dict(zip(statistics, samples, strict=True))
    words = _word_statistics(read, sampled, list(zip(languages, documents, strict=True)))
    rows: list[dict[str, Any]] = []
    for model, counts in zip(models, merged, strict=True):
        used = read_merged(counts)
        pairs, known = 0, dict[str, None]()
        files = _of_model(model, corpora, statistics)
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
                    side["parse_entropy"],
                )
                cells = ("" if value is None else f"{value:.2f}" for value in figures)
                row = dict(zip(_STATISTICS, cells, strict=True))
                row["parse_entropy"] = row["parse_entropy"] or "no parser"
                head = {"model": model, "corpus": corpus, "language": language, "pairs": about["pairs"]}
                rows.append({**head, "used": kept.kept, **row})
                known[language] = None
        total = {"model": model, "corpus": "all", "language": "-".join(known), "pairs": pairs}
        rows.append(total | {"used": sum(kept.kept for kept in used)})
    write_csv(table, ["model", "corpus", "language", "pairs", "used", *_STATISTICS], rows)


def _of_model(model: str, corpora: Sequence[ModelCorpus], files: Sequence[Path]) -> list[tuple[str, Path]]:
    """The corpora of a model, each with its file."""
    return [(corpus, path) for (name, corpus), path in zip(corpora, files, strict=True) if name == model]


def _word_statistics(
    statistics: Mapping[Path, Any],
    samples: Mapping[Path, Path],
    documents: Sequence[tuple[str, Path]],
) -> dict[str, WordStatistics]:
    """Word statistics by language; both arguments, and the samples inside, are keyed by statistics file."""
    texts: dict[str, dict[Path, list[str]]] = {}
    for path, sample in samples.items():
        for language, side in statistics[path]["sides"].items():
            blocks = read_blocks(sample, columns=[side["side"]])
            column = [text for block in blocks for text in block[side["side"]].to_pylist()]
            texts.setdefault(language, {})[path] = column
    by_language = {}
    for language, of_language in texts.items():
        files = [path for known, path in documents if known == language]
        read = chain.from_iterable(_read_documents(path) for path in files) if files else None
        by_language[language] = WordStatistics(of_language, read)
    return by_language


def _read_documents(path: Path) -> Iterator[list[str]]:
    """Batches of the lines that are not blank."""
    with open_stream(path, max_bytes=MAX_BYTES) as stream:
        lines = (line for _, line in readable_lines(stream, str(path)) if line.strip())
        while texts := list(islice(lines, _DOCUMENTS)):
            yield texts


def tabulate_funnel(
    selected: Sequence[Path],
    merged: Sequence[Path],
    funnel: Path,
    overlap: Path,
    *,
    corpora: Sequence[ModelCorpus],
    models: Sequence[str],
) -> None:
    """Write what became of the pairs of each model's corpora, and how many pairs two filters both reject.

    Columns of `funnel`: `model`, `corpus`, `read`, `unreadable` if the extraction has left out rows, one per
    filter (pairs that it is the first to reject, empty if it was not applied), one per reason of the merge,
    and `kept`. Columns of `overlap`: `model`,
    `corpus`, `filter`, and one per filter: pairs that both filters reject. If both are the same filter, these
    are all pairs that it rejects. Both have a column for every filter that any corpus has.

    Args:
        selected: JSON files written by `select_pairs`, in the order of the rows.
        merged: JSON files written by `merge_pairs`, one per model.
        funnel: a CSV file.
        overlap: a CSV file.
        corpora: the model and corpus of each of the selected.
        models: the model of each of the merged.

    Raises:
        InputError: counts do not add up, or the merge has not read what the selection kept.
    """
    flow, pairs = [], []
    extracted: dict[str, None] = {}
    filters: list[Iterable[str]] = []
    later_reasons: list[Iterable[str]] = []
    for model, counts in zip(models, merged, strict=True):
        files = _of_model(model, corpora, selected)
        for (corpus, path), then in zip(files, read_merged(counts), strict=True):
            first, content = read_selected(path)
            if first.kept != then.read:
                cause = f"{then.read:,} pairs of {corpus} were read, but {first.kept:,} are kept in {path}"
                raise InputError(f"{counts}: {cause}; {AGAIN}")
            filters.append(first.dropped)
            later_reasons.append(then.dropped)
            dropped = {**then.dropped, **first.dropped}
            # Fails if a filter has the name of a reason of the merge.
            check_sum(counts, Counts(first.read, dropped, then.kept))
            head = {"model": model, "corpus": corpus}
            if unreadable := content.get(UNREADABLE, 0):
                extracted[UNREADABLE] = None
                dropped[UNREADABLE] = unreadable
            flow.append({**dropped, **head, "read": first.read + unreadable, "kept": then.kept})
            for reason, fails in content["fails"].items():
                both = content["fails_both"]
                earlier = {name: shared[reason] for name, shared in both.items() if reason in shared}
                pairs.append({**head, "filter": reason, **earlier, reason: fails, **both.get(reason, {})})
    reasons = in_order(filters)
    write_csv(
        funnel, ["model", "corpus", "read", *extracted, *reasons, *in_order(later_reasons), "kept"], flow
    )
    write_csv(overlap, ["model", "corpus", "filter", *reasons], pairs)
