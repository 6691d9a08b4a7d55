"""Gather the translations of bitexts as a corpus of paraphrases, and count those that are none, by reason."""

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from paraphrastic.base.errors import InputError
from paraphrastic.base.text import prepare_text
from paraphrastic_pipeline.corpus.blocks import PAIR_SCHEMA, read_blocks, write_blocks
from paraphrastic_pipeline.corpus.filter_files import FilterFiles
from paraphrastic_pipeline.corpus.language_id import LanguageIdentifier
from paraphrastic_pipeline.corpus.sampling import Samples
from paraphrastic_pipeline.corpus.score import Identify
from paraphrastic_pipeline.corpus.text import as_read
from paraphrastic_pipeline.registry.language_labels import labels_of

# Why a translation is no paraphrase, in the order in which this is checked.
REASONS = ("too_long", "endless", "empty", "wrong_language")
GATHERED_SCHEMA = pa.schema([*PAIR_SCHEMA, ("translation_score", pa.float64())])
_SHOWN = ("line", "source", "target", "translation_score")


def gather_translations(
    translated: Sequence[str | Path],
    files: FilterFiles,
    *,
    language: str,
    identifier: Path | None,
    rule: Mapping[str, Any] | None,
    preparation: Mapping[str, Any],
    identify: Identify = "model",
    seed: int,
) -> dict[str, int]:
    """Write the pairs whose translations can be used: `source`, `target`, `line` and `translation_score`.

    Args:
        translated: Parquet files made by `translate_corpus`: the shards of all bitexts, in order.
        files: the files to write. `line` is the number of the pair in all bitexts together, from 1. The
            counts, which are also returned, are pairs `read`; those left out because the sentence was
            `too_long` to be translated, or because the translation is `endless` (cut off before it ended),
            `empty` (without a letter or digit) or in a `wrong_language`; and the `pairs` left. The examples
            also show some that are left.
        language: language of the paraphrases.
        identifier: a fastText model; None does not check languages.
        rule: when a text is in its language, as `language` in `filters.build_filters`; None does not check.
        preparation: how text is prepared, as `text.prepare_text` takes it; the language is identified before
            text is segmented.
        identify: whether the language is identified on the text that the `model` sees, or on the `original`.
        seed: seed of the examples.

    Raises:
        InputError: the identifier does not know the language, no translation can be used, an input is
            damaged, or the disk is full.
    """
    classifier = None if identifier is None or rule is None else LanguageIdentifier(identifier)
    labels = labels_of(language, classifier.labels if classifier else None) or (language,)
    if classifier and not set(labels) & classifier.labels:
        raise InputError(
            f"{identifier}: the language identifier does not know {language}, as it has no label "
            f"{' or '.join(labels_of(language) or labels)}; set selection.paraphrase.language to null, or "
            "give an identifier that knows it"
        )
    samples = Samples([*REASONS, "kept"], seed)
    with write_blocks(files.pairs, GATHERED_SCHEMA) as writer:
        for block in chain.from_iterable(map(read_blocks, translated)):
            texts = [text or "" for text in block["target"].to_pylist()]
            in_language = np.ones(len(texts), bool)
            if classifier and rule:
                seen = texts
                if identify == "model":
                    seen = as_read(prepare_text(texts, **{**preparation, "segmentation": {}}))
                identified = classifier.identify(seen, language)
                in_language = identified.probabilities >= np.float32(rule["min_probability"])
                if rule["rule"] == "best":
                    in_language &= np.isin(identified.codes, labels)
            too_long = block["translation_score"].is_null().to_numpy(zero_copy_only=False)
            ended = block["ended"].to_numpy(zero_copy_only=False)
            has_words = [any(map(str.isalnum, text)) for text in texts]
            # The first of these that is false is the reason.
            accepted = np.stack([~too_long, ended, has_words, in_language, np.zeros(len(texts), bool)])
            fates = accepted.argmin(axis=0)
            lines = pa.array(np.arange(samples.read, samples.read + len(texts)) + 1)
            samples.add(block, fates)
            kept = pa.array(fates == len(REASONS))
            columns = [block["source"], block["target"], lines, block["translation_score"]]
            writer.write(pa.RecordBatch.from_arrays(columns, schema=GATHERED_SCHEMA).filter(kept))
        result = {"read": samples.read, **samples.counts}
        result["pairs"] = result.pop("kept")
        if not result["pairs"]:
            causes = ", ".join(f"{reason} {result[reason]:,}" for reason in REASONS if result[reason])
            raise InputError(
                f"{Path(translated[0]).parent}: none of {result['read']:,} translations can be used: "
                f"{causes or 'the bitext is empty'}"
            )
    rows = [[reason, *(row[name] for name in _SHOWN)] for reason, row in samples.rows("line")]
    files.describe(result, ("kind", *_SHOWN), rows)
    return result
