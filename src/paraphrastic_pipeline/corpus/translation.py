"""Make paraphrases by translating one side of a bitext (ParaNMT-50M, section 3)."""

import hashlib
import json
import logging
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pyarrow as pa

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_json, sha256, write_json
from paraphrastic.model.hub import load_from_hub, not_installed
from paraphrastic_pipeline.base.devices import Device, Precision, choose_device, choose_precision
from paraphrastic_pipeline.corpus.blocks import PAIR_SCHEMA, read_blocks, write_blocks
from paraphrastic_pipeline.corpus.translation_limits import MORE_TOKENS, MOST_SCORES, TIMES_TOKENS

log = logging.getLogger(__name__)

TRANSLATED_SCHEMA = pa.schema([*PAIR_SCHEMA, ("translation_score", pa.float64()), ("ended", pa.bool_())])
# Pairs whose translations are written together, so that a run that was killed loses no more than these.
BLOCK_PAIRS = 2048


class Translation(NamedTuple):
    """A translation; all three are None or false for a sentence that is too long to be translated.

    `score` is the mean of its tokens' log probabilities, with the end of the sentence. It has `ended` unless
    it was cut off.
    """

    text: str | None
    score: float | None
    ended: bool


Translate = Callable[[Sequence[str]], list[Translation]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslatorSettings:
    """How sentences are translated.

    Attributes:
        model: a sequence-to-sequence model of transformers: a folder, or a name on the Hugging Face Hub.
        backend: what runs the model, `transformers` or `ctranslate2`, which is faster.
        codes: the model's own codes of the two languages, if it translates between several (NLLB, M2M-100).
        beam: number of hypotheses of the beam search; the paper has 12.
        batch_tokens: tokens that are translated together, with padding.
        max_tokens: sentences with more tokens are not translated.
        device: where it runs; `auto` uses a GPU if torch sees one.
        precision: precision of the weights; `auto` is half precision on a GPU, and float32 on a processor.
    """

    model: str
    backend: Literal["transformers", "ctranslate2"] = "transformers"
    codes: Sequence[str] | None = None
    beam: int = 12
    batch_tokens: int = 4096
    max_tokens: int = 128
    device: Device = "auto"
    precision: Precision = "auto"


def open_translator(settings: TranslatorSettings, *, threads: int = 1) -> Translate:
    """Open a translator: a function from sentences to their translations, in the same order.

    Raises:
        InputError: the extra `neural` is not installed, the model cannot be loaded, a code is not one of its
            languages, or there is no GPU although one is asked for.
    """
    try:
        # Imported late: the packages are optional and take seconds to import.
        import torch
        from transformers import AutoConfig, AutoTokenizer
        from transformers.utils.logging import disable_progress_bar
    except ImportError:
        raise not_installed(settings.model, "transformers") from None
    disable_progress_bar()
    torch.set_num_threads(threads)
    place = settings.model
    device = choose_device(settings.device, key="translator.device")
    precision = choose_precision(settings.precision, device)
    tokenizer, config = _pretrained(AutoTokenizer, place), _pretrained(AutoConfig, place)
    positions = int(getattr(config, "max_position_embeddings", None) or sys.maxsize)
    if settings.max_tokens > positions:
        asked = f"translator.max_tokens: {settings.max_tokens} tokens are asked for"
        raise InputError(f"{place}: {asked}; the model has places for {positions}")
    first = None
    if settings.codes:
        source, target = settings.codes
        for code in settings.codes:
            if tokenizer.convert_tokens_to_ids(_token_of(tokenizer, code)) in (None, tokenizer.unk_token_id):
                raise InputError(f"{place}: translator.codes: {code!r} is not one of the model's languages")
        tokenizer.src_lang = source
        first = _token_of(tokenizer, target)

    open_backend = _with_ctranslate2 if settings.backend == "ctranslate2" else _with_transformers
    # A translation takes a place less, because a token of its own starts the decoder.
    loaded = _Loaded(tokenizer, first, device, precision, threads, limit=positions - 1)
    translate_batch = open_backend(settings, loaded)
    most_rows = max(1, MOST_SCORES // (settings.beam * max(1, config.vocab_size)))

    def translate(sentences: Sequence[str]) -> list[Translation]:
        translations = [Translation(None, None, False)] * len(sentences)
        lengths = [len(ids) for ids in tokenizer(list(sentences))["input_ids"]] if sentences else []
        kept = [row for row, length in enumerate(lengths) if length <= settings.max_tokens]
        ordered = sorted(kept, key=lengths.__getitem__)
        for rows in _batches(ordered, lengths, settings.batch_tokens, most_rows):
            for row, translation in zip(rows, translate_batch([sentences[row] for row in rows]), strict=True):
                translations[row] = translation
        return translations

    return translate


def _pretrained(kind: Any, place: str, **options: Any) -> Any:
    """Load something of transformers from a folder or the Hub; `kind` is its class there."""
    return load_from_hub(
        place,
        "transformers",
        lambda place: kind.from_pretrained(place, **options),
    )


@dataclass(frozen=True, slots=True)
class _Loaded:
    """What both backends need.

    `first` is the token that each translation begins with, if any, and `limit` the most tokens of one.
    """

    tokenizer: Any
    first: str | None
    device: str
    precision: str
    threads: int
    limit: int

    def most_tokens(self, longest: int) -> int:
        """The most tokens of a translation in a batch whose longest sentence has this many."""
        return min(self.limit, MORE_TOKENS + TIMES_TOKENS * longest)


def _with_transformers(
    settings: TranslatorSettings, loaded: _Loaded
) -> Callable[[list[str]], list[Translation]]:
    """Open the model in transformers."""
    import torch
    from transformers import AutoModelForSeq2SeqLM

    model = _pretrained(AutoModelForSeq2SeqLM, settings.model, dtype=getattr(torch, loaded.precision))
    tokenizer, first, device = loaded.tokenizer, loaded.first, loaded.device
    model.to(device).eval()
    forced = {} if first is None else {"forced_bos_token_id": tokenizer.convert_tokens_to_ids(first)}

    def scores_of(tokens: Any, mask: Any, sequences: Any) -> Any:
        inputs = {"input_ids": tokens, "attention_mask": mask}
        logits = model(**inputs, decoder_input_ids=sequences[:, :-1]).logits.float()
        return logits.log_softmax(-1).gather(-1, sequences[:, 1:, None])[..., 0]

    @torch.inference_mode()
    def translate_batch(sentences: list[str]) -> list[Translation]:
        inputs = tokenizer(sentences, return_tensors="pt", padding=True).to(device)
        limit = loaded.most_tokens(inputs["input_ids"].shape[1])
        sequences = model.generate(
            **inputs,
            **forced,
            num_beams=settings.beam,
            do_sample=False,
            max_new_tokens=limit,
            length_penalty=1.0,
        )
        # The first token only starts the decoder. A second pass gives the scores of the others, because
        # generation would hold those of the whole vocabulary for every step.
        labels, padding = sequences[:, 1:], tokenizer.pad_token_id
        size = max(1, MOST_SCORES // max(1, labels.shape[1] * model.config.vocab_size))
        given = (inputs["input_ids"], inputs["attention_mask"], sequences)
        parts = zip(*(tensor.split(size) for tensor in given), strict=True)
        scores = torch.cat([scores_of(*part) for part in parts])
        if first is not None:
            # The search does not choose this token, so it has no part in its score.
            scores[:, 0] = 0.0
        ends = model.generation_config.eos_token_id
        is_end = torch.isin(labels, torch.tensor(ends, device=device).view(-1))
        # All up to and with the first end of a sentence; what follows is padding.
        counted = (is_end.cumsum(1) - is_end.long()) == 0
        counted &= is_end | (labels != padding)
        means = (scores * counted).sum(1) / counted.sum(1).clamp_min(1)
        # Some models are made to end at the limit, so an end there is none.
        ended = is_end[:, : limit - 1].any(1).tolist()
        texts = tokenizer.batch_decode(sequences, skip_special_tokens=True)
        return [
            Translation(text.strip(), *rest) for text, *rest in zip(texts, means.tolist(), ended, strict=True)
        ]

    return translate_batch


def _with_ctranslate2(
    settings: TranslatorSettings, loaded: _Loaded
) -> Callable[[list[str]], list[Translation]]:
    """Convert the model for CTranslate2, and open it there; see `_with_transformers`."""
    try:
        # Imported late: the package is optional.
        import ctranslate2
    except ImportError:
        lacks = "needs ctranslate2, which is not installed: pip install ctranslate2"
        raise InputError(f"{settings.model}: {lacks}") from None

    def converted(place: str) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder, "model")
            ctranslate2.converters.TransformersConverter(place).convert(str(target))
            return ctranslate2.Translator(
                str(target),
                device=loaded.device,
                compute_type=loaded.precision,
                inter_threads=1,
                intra_threads=loaded.threads,
            )

    tokenizer, first = loaded.tokenizer, loaded.first
    translator = load_from_hub(settings.model, "ctranslate2", converted)

    def translate_batch(sentences: list[str]) -> list[Translation]:
        tokens = [tokenizer.convert_ids_to_tokens(ids) for ids in tokenizer(sentences)["input_ids"]]
        limit = loaded.most_tokens(max(map(len, tokens)))
        results = translator.translate_batch(
            tokens,
            beam_size=settings.beam,
            target_prefix=None if first is None else [[first]] * len(tokens),
            max_decoding_length=limit,
            length_penalty=1.0,
            return_scores=True,
        )
        translations = []
        for result in results:
            pieces = result.hypotheses[0]
            ids = tokenizer.convert_tokens_to_ids(pieces)
            text = tokenizer.decode(ids, skip_special_tokens=True).strip()
            translations.append(Translation(text, result.scores[0], len(pieces) < limit))
        return translations

    return translate_batch


def _token_of(tokenizer: Any, code: str) -> str:
    """The token of a language: M2M-100 writes `__de__`, and NLLB `deu_Latn`."""
    tokens: Mapping[str, str] = getattr(tokenizer, "lang_code_to_token", {})
    return tokens.get(code, code)


def _batches(rows: Sequence[int], lengths: Sequence[int], most: int, most_rows: int) -> Iterator[list[int]]:
    """Yield rows of rising lengths in batches of at most `most` tokens with padding, but at least one row."""
    batch: list[int] = []
    for row in rows:
        if batch and (len(batch) == most_rows or (len(batch) + 1) * lengths[row] > most):
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def translate_corpus(
    pairs: str | Path,
    output: str | Path,
    *,
    settings: TranslatorSettings,
    threads: int = 1,
    shard: tuple[int, int] = (1, 1),
    translator: Callable[..., Translate] = open_translator,
) -> None:
    """Translate the sources of a bitext, and write each target with the translation (`TRANSLATED_SCHEMA`).

    So `source` is the reference and `target` its paraphrase, as in ParaNMT-50M. A run that was killed goes on
    from the last block that it finished; the blocks are in the folder `{output}.parts` meanwhile. A sentence
    that recurs in a block is translated once.

    Args:
        pairs: Parquet file made by `extract_corpus`.
        output: the Parquet file.
        settings: the translator.
        threads: threads of torch.
        shard: `(i, n)` for the i-th (from 1) of n shards of the corpus's row groups. A shard may be empty.
        translator: opens the translator.

    Raises:
        InputError: the input is damaged, the disk is full, or `open_translator` refuses the settings.
    """
    parts = Path(f"{output}.parts")
    identity = {"pairs": sha256(pairs), "settings": _digest(settings), "shard": list(shard)}
    about = parts / "identity.json"
    if not about.is_file() or read_json(about) != identity:
        shutil.rmtree(parts, ignore_errors=True)
        write_json(about, identity)
    translate: Translate | None = None
    done: list[Path] = []
    blocks = read_blocks(pairs, columns=["source", "target", "line"], rows=BLOCK_PAIRS, shard=shard)
    for number, block in enumerate(blocks):
        part = parts / f"{number:06d}.parquet"
        done.append(part)
        if part.is_file():
            continue
        translate = translate or translator(settings, threads=threads)
        distinct = block["source"].dictionary_encode()
        translations = translate(distinct.dictionary.to_pylist())
        texts, scores, ended = zip(*(translations[row] for row in distinct.indices.to_pylist()), strict=True)
        columns = dict(
            zip(TRANSLATED_SCHEMA.names, (block["target"], texts, block["line"], scores, ended), strict=True)
        )
        with write_blocks(part, TRANSLATED_SCHEMA) as writer:
            writer.write(pa.RecordBatch.from_pydict(columns, schema=TRANSLATED_SCHEMA))
        log.info("%s: %s pairs translated", output, f"{number * BLOCK_PAIRS + block.num_rows:,}")
    with write_blocks(output, TRANSLATED_SCHEMA) as writer:
        for part in done:
            for block in read_blocks(part):
                writer.write(block)
    shutil.rmtree(parts)


def _digest(settings: TranslatorSettings) -> str:
    place = Path(settings.model)
    # There are no files if the model is one of the Hub.
    files = {path.name: sha256(path) for path in sorted(place.glob("*")) if path.is_file()}
    # Neither the size of batches nor the device is a reason to begin anew.
    counted = {
        name: value for name, value in asdict(settings).items() if name not in ("batch_tokens", "device")
    }
    return hashlib.sha256(json.dumps([counted, files], sort_keys=True).encode()).hexdigest()
