"""The chapters and sections of the page in their order, with their titles and captions."""

from collections.abc import Sequence
from typing import NamedTuple

from paraphrastic_pipeline.evaluation.tasks import LAYOUTS


class Output(NamedTuple):
    """A table with its `caption`, its pictures, or both; `name` is also the anchor on the page.

    The table is made if the attribute `when` of a `Pipeline` is not empty, and `figure` draws it.
    """

    name: str
    title: str
    caption: str = ""
    when: str = ""
    figure: str = ""


class Chapter(NamedTuple):
    """Sections that belong together; `lead` tells the reader what they show."""

    name: str
    title: str
    lead: str
    sections: Sequence[Output]


CHAPTERS = (
    Chapter(
        "evaluation",
        "Evaluation",
        "The figures of this run stand above the published ones. Below a figure is its 95 % interval over "
        "resamples of the test data; after ± is the deviation over training runs if there are several.",
        (*(Output(name, layout.title, layout.caption) for name, layout in LAYOUTS.items()),),
    ),
    Chapter(
        "corpora",
        "Corpora",
        "Where the training pairs come from, what the filters left of them, and which of them were too "
        "close to the test sets.",
        (
            Output(
                "funnel",
                "The filter funnel",
                "Pairs that were read, dropped by the first filter that rejects them, dropped as duplicates, "
                "as contaminated or over the cap, and kept",
                when="model_corpora",
                figure="report.figures.funnel:plot_funnel",
            ),
            Output(
                "corpora",
                "Statistics of the corpora",
                "The corpora, and the pairs from them that models are trained on: length in tokens, IDF and "
                "entropies in nats; means have their standard deviations",
                when="model_corpora",
            ),
            Output(
                "contamination",
                "Contamination",
                "Selected pairs with a sentence of a test set, exactly the same in normal form or nearly the "
                "same; share in %",
                when="model_corpora",
            ),
        ),
    ),
    Chapter(
        "training",
        "Training",
        "Every run of every model's sweep, the run that became the model, and the effect of single settings.",
        (
            Output(
                "sweep",
                "The sweeps",
                "Scores of every run of a model's sweep: the share × 100 of held-out sentences that find "
                "their partner, Pearson's r × 100 on STS 2017 en-en, and what decides which run is chosen",
            ),
            Output("training", "Training curves"),
            Output(
                "studies",
                "Studies of single settings",
                "Models that differ only in the setting: the score × 100 on their development data, and "
                "Pearson's r × 100 on average on STS 2012–2016 with its 95 % interval",
                when="study_models",
            ),
        ),
    ),
    Chapter(
        "languages",
        "Choice of a language",
        "Whether another language helps English more if it is more similar to English.",
        (
            Output(
                "language_choice",
                "Models of English and another language",
                "Models of English and another language: overlap of the two languages' pieces, distances "
                "from English (URIEL), and Pearson's r × 100 on average on STS 2012–2016 with its 95 % "
                "interval, both when pieces with the same spelling share an embedding and when the pieces of "
                "the other language have a prefix",
                when="config.language_choice.models",
                figure="report.figures.studies:plot_language_choice",
            ),
            Output(
                "language_choice_correlations",
                "What their scores correlate with",
                "Spearman's ρ × 100, over languages, between the average on STS 2012–2016 and the overlap or "
                "a distance, with its 95 % interval and the probability of a ρ at least as far from 0 if the "
                "two were unrelated",
                when="config.language_choice.models",
            ),
        ),
    ),
    Chapter(
        "speed",
        "Speed",
        "Measured on the machine of this run; published figures come from the papers' machines.",
        (
            Output(
                "speed",
                "Sentences embedded per second",
                "Sentences embedded per second in batches of sentences of about the same length: published, "
                "and measured in one run on one machine",
                when="speed_models",
                figure="report.figures.systems:plot_speed",
            ),
        ),
    ),
)
# All tables by name.
TABLES = {output.name: output for chapter in CHAPTERS for output in chapter.sections if output.caption}
