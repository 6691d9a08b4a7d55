"""Check that a Transformer's folder gives the same vectors here and in sentence-transformers."""

from pathlib import Path
from typing import cast

import numpy as np

from paraphrastic.base.arrays import unit_rows
from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_json
from paraphrastic.base.text import prepare_text
from paraphrastic.model.files import MODULES
from paraphrastic.model.folder import open_folder
from paraphrastic.model.hub import not_installed
from paraphrastic.model.transformer import TransformerEncoder

# Sentences in several scripts, with marks, digits and characters that nobody sees.
SENTENCES = (
    "All human beings are born free and equal in dignity and rights.",
    "Tous les êtres humains naissent libres et égaux en dignité et en droits, n'est-ce pas?",
    "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι.",
    "Все люди рождаются свободными (1948).",
    "يولد جميع الناس أحرارا متساوين",
    "人人生而自由,在尊严和权利上一律平等。",
    "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता",
    "The cafe\u0301 opens at 10:30; a soft\u00adhyphen and a zero\u200bwidth space 🌍",
)
# Two vectors of length 1 may differ by as much in each entry, since both are rounded to single precision.
_TOLERANCE = 1e-4


def check_parity(folder: Path) -> None:
    """Embed sentences with a Transformer's folder here and in sentence-transformers, and compare the vectors.

    sentence-transformers cuts, batches and embeds the sentences in its own way, and loads the folder itself
    unless it has an LSTM.

    Raises:
        InputError: the vectors differ, or sentence-transformers is not installed.
    """
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise not_installed(str(folder), "sentence-transformers") from None
    opened = open_folder(folder)
    if any("LastState" in module["type"] for module in read_json(folder / MODULES)):
        # sentence-transformers would have to be told to trust our LSTM, so its modules are put together here.
        model = cast(TransformerEncoder, opened).modules
    else:
        model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    # The tokenizer does the rest of the preparation.
    prepared = prepare_text(
        SENTENCES, segmentation=opened.config["segmentation"], folding=opened.config["folding"]
    )
    theirs = model.encode(prepared, show_progress_bar=False)
    if not np.allclose(unit_rows(opened.encode(SENTENCES)), unit_rows(theirs), rtol=0, atol=_TOLERANCE):
        raise InputError(f"{folder}: sentence-transformers gives other vectors than the model")
