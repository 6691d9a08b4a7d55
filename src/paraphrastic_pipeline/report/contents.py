"""The chapters and sections of the page in their order, with their titles and captions."""

from collections.abc import Sequence
from typing import NamedTuple

from paraphrastic_pipeline.evaluation.tasks import LAYOUTS


class Section(NamedTuple):
    """A table, its pictures, or both.

    `name` is that of the table, of its picture or of the folder of its pictures, and the anchor on the page.
    `caption` says what the table shows; it is empty if there is no table.
    """

    name: str
    title: str
    caption: str = ""


class Chapter(NamedTuple):
    """Sections that belong together; `lead` tells the reader what they show."""

    name: str
    title: str
    lead: str
    sections: Sequence[Section]


CHAPTERS = (
    Chapter(
        "evaluation",
        "Evaluation",
        "The figures of this run stand above the published ones. Below a figure is its 95 % interval over "
        "resamples of the test data; after ± is the deviation over training runs if there are several.",
        (*(Section(name, layout.title, layout.caption) for name, layout in LAYOUTS.items()),),
    ),
    Chapter(
        "corpora",
        "Corpora",
        "Where the training pairs come from, what the filters left of them, and which of them were too "
        "close to the test sets.",
        (
            Section(
                "funnel",
                "The filter funnel",
                "Pairs that were read, dropped by the first filter that rejects them, dropped as duplicates, "
                "as contaminated or over the cap, and kept",
            ),
            Section(
                "corpora",
                "Statistics of the corpora",
                "The corpora, and the pairs from them that models are trained on: length in tokens, IDF and "
                "entropies in nats; means have their standard deviations",
            ),
            Section(
                "contamination",
                "Contamination",
                "Selected pairs with a sentence of a test set, exactly the same in normal form or nearly the "
                "same; share in %",
            ),
        ),
    ),
    Chapter(
        "training",
        "Training",
        "Every run of every model's sweep, the run that became the model, and the effect of single settings.",
        (
            Section(
                "sweep",
                "The sweeps",
                "Scores of every run of a model's sweep: the share × 100 of held-out sentences that find "
                "their partner, Pearson's r × 100 on STS 2017 en-en, and what decides which run is chosen",
            ),
            Section("training", "Training curves"),
            Section(
                "studies",
                "Studies of single settings",
                "Models that differ only in the setting: the score × 100 on their development data, and "
                "Pearson's r × 100 on average on STS 2012–2016 with its 95 % interval",
            ),
        ),
    ),
    Chapter(
        "languages",
        "Choice of a language",
        "Whether another language helps English more if it is more similar to English.",
        (
            Section(
                "language_choice",
                "Models of English and another language",
                "Models of English and another language: overlap of the two languages' pieces, distances "
                "from English (URIEL), and Pearson's r × 100 on average on STS 2012–2016 with its 95 % "
                "interval, both when pieces with the same spelling share an embedding and when the pieces of "
                "the other language have a prefix",
            ),
            Section(
                "language_choice_correlations",
                "What their scores correlate with",
                "Spearman's ρ × 100, over languages, between the average on STS 2012–2016 and the overlap or "
                "a distance, with its 95 % interval and the probability of a ρ at least as far from 0 if the "
                "two were unrelated",
            ),
        ),
    ),
    Chapter(
        "speed",
        "Speed",
        "Measured on the machine of this run; published figures come from the papers' machines.",
        (
            Section(
                "speed",
                "Sentences embedded per second",
                "Sentences embedded per second in batches of sentences of about the same length: published, "
                "and measured in one run on one machine",
            ),
        ),
    ),
)
# Captions of all tables, by name.
CAPTIONS = {
    section.name: section.caption for chapter in CHAPTERS for section in chapter.sections if section.caption
}
