"""Compare a Transformer here with the same folder in sentence-transformers."""

from pathlib import Path
from typing import cast

from paraphrastic.base.files import read_json
from paraphrastic.base.text import prepare_text
from paraphrastic.base.text_files import read_sentences
from paraphrastic.interop.parity import TEXT, Other, Parity, compare
from paraphrastic.model.files import MODULES
from paraphrastic.model.folder import open_folder
from paraphrastic.model.hub import not_installed
from paraphrastic.model.transformer import TransformerEncoder


def compare_folder(folder: Path, *, text: Path = TEXT) -> Parity:
    """Compare the vectors of a Transformer's folder here and in sentence-transformers, on lines of text.

    sentence-transformers cuts, batches and embeds the sentences in its own way, and loads the folder itself
    unless it has an LSTM.

    Raises:
        InputError: the two do not agree, or a file cannot be read.
    """
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise not_installed(str(folder), "neural") from None
    opened = open_folder(folder)
    if any("LastState" in module["type"] for module in read_json(folder / MODULES)):
        # sentence-transformers would have to be told to trust our LSTM, so its modules are put together here.
        model = cast(TransformerEncoder, opened).modules
    else:
        model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    settings = {key: opened.config[key] for key in ("segmentation", "folding") if opened.config[key]}

    def prepared(texts: list[str]) -> list[str]:
        # The tokenizer does everything else.
        return prepare_text(texts, **settings) if settings else texts

    other = Other(
        lambda texts: model.tokenizer(prepared(texts), truncation=True)["input_ids"],
        lambda texts: model.encode(prepared(texts), show_progress_bar=False),
    )
    parity = compare(opened, other, read_sentences(str(text)))
    parity.check(str(text), "sentence-transformers")
    return parity
