"""What steps take, and how that grows with their input: the table of all measurements.

The peak memory and usual processor time of each step's process were measured on an AMD EPYC (Zen 4), in runs
of `config/config.yaml` and `config/small.yaml`, and at 10 million pairs; what a step writes was measured in
these runs, too. Sizes are those of the files on the disk. A plan uses the figures as they are; jobs ask for
more, to have a margin (`resources`).
"""

from dataclasses import astuple, dataclass
from operator import add

from paraphrastic_pipeline.evaluation.tasks import TASKS


@dataclass(frozen=True, slots=True)
class Need:
    """Peak memory in MB, seconds of one core and MB of each data file written, and what each MB read adds."""

    mb: float
    seconds: float
    disk_mb: float = 0.0
    mb_per_mb: float = 0.0
    seconds_per_mb: float = 0.0
    disk_per_mb: float = 0.0

    @property
    def sized(self) -> bool:
        """Whether the size of the input matters."""
        return bool(self.mb_per_mb or self.seconds_per_mb or self.disk_per_mb)

    def __add__(self, other: "Need") -> "Need":
        return Need(*map(add, astuple(self), astuple(other)))

    def of(self, size_mb: float) -> "Need":
        """Return the need for an input of `size_mb`."""
        return Need(
            self.mb + self.mb_per_mb * size_mb,
            self.seconds + self.seconds_per_mb * size_mb,
            self.disk_mb + self.disk_per_mb * size_mb,
        )


# MB per pair of 12 words per side, in an archive and after merging.
ARCHIVED_PAIR, MERGED_PAIR = 40e-6, 51e-6
# Sentences per MB of merged pairs and of test sets, and MB of training data per MB of merged pairs.
SENTENCES, ENCODED = 40_000, 2.6

# MB that merging has on the disk besides its output, per MB that it reads.
MERGING = 2.75

NEEDS = {
    "download_file": Need(60, 900),
    # Corpora are streamed, so 10 million pairs take hardly more memory than one million.
    "extract_corpus": Need(415, 0.25, seconds_per_mb=0.12, disk_per_mb=1.25),
    "score_pairs": Need(883, 0.1, seconds_per_mb=0.9, disk_per_mb=1.08),
    # NLTK's tokenizer is slow, since it is written in Python.
    "score_pairs_treebank": Need(883, 0.1, seconds_per_mb=4, disk_per_mb=1.08),
    # The selection leaves out the columns of scores.
    "select_pairs": Need(446, 0.25, seconds_per_mb=0.08, disk_per_mb=0.9),
    # A ranking of the whole corpus holds its scores in memory.
    "select_pairs_ranked": Need(446, 0.25, mb_per_mb=0.2, seconds_per_mb=0.1, disk_per_mb=0.9),
    "gather_testsets": Need(290, 0.6, disk_per_mb=1.5),
    "mark_contamination": Need(478, 0.45, seconds_per_mb=0.42),
    "hold_out_pairs": Need(469, 0.3, 1, seconds_per_mb=0.05),
    "merge_pairs": Need(469, 0.2, seconds_per_mb=0.08, disk_per_mb=1.08),
    "describe_corpus": Need(438, 0.3, seconds_per_mb=0.1),
    "tabulate_corpora": Need(360, 2),
    "sample_paraphrases": Need(800, 5, seconds_per_mb=0.2, disk_per_mb=0.9),
    "measure_overlap": Need(95, 0.1, seconds_per_mb=0.05),
    # sentencepiece holds the sentences that it is trained on.
    "train_vocabulary": Need(130, 0.35, mb_per_mb=60, seconds_per_mb=0.7),
    "tokenize_pairs": Need(700, 4, seconds_per_mb=0.5, disk_per_mb=ENCODED),
    "encode_dataset": Need(255, 0.1, seconds_per_mb=0.35, disk_per_mb=ENCODED),
    "import_dataset": Need(180, 2, seconds_per_mb=0.02, disk_per_mb=1),
    # The weights come on top of these, and what they compute with.
    "initialise_model": Need(385, 1.3),
    "train_model": Need(740, 2.2),
    "train_transformer": Need(1500, 20),
    "translate_corpus": Need(1500, 20, disk_per_mb=1.08),
    "evaluate_run": Need(270, 0.9),
    **{f"evaluate_{name}": Need(task.memory_mb, task.seconds, 0.3) for name, task in TASKS.items()},
    # Merged pairs are half as large as those that are measured, and both sides are embedded, in two vectors
    # of 768 dimensions in float16.
    "embed_teacher": Need(580, 20, seconds_per_mb=22, disk_per_mb=60),
    # Vectors of 768 dimensions of 100,000 sentences, and of as many pieces.
    "embed_pieces": Need(700, 20, disk_mb=100),
    "embed_sample": Need(700, 20, disk_mb=100),
    "fit_tables": Need(500, 5),
    "measure_similarity": Need(580, 20, seconds_per_mb=11, disk_per_mb=1.08),
    "gather_translations": Need(480, 0.5, seconds_per_mb=0.9, disk_per_mb=1),
    # Time for each system that is measured.
    "measure_speed": Need(425, 0.9),
    "convert_tokenizer": Need(120, 0.5),
    # These copy files, or read and write small ones.
    "choose_model": Need(45, 0.2),
    "write_card": Need(45, 0.1),
    "prepare_testsets": Need(270, 0.2, 1.5),
    "prepare_tatoeba": Need(270, 0.2, disk_per_mb=0.5),
    "prepare_bucc": Need(270, 0.2, disk_per_mb=1.43),
    "prepare_transfer": Need(270, 0.2, 4),
    "tabulate": Need(120, 0.35),
    "plot": Need(105, 0.6, 0.1),
    # What weights add to a step that loads them.
    "weights": Need(0, 0, mb_per_mb=1.4, seconds_per_mb=0.03),
}
