"""Make paraphrases by translating one side of a bitext (ParaNMT-50M, section 3), with CTranslate2."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import write_json
from paraphrastic.model.hub import load_from_hub, not_installed
from paraphrastic_pipeline.base.tables import write_tsv
from paraphrastic_pipeline.corpus.blocks import PAIR_SCHEMA, read_blocks, write_blocks
from paraphrastic_pipeline.corpus.sampling import Samples

TRANSLATED_SCHEMA = pa.schema([*PAIR_SCHEMA, ("translation_score", pa.float64()), ("ended", pa.bool_())])
GATHERED_SCHEMA = pa.schema([*PAIR_SCHEMA, ("translation_score", pa.float64())])
# Why a translation is no paraphrase, in the order in which this is checked.
REASONS = ("too_long", "endless", "empty")
# Pairs that are translated together, and tokens of a batch of them.
BLOCK_PAIRS, BATCH_TOKENS = 2048, 4096
# Tokens that a sentence may have. A translation may have twice as many as the longest one, and some more.
MAX_TOKENS, MORE_TOKENS = 128, 20
_SHOWN = ("line", "source", "target", "translation_score")


# A translation, the mean of its tokens' log probabilities with that of the sentence's end, and whether it has
# ended or was cut off; for a sentence that is too long to be translated, `TOO_LONG`.
Translation = tuple[str | None, float | None, bool]
TOO_LONG: Translation = (None, None, False)
Translate = Callable[[Sequence[str]], list[Translation]]


def open_translator(model: str, *, beam: int = 12, device: str = "auto", threads: int = 1) -> Translate:
    """Open a translator: a function from sentences to their translations, in the same order.

    Args:
        model: a sequence-to-sequence model of transformers that translates between two languages: a folder,
            or a name on the Hugging Face Hub.
        beam: number of hypotheses of the beam search; the paper has 12.
        device: `cpu`, `cuda` or `auto`, which is a GPU if there is one.
        threads: threads on a processor.

    Raises:
        InputError: CTranslate2 or transformers is not installed, or the model cannot be loaded.
    """
    try:
        # Imported late: the packages are optional and take seconds to import.
        import ctranslate2
        from transformers import AutoTokenizer
    except ImportError as error:
        raise not_installed(model, error.name or "ctranslate2") from None
    tokenizer: Any = load_from_hub(model, "transformers", AutoTokenizer.from_pretrained)
    with tempfile.TemporaryDirectory() as folder:
        converted = str(Path(folder, "model"))
        load_from_hub(
            model,
            "ctranslate2",
            lambda place: ctranslate2.converters.TransformersConverter(place).convert(converted),
        )
        translator = ctranslate2.Translator(
            converted,
            device=device,
            compute_type={"cpu": "float32", "cuda": "auto"},
            intra_threads=threads,
        )

    def translate(sentences: Sequence[str]) -> list[Translation]:
        translations = [TOO_LONG] * len(sentences)
        tokens = [tokenizer.convert_ids_to_tokens(ids) for ids in tokenizer(list(sentences))["input_ids"]]
        rows = [row for row, pieces in enumerate(tokens) if len(pieces) <= MAX_TOKENS]
        limit = 2 * max((len(tokens[row]) for row in rows), default=0) + MORE_TOKENS
        results = translator.translate_batch(
            [tokens[row] for row in rows],
            max_batch_size=BATCH_TOKENS,
            batch_type="tokens",
            beam_size=beam,
            max_decoding_length=limit,
            length_penalty=1.0,
            return_scores=True,
        )
        for row, result in zip(rows, results, strict=True):
            pieces = result.hypotheses[0]
            text = tokenizer.decode(tokenizer.convert_tokens_to_ids(pieces), skip_special_tokens=True)
            translations[row] = (text.strip(), result.scores[0], len(pieces) < limit)
        return translations

    return translate


def translate_corpus(
    pairs: str | Path,
    translated: str | Path,
    *,
    translator: Mapping[str, Any],
    threads: int = 1,
    shard: tuple[int, int] = (1, 1),
) -> None:
    """Translate the sources of a bitext, and write each target with the translation (`TRANSLATED_SCHEMA`).

    So `source` is the reference and `target` its paraphrase, as in ParaNMT-50M. A sentence that recurs in a
    block is translated once. A run that was killed begins anew only with its unfinished shards.

    Args:
        pairs: Parquet file made by `extract_corpus`.
        translated: the Parquet file.
        translator: the arguments of `open_translator`.
        threads: threads on a processor.
        shard: `(i, n)` for the i-th (from 1) of n shards of the corpus's row groups. A shard may be empty.

    Raises:
        InputError: the disk is full.
    """
    columns = ["source", "target", "line"]
    translate = open_translator(**translator, threads=threads)
    with write_blocks(translated, TRANSLATED_SCHEMA) as writer:
        for block in read_blocks(pairs, columns=columns, rows=BLOCK_PAIRS, shard=shard):
            source, target, line = block.columns
            distinct = source.dictionary_encode()
            translations = translate(distinct.dictionary.to_pylist())
            texts, scores, ended = zip(
                *(translations[row] for row in distinct.indices.to_pylist()), strict=True
            )
            values = (target, texts, line, scores, ended)
            named = dict(zip(TRANSLATED_SCHEMA.names, values, strict=True))
            writer.write(pa.RecordBatch.from_pydict(named, schema=TRANSLATED_SCHEMA))


def gather_translations(
    translated: Sequence[str | Path],
    pairs: str | Path,
    counts: str | Path,
    examples: str | Path,
    *,
    seed: int,
) -> dict[str, int]:
    """Write the pairs whose translations can be used: `source`, `target`, `line` and `translation_score`.

    Args:
        translated: Parquet files made by `translate_corpus`: the shards of all bitexts, in order.
        pairs: the Parquet file. `line` is the number of the pair in all bitexts together, from 1.
        counts: JSON file with the result, which is also returned: pairs `read`; those left out because the
            sentence was `too_long` to be translated, or because the translation is `endless` (cut off before
            it ended) or `empty` (without a letter or digit); and the `pairs` left.
        examples: TSV file for people to read: random pairs for each reason, and some that are left.
        seed: seed of the examples.

    Raises:
        InputError: no translation can be used, or the disk is full.
    """
    samples = Samples([*REASONS, "kept"], seed)
    with write_blocks(pairs, GATHERED_SCHEMA) as writer:
        for block in chain.from_iterable(map(read_blocks, translated)):
            source, target, _, score, ended = block.columns
            texts = target.to_pylist()
            with_words = [any(map(str.isalnum, text or "")) for text in texts]
            fits = [text is not None for text in texts]
            # The first reason that applies, or the number of reasons.
            fates = np.argmin([fits, ended.to_pylist(), with_words, [False] * len(texts)], axis=0)
            lines = pa.array(np.arange(samples.read, samples.read + block.num_rows) + 1)
            samples.add(block, fates)
            found = pa.RecordBatch.from_arrays([source, target, lines, score], schema=GATHERED_SCHEMA)
            writer.write(found.filter(pa.array(fates == len(REASONS))))
        result = {"read": samples.read, **samples.counts}
        result["pairs"] = result.pop("kept")
        if not result["pairs"]:
            causes = ", ".join(f"{reason} {result[reason]:,}" for reason in REASONS if result[reason])
            folder = Path(translated[0]).parent
            raise InputError(f"{folder}: none of {result['read']:,} translations can be used: {causes}")
    rows = [[reason, *(row[name] for name in _SHOWN)] for reason, row in samples.rows("line")]
    write_tsv(examples, ("kind", *_SHOWN), rows)
    write_json(counts, result)
    return result
