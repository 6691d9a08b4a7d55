"""The chapters and parts of the page in their order, with their titles and captions."""

from collections.abc import Sequence
from dataclasses import dataclass

from paraphrastic.evaluation.layouts import LAYOUTS


@dataclass(frozen=True, slots=True)
class Part:
    """A table, its pictures, or both.

    Attributes:
        name: name of the table in the pipeline, also used in the part's anchor on the page.
        title: heading of the part.
        caption: what the table shows, for its Markdown and LaTeX; empty if there is no table.
        figures: pattern of the pictures in the folder of figures: `{name}.svg` if None, no pictures if empty.
        table: whether there is a table.
        intervals: whether the table has a file of intervals.
    """

    name: str
    title: str
    caption: str = ""
    figures: str | None = None
    table: bool = True
    intervals: bool = False


@dataclass(frozen=True, slots=True)
class Chapter:
    """Parts that belong together; `lead` tells the reader what they show."""

    name: str
    title: str
    lead: str
    parts: Sequence[Part]


CHAPTERS = (
    Chapter(
        "evaluation",
        "Evaluation",
        "Figures of this run stand above the published ones. Under a figure is its 95 % interval over "
        "resamples of the test data, after ± the deviation over training runs where there are several. In "
        "bold, and filled in the pictures, is what is better than all others where the difference holds.",
        (
            *(Part(name, each.title, each.caption, intervals=True) for name, each in LAYOUTS.items()),
            Part(
                "dataset_differences",
                "How systems differ from data set to data set",
                "How much two systems differ in Pearson's r × 100 on a dataset of STS 2012–2016: mean "
                "absolute difference, mean difference, and those on captions",
                figures="",
            ),
        ),
    ),
    Chapter(
        "corpora",
        "Corpora",
        "Where the training pairs come from, what the filters left of them, and which of them were too near "
        "to the test sets.",
        (
            Part(
                "funnel",
                "The filter funnel",
                "Pairs read, dropped by the first filter that does not accept them, then as duplicates, as "
                "contaminated or over the cap, and kept",
            ),
            Part(
                "filter_overlap",
                "What two filters drop alike",
                "Pairs that neither of two filters accepts; where the two are the same, pairs that it does "
                "not accept, whatever the others say",
                figures="",
            ),
            Part(
                "corpora",
                "Statistics of the corpora",
                "The corpora, and the pairs of them that models are trained on: length in tokens, IDF and "
                "entropies in nats, each with its standard deviation where it is a mean",
                figures="",
            ),
            Part(
                "contamination",
                "Contamination",
                "Selected pairs with a sentence of a test set: exact in its normal form, or nearly the "
                "same; share in %",
                figures="",
            ),
        ),
    ),
    Chapter(
        "training",
        "Training",
        "Every run of every model's sweep, the one that became the model, and what single settings change.",
        (
            Part(
                "sweep",
                "The sweeps",
                "Pearson's r × 100 on STS 2017 en-en of every run of a model's sweep, by which one is chosen",
            ),
            Part("training", "Training curves", figures="training/*/*.svg", table=False),
            Part(
                "studies",
                "Studies of single settings",
                "Pearson's r × 100 of models that differ in the setting alone: on STS 2017 en-en, and on "
                "average on STS 2012–2016 with its 95 % interval",
                figures="",
            ),
            Part(
                "filter_study",
                "What is learnt from each part of a ranking",
                "Pearson's r × 100 of models that were trained on a sample of each part of the corpus, "
                "ranked from the lowest values to the highest: on STS 2017 en-en, by which the best part is "
                "chosen, and on average on STS 2012–2016 with its 95 % interval",
            ),
        ),
    ),
    Chapter(
        "languages",
        "Choice of a language",
        "Whether another language helps English more if it is like English.",
        (
            Part(
                "language_choice",
                "Models of English and another language",
                "Models of English and another language: overlap of the two languages' pieces, distances "
                "from English (URIEL), and Pearson's r × 100 on average on STS 2012–2016 with its 95 % "
                "interval, where pieces that are spelled alike share an embedding and where the other "
                "language's are prefixed",
            ),
            Part(
                "language_choice_correlations",
                "What their scores go with",
                "Spearman's ρ × 100, over languages, of the average on STS 2012–2016 with overlap and "
                "distances, with its 95 % interval and the probability of a ρ as far from 0 if they were "
                "unrelated",
                figures="",
            ),
        ),
    ),
    Chapter(
        "speed",
        "Speed",
        "Measured on the machine of this run; published figures are of the papers' machines.",
        (
            Part(
                "speed",
                "Sentences embedded a second",
                "Sentences embedded a second in batches of sentences of about the same length: published, "
                "and measured in one run on one machine",
            ),
        ),
    ),
)
# Captions of all tables, by name.
CAPTIONS = {part.name: part.caption for chapter in CHAPTERS for part in chapter.parts if part.table}
