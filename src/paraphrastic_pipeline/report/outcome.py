"""What came of a run, in a sentence for each model: how well it finds what it was trained to find."""

import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_json
from paraphrastic.base.text_files import read_sentences
from paraphrastic.model.folder import open_folder
from paraphrastic_pipeline.base.tables import read_csv
from paraphrastic_pipeline.corpus.counts import read_before_merging

# Examples that a reader is shown.
EXAMPLES = 10
# Sentences that are embedded to see how fast a model is.
_SPEED_SENTENCES = 20_000


@dataclass(frozen=True, slots=True)
class Example:
    """A held-out sentence, its partner, and what it finds before and after training."""

    sentence: str
    partner: str
    found: str
    right: bool
    found_before: str | None
    right_before: bool | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How well a model finds the partners of held-out sentences, in per cent.

    Attributes:
        model: the name of the model.
        sentences: number of sentences, on both sides.
        found: the share whose nearest sentence is their partner.
        interval: its 95 % interval.
        hidden: the share if partners are hidden among sentences of the training data, too.
        others: number of these sentences.
        before: the share before training; None if that was not measured.
        examples: right and wrong findings.
    """

    model: str
    sentences: int
    found: float
    interval: tuple[float, float]
    hidden: float
    others: int
    before: float | None
    examples: Sequence[Example]

    @property
    def sentence(self) -> str:
        """The outcome in words."""
        low, high = self.interval
        before = "" if self.before is None else f"; before training, it found {self.before:.1f} %"
        hidden = f" With {self.others:,} more sentences to choose from, it finds {self.hidden:.1f} %."
        return (
            f"{self.model} finds the partners of {self.found:.1f} % of {self.sentences:,} held-out sentences "
            f"(95 % interval {low:.1f} to {high:.1f}){before}.{hidden if self.others else ''}"
        )


def find_outcome(model: str, results: Path = Path("results")) -> Outcome | None:
    """The outcome of a model of a run; None if it has none. Errors are those of `read_outcome`."""
    after, before = (results / "eval" / name / "held_out.json" for name in (model, f"{model}-untrained"))
    return read_outcome(model, after, before if before.is_file() else None) if after.is_file() else None


def read_outcomes(results: Path, table: Path) -> list[Outcome]:
    """The outcomes of all models in the intervals of a run's table of held-out pairs, the best first.

    Raises:
        InputError: a file is missing or damaged.
        KeyError: a result lacks a figure.
    """
    rows = read_csv(table.parent / "intervals" / table.name)
    models = dict.fromkeys(row["name"] for row in rows if row["source"] == "measured")
    found = [outcome for model in models if (outcome := find_outcome(model, results))]
    return sorted(found, key=lambda outcome: -outcome.found)


def read_outcome(model: str, after: Path, untrained: Path | None) -> Outcome | None:
    """Read the outcome of a model from JSON of `evaluate_held_out`; None if no pairs were held out.

    `untrained` is the JSON of the model before training; None if it was not evaluated.

    Raises:
        InputError: a file is damaged.
        KeyError: a result lacks a figure.
    """
    content = read_json(after)
    before = read_json(untrained) if untrained else None
    if not content["datasets"]:
        return None
    measured, data = content["measurements"], content["datasets"].values()
    low, high = measured["found"]["interval"]
    return Outcome(
        model=model,
        sentences=2 * sum(about["n"] for about in data),
        found=100 * measured["found"]["value"],
        interval=(100 * low, 100 * high),
        hidden=100 * measured["found hidden"]["value"],
        others=max(about["others"] for about in data),
        before=100 * before["measurements"]["found"]["value"] if before else None,
        examples=_examples(_shown(content), _shown(before) if before else []),
    )


def _shown(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [example for about in result["datasets"].values() for example in about["examples"]]


def _examples(after: Sequence[Mapping[str, Any]], before: Sequence[Mapping[str, Any]]) -> list[Example]:
    """Wrong and right findings, as many of each as there are, up to half of them wrong."""
    at = {(row["sentence"], row["partner"]): row for row in before}
    wrong = [row for row in after if not row["right"]][: EXAMPLES // 2]
    right = [row for row in after if row["right"]][: EXAMPLES - len(wrong)]
    examples = []
    for row in (*right, *wrong):
        earlier = at.get((row["sentence"], row["partner"]), {})
        own = {key: row[key] for key in ("sentence", "partner", "found", "right")}
        examples.append(Example(**own, found_before=earlier.get("found"), right_before=earlier.get("right")))
    return examples


def embedding_rate(folder: Path, sentences: Path) -> float:
    """Sentences per second that a model embeds in one thread, from raw text to vectors."""
    model = open_folder(folder)
    lines = list(read_sentences(str(sentences)))
    many = (lines * (1 + _SPEED_SENTENCES // len(lines)))[:_SPEED_SENTENCES]
    language = model.config["languages"][-1]
    # What is compiled or loaded when it is first used does not count.
    model.embed_raw_text(many[:100], language=language, threads=1)
    start = time.perf_counter()
    model.embed_raw_text(many, language=language, threads=1)
    return len(many) / (time.perf_counter() - start)


def summary(models: Sequence[str], results: Path = Path("results")) -> Iterator[str]:
    """Yield what a person should read at the end of a run: for each model, where it is and how good.

    The commands at the end are for the first model, on files that the run has made.
    """
    trained = [model for model in models if (results / "models" / model / "config.json").is_file()]
    for model in trained:
        yield f"{results}/models/{model}"
        if outcome := find_outcome(model, results):
            yield f"  {outcome.sentence}"
        counts = results / "corpora" / model / "counts.json"
        if counts.is_file() and (read := read_before_merging(counts, results)) is not None:
            corpora = read_json(counts)["corpora"]
            kept = sum(corpus["kept"] for corpus in corpora if not corpus.get("without_pairs"))
            yield f"  It has learned from {kept:,} pairs, of {read:,} that were read."
    if not trained:
        return
    model = shlex.quote(f"{results}/models/{trained[0]}")
    sentences = results / "held_out" / f"{trained[0]}.txt"
    has_sentences = sentences.is_file() and sentences.stat().st_size > 0
    if has_sentences:
        # A run does not fail because its model cannot be measured.
        with suppress(InputError, OSError, MemoryError):
            rate = embedding_rate(results / "models" / trained[0], sentences)
            yield f"{trained[0]} embeds {rate:,.0f} sentences per second here, on one core."
    yield "What to type next:"
    if has_sentences:
        text, pairs = (shlex.quote(str(path)) for path in (sentences, sentences.with_suffix(".tsv")))
        yield f"  paraphrastic score --model {model} --input {pairs} --output -"
        yield f"  paraphrastic embed --model {model} --input {text} --output vectors.npy"
        query = f"--index vectors.npy --sentences {text} --input - --output -"
        yield f"  head -3 {pairs} | cut -f 1 | paraphrastic search --model {model} {query}"
    yield f"  paraphrastic demo --model {model} --output demo.html"
    small = shlex.quote(f"exported/{trained[0]}-int8")
    yield f"  paraphrastic export --model {model} --format paraphrastic --dtype int8 --output {small}"
