"""What came of a run, in a sentence for each model: how well it finds what it was trained to find."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from paraphrastic.quality.retrieval import wilson
from paraphrastic_pipeline.evaluation.results import Result
from paraphrastic_pipeline.report.shown_tables import read_records

# Examples that a reader is shown.
EXAMPLES = 10


@dataclass(frozen=True, slots=True)
class Outcome:
    """How well a model finds the partners of held-out sentences: shares in per cent.

    `found` is the share of the `sentences` of both sides whose nearest sentence is their partner,
    `among_distractors` the share if so many sentences of the training data can be found, too, and `before`
    the share before training, if it was measured. `examples` are right and wrong findings, with what was
    found `before` training, or None.
    """

    model: str
    sentences: int
    found: float
    among_distractors: float
    distractors: int
    before: float | None
    examples: Sequence[Any]

    @property
    def sentence(self) -> str:
        """The outcome in words."""
        low, high = (100 * end for end in wilson(round(self.found * self.sentences / 100), self.sentences))
        before = "" if self.before is None else f"; before training, it found {self.before:.1f} %"
        harder = f" Among {self.distractors:,} more sentences, it finds {self.among_distractors:.1f} %."
        return (
            f"{self.model} finds the partners of {self.found:.1f} % of {self.sentences:,} held-out sentences "
            f"(95 % interval {low:.1f} to {high:.1f}){before}.{harder if self.distractors else ''}"
        )


def find_outcome(model: str, results: Path = Path("results")) -> Outcome | None:
    """The outcome of a model of a run; None if it has none."""
    after, before = (results / "eval" / name / "held_out.json" for name in (model, f"{model}-untrained"))
    return read_outcome(model, after, before if before.is_file() else None) if after.is_file() else None


def read_outcomes(tables: Path) -> list[Outcome]:
    """The outcomes of all models in a run's table of held-out pairs, the best first."""
    rows = read_records(tables / "intervals" / "held_out.csv")
    models = dict.fromkeys(row.name for row in rows if row.source == "measured")
    found = [outcome for model in models if (outcome := find_outcome(model, tables.parent))]
    return sorted(found, key=lambda outcome: -outcome.found)


def read_outcome(model: str, after: Path, untrained: Path | None = None) -> Outcome | None:
    """Read the outcome of a model from JSON of `evaluate_held_out`; None if no pairs were held out.

    `untrained` is the JSON of the model before training; None if it was not evaluated.
    """
    result = Result.read(after)
    before = Result.read(untrained) if untrained else None
    if not result.datasets:
        return None
    data = result.datasets.values()
    return Outcome(
        model=model,
        sentences=2 * sum(about["n"] for about in data),
        found=_accuracy(result),
        among_distractors=_accuracy(result, " 1"),
        distractors=max(about["distractors"] for about in data),
        before=_accuracy(before) if before else None,
        examples=_examples(*(_shown(one) if one else {} for one in (result, before))),
    )


def _accuracy(result: Result, among: str = "") -> float:
    """The share of all sentences, on both sides of all pairs, that find their partner, in per cent."""
    sides = [f"{side}{among} {pair}" for pair in result.datasets for side in ("forward", "backward")]
    figures = [result.measurements[name] for name in sides]
    return 100 * sum(figure.value * figure.n for figure in figures) / sum(figure.n for figure in figures)


def _shown(result: Result) -> dict[tuple[str, str], Any]:
    rows = [SimpleNamespace(**row) for about in result.datasets.values() for row in about["examples"]]
    return {(row.sentence, row.partner): row for row in rows}


def _examples(after: Mapping[tuple[str, str], Any], before: Mapping[tuple[str, str], Any]) -> list[Any]:
    """Right and wrong findings, as many of each as there are, up to half of them wrong."""
    for pair, row in after.items():
        row.before = before.get(pair)
    wrong = [row for row in after.values() if not row.right][: EXAMPLES // 2]
    return [row for row in after.values() if row.right][: EXAMPLES - len(wrong)] + wrong


def summary(models: Sequence[str], results: Path = Path("results")) -> Iterator[str]:
    """Yield what a person should read at the end of a run: for each model, where it is and how good.

    The commands at the end are for the first model, on files that the run has made.
    """
    trained = [model for model in models if (results / "models" / model / "config.json").is_file()]
    for model in trained:
        yield f"{results}/models/{model}"
        if outcome := find_outcome(model, results):
            yield f"  {outcome.sentence}"
    if not trained:
        return
    model = shlex.quote(f"{results}/models/{trained[0]}")
    text = results / "held_out" / f"{trained[0]}.txt"
    yield "What to type next:"
    if text.is_file() and text.stat().st_size > 0:
        sentences, pairs = (shlex.quote(str(path)) for path in (text, text.with_suffix(".tsv")))
        yield f"  paraphrastic score --model {model} --input {pairs} --output -"
        yield f"  paraphrastic embed --model {model} --input {sentences} --output vectors.npy"
        query = f"--index vectors.npy --sentences {sentences} --input - --output -"
        yield f"  head -3 {pairs} | cut -f 1 | paraphrastic search --model {model} {query}"
    yield f"  paraphrastic demo --model {model} --output demo.html"
    small = shlex.quote(f"exported/{trained[0]}-int8")
    yield f"  paraphrastic export --model {model} --format paraphrastic --dtype int8 --output {small}"
