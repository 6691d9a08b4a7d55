"""The share of a model's English pieces that also occur in its other language."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from paraphrastic.base.files import write_json
from paraphrastic_pipeline.training.dataset import SIDES
from paraphrastic_pipeline.training.pair_dataset import PairDataset, open_vocabularies, pieces_of_rows


def measure_overlap(
    dataset: Path, vocabularies: Sequence[Path], overlap: Path, *, languages: Sequence[str]
) -> None:
    """Write the share of the pieces in the English training sentences that also occur on the other side.

    Each piece counts once, however often it occurs. Pieces are the same if they are spelled alike, whether or
    not the languages share a vocabulary (Wieting et al. 2019, section 4.2, footnote 6). Only the encoder's
    first unit is measured.

    `dataset` is an HDF5 file of `encode_dataset`, and `vocabularies` are its sentencepiece models in the
    order in which it was encoded. One of the two `languages` is `en`. The JSON file `overlap` has the other
    `language`, the number of `pairs`, of `pieces` by language and of those in `common`, and `sp_overlap`,
    from 0 to 1.
    """
    with PairDataset(dataset) as data:
        unit, pairs = data.units[0], len(data)
        spelled = np.array(
            [
                processor.id_to_piece(piece)
                for processor, piece in pieces_of_rows(unit, open_vocabularies(vocabularies, data.units)[0])
            ]
        )
        # The extra rows for sentences without pieces have no spelling.
        pieces = {
            language: set(spelled[data.counts(side)[0][: len(spelled)] > 0].tolist())
            for side, language in zip(SIDES, languages, strict=True)
        }
    (other,) = (language for language in languages if language != "en")
    common = len(pieces["en"] & pieces[other])
    counts = {language: len(spellings) for language, spellings in pieces.items()}
    content = {"language": other, "pairs": pairs, "pieces": counts, "common": common}
    write_json(overlap, {**content, "sp_overlap": common / counts["en"]})
