"""Probes: sentences that differ in one respect, such as a negation, a number or a typing error."""

from pathlib import Path

import pyarrow as pa

from paraphrastic.base.errors import InputError, shown
from paraphrastic.model.encoder import cosines, finite_vectors
from paraphrastic_pipeline.corpus.blocks import write_table
from paraphrastic_pipeline.evaluation.labelled_file import LabelledFile
from paraphrastic_pipeline.evaluation.measurement import share
from paraphrastic_pipeline.evaluation.results import Evaluation
from paraphrastic_pipeline.evaluation.testset_names import PROBES
from paraphrastic_pipeline.evaluation.testsets import read_testsets, table_digest

COLUMNS = ("kind", "sentence", "sentence_same", "sentence_different")


def prepare_probes(download: Path, testsets: Path) -> None:
    """Write probes as Parquet with the columns `COLUMNS`, all of them text.

    Args:
        download: a table with tabs between its columns, which its first line names. Each row has a kind, a
            sentence, one that means the same, and one that means something else.
        testsets: the Parquet file.

    Raises:
        InputError: another header, an unknown kind, or a row without one of the sentences.
    """
    file = LabelledFile(str(download), download.read_bytes())
    lines = file.lines()
    if not lines or tuple(lines[0].split("\t")) != COLUMNS:
        raise file.fault(1, f"the columns must be {', '.join(COLUMNS)}")
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) != len(COLUMNS) or not all(cells):
            raise file.fault(number, f"expected {', '.join(COLUMNS)}, with tabs between them")
        if cells[0] not in PROBES:
            raise file.fault(number, f"{shown(cells[0])} is not one of {', '.join(PROBES)}")
        rows.append(cells)
    if not rows:
        raise InputError(f"{download}: contains no probe")
    write_table(testsets, pa.table(list(zip(*rows, strict=True)), names=COLUMNS))


def evaluate_probes(evaluation: Evaluation, testsets: Path) -> None:
    """Measure how often a sentence is nearer to one that means the same than to one that does not.

    The measurement `right negation` is the share of the probes of this kind. If two sentences are
    equally near, neither is nearer, so an encoder that ignores the order of words has no `roles` by this
    count unless other words tell. In the result, `cosines` has the mean cosines of each kind.

    Args:
        evaluation: the encoder and its settings; the official digest has the key `probes`.
        testsets: Parquet file of `prepare_probes`.
    """
    encoder, probes = evaluation.encoder, read_testsets(testsets)
    digest, measurements, means = table_digest(probes), {}, {}
    sentence, same, different = (
        finite_vectors(encoder, probes[column].to_list(), "en", name=str(testsets)) for column in COLUMNS[1:]
    )
    near, far = cosines(sentence, same), cosines(sentence, different)
    for kind in (kind for kind in PROBES if kind in set(probes["kind"])):
        rows = (probes["kind"] == kind).to_numpy()
        measurements[f"right {kind}"] = share(
            near[rows] > far[rows], name=f"probes {kind}", digest=digest, samples=evaluation.bootstrap_samples
        )
        means[kind] = {"same": float(near[rows].mean()), "different": float(far[rows].mean())}
    official = evaluation.official_digests().get("probes") == digest
    evaluation.write("probes", measurements, {"probes": {"official": official}}, cosines=means)
