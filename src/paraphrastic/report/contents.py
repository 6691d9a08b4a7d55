"""What the page has, in its order, and what each part is called."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """A table, its pictures, or both.

    Attributes:
        name: of the table in the pipeline; of its anchor in the page, too.
        title: above it.
        figures: pattern of its pictures below the folder of figures; `{name}.svg` where it is None.
        table: whether there is one.
        intervals: whether there is a file with its intervals.
    """

    name: str
    title: str
    figures: str | None = None
    table: bool = True
    intervals: bool = False


@dataclass(frozen=True, slots=True)
class Chapter:
    """Parts that belong together; `lead` says what a reader sees in them."""

    name: str
    title: str
    lead: str
    parts: Sequence[Part]


def _systems(name: str, title: str) -> Part:
    return Part(name, title, intervals=True)


CHAPTERS = (
    Chapter(
        "evaluation",
        "Evaluation",
        "Figures of this run stand above the published ones. Under a figure is its 95 % interval over "
        "resamples of the test data, after ± the deviation over training runs where there are several. In "
        "bold, and filled in the pictures, is what is better than all others where the difference holds.",
        (
            _systems("sts", "English STS 2012–2016"),
            _systems("sts_spearman", "English STS 2012–2016, ranks"),
            _systems("xling_sts", "STS 2017, in and across languages"),
            _systems("xling_sts_spearman", "STS 2017, ranks"),
            _systems("xling_sts_4b", "STS 2017, quality of translations"),
            _systems("stsb", "STS Benchmark"),
            _systems("stsb_spearman", "STS Benchmark, ranks"),
            _systems("tatoeba", "Tatoeba"),
            _systems("bucc", "BUCC 2018"),
            _systems("senteval", "SentEval"),
            _systems("polish", "Polish tasks"),
            Part("dataset_differences", "How systems differ from data set to data set", figures=""),
        ),
    ),
    Chapter(
        "corpora",
        "Corpora",
        "Where the training pairs come from, what the filters left of them, and which of them were too near "
        "to the test sets.",
        (
            Part("funnel", "The filter funnel"),
            Part("filter_overlap", "What two filters drop alike", figures=""),
            Part("corpora", "Statistics of the corpora", figures=""),
            Part("contamination", "Contamination", figures=""),
        ),
    ),
    Chapter(
        "training",
        "Training",
        "Every run of every model's sweep, the one that became the model, and what single settings change.",
        (
            Part("sweep", "The sweeps"),
            Part("training", "Training curves", figures="training/*/*.svg", table=False),
            Part("studies", "Studies of single settings", figures=""),
            Part("filter_study", "What is learnt from each part of a ranking"),
        ),
    ),
    Chapter(
        "languages",
        "Choice of a language",
        "Whether another language helps English more if it is like English.",
        (
            Part("language_choice", "Models of English and another language"),
            Part("language_choice_correlations", "What their scores go with", figures=""),
        ),
    ),
    Chapter(
        "speed",
        "Speed",
        "Measured on the machine of this run; published figures are of the papers' machines.",
        (Part("speed", "Sentences embedded a second"),),
    ),
)
