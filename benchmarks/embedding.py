"""Speed of embedding: `python benchmarks/embedding.py [--text FILE] [--repeats N] [--dimension D]`.

Embeds the sentences of a text file, one per line, from raw text to an array of vectors. This library takes
turns with sentence-transformers and model2vec, which load the same model folder, and with a plain reference
(sentencepiece and padded batches in torch). The model's vocabulary is learned from the text, and its
embeddings are random. Then each model in the package takes turns with sentence-transformers' StaticEmbedding
with the same vocabulary and dimension and a table in float32, and the sizes of both are measured. Writes
results/benchmarks/embedding.json.
"""

import argparse
import io
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import sentencepiece
import torch
from timing import medians, options_of

from paraphrastic import load_model
from paraphrastic.base.arrays import Float32
from paraphrastic.base.files import write_json
from paraphrastic.interop.compression import with_dtype
from paraphrastic.interop.tokenizer import complete_folder
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.files import SENTENCEPIECE, TOKENIZER, WEIGHTS
from paraphrastic.model.folder import shipped_models

PIECES = 50_000
# Batch size of the plain reference, as in the papers.
BATCH = 128
# Batch size with which sentence-transformers is fastest.
LARGE_BATCH = 2048
# Number of sentences that warm up every system.
WARM = 5_000
CONFIG = {"model": "bench", "languages": ["en"], "lowercase": True, "segmentation": {}, "folding": {}}

Embed = Callable[[Sequence[str]], Any]


def main() -> None:
    """Measure, print and write the figures."""
    parser = options_of(__doc__ or "", name="embedding")
    parser.add_argument(
        "--text", default="data/sample/tatoeba/tatoeba.deu-eng.eng", help="UTF-8 (%(default)s)"
    )
    parser.add_argument("--sentences", type=int, default=100_000, help="of the text, again and again")
    parser.add_argument("--dimension", type=int, default=1024)
    options = parser.parse_args()
    if options.quick:
        options.sentences, options.dimension = 300, 16
    lines = Path(options.text).read_text(encoding="utf-8").splitlines()
    sentences = [lines[number % len(lines)] for number in range(options.sentences)]
    torch.set_num_threads(options.threads)
    os.environ["RAYON_NUM_THREADS"] = str(options.threads)
    with tempfile.TemporaryDirectory() as folder:
        model = make_model(lines, options.dimension)
        model.write(Path(folder))
        complete_folder(Path(folder))
        figures = speeds(systems(model, folder, options.threads), sentences, options)
    packaged = {name: beside_static(name, sentences, options) for name in shipped_models()}
    about = {"text": options.text, "sentences": len(sentences), "dimension": options.dimension}
    about |= {"threads": options.threads, "packaged": packaged}
    write_json(options.output, {**about, "sentences_per_second": figures})


def speeds(
    systems: Mapping[str, Embed], sentences: Sequence[str], options: argparse.Namespace
) -> dict[str, float]:
    """Sentences per second of each system, which are printed."""
    for embed in systems.values():
        embed(sentences[:WARM])
    seconds = medians({name: partial(embed, sentences) for name, embed in systems.items()}, options)
    found = {name: len(sentences) / taken for name, taken in seconds.items()}
    for name, speed in found.items():
        print(f"{name:48} {speed:>11,.0f} sentences/s", flush=True)
    return found


def make_model(lines: Sequence[str], dimension: int) -> AverageEncoder:
    """A model with the text's vocabulary and a random embedding table."""
    proto = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=(line.lower() for line in lines), model_writer=proto, vocab_size=PIECES,
        hard_vocab_limit=False, character_coverage=0.995, minloglevel=2,
    )  # fmt: skip
    processor = sentencepiece.SentencePieceProcessor(model_proto=proto.getvalue())
    generator = np.random.default_rng(1)
    table = generator.standard_normal((processor.get_piece_size(), dimension), np.float32)
    known = np.ones(len(table), np.bool_)
    known[processor.unk_id()] = False
    table[~known] = 0
    tensors = {"embeddings": table, "known": known, "unknown": table[-1]}
    return AverageEncoder(tensors, proto.getvalue(), CONFIG)


def systems(model: AverageEncoder, folder: str, threads: int) -> dict[str, Embed]:
    """The function of each system that turns raw sentences into vectors."""
    from model2vec import StaticModel

    half = with_dtype(model, "float16")

    def as_new(sentences: Sequence[str]) -> Any:
        # This model remembers no words, while other systems remember those of earlier rounds.
        new = AverageEncoder(model.tensors(), model.sentencepiece, CONFIG)
        return new.embed_raw_text(sentences, threads=threads)

    return {
        "plain: sentencepiece, padded batches in torch": partial(embed_plainly, model),
        f"sentence-transformers, batches of {LARGE_BATCH}": by_transformer(folder),
        "model2vec": StaticModel.from_pretrained(folder).encode,
        "paraphrastic, 1 thread": partial(model.embed_raw_text, threads=1),
        f"paraphrastic, {threads} threads": partial(model.embed_raw_text, threads=threads),
        f"paraphrastic, {threads} threads, no word known": as_new,
        "paraphrastic, table and vectors in float16": partial(
            half.embed_raw_text, threads=threads, dtype=np.float16
        ),
    }


def by_transformer(folder: str) -> Embed:
    """sentence-transformers with the model of a folder."""
    from sentence_transformers import SentenceTransformer

    transformer = SentenceTransformer(folder, device="cpu")
    return partial(transformer.encode, batch_size=LARGE_BATCH, show_progress_bar=False)


def embed_plainly(model: AverageEncoder, sentences: Sequence[str]) -> Float32:
    """Embed like the papers' code: tokenize one sentence after the other, then average a padded batch."""
    table = torch.from_numpy(model.embeddings)
    vectors = []
    for start in range(0, len(sentences), BATCH):
        ids = [model.processor.encode(text.lower()) for text in sentences[start : start + BATCH]]
        lengths = torch.tensor([max(1, len(each)) for each in ids])
        batch = torch.zeros((len(ids), int(lengths.max())), dtype=torch.long)
        mask = torch.zeros(batch.shape)
        for row, each in enumerate(ids):
            batch[row, : len(each)] = torch.tensor(each, dtype=torch.long)
            mask[row, : len(each)] = 1
        sums = (table[batch] * mask[:, :, None]).sum(dim=1)
        vectors.append((sums / lengths[:, None]).numpy())
    return np.concatenate(vectors)


def beside_static(name: str, sentences: Sequence[str], options: argparse.Namespace) -> dict[str, Any]:
    """Speed and size of a model in the package, and of a StaticEmbedding of the same table in float32."""
    model = cast(AverageEncoder, load_model(name))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with_dtype(model, "float32").write(folder)
        complete_folder(folder)
        systems: dict[str, Embed] = {
            name: partial(model.embed_raw_text, threads=options.threads),
            f"StaticEmbedding, vocabulary of {name}": by_transformer(place),
        }
        files = [
            [shipped_models()[name] / file for file in (WEIGHTS, SENTENCEPIECE)],
            [folder / file for file in (WEIGHTS, TOKENIZER)],
        ]
        sizes = [sum(path.stat().st_size for path in each) / 1e6 for each in files]
        found = speeds(systems, sentences, options)
    print("megabytes: " + ", ".join(f"{size:.1f}" for size in sizes), flush=True)
    return {
        system: {"sentences_per_second": speed, "mb": size}
        for (system, speed), size in zip(found.items(), sizes, strict=True)
    }


if __name__ == "__main__":
    main()
