"""Speed of embedding: `python benchmarks/embedding.py [--text FILE] [--repeats N] [--dimension D]`.

Embeds the sentences of a text file, one per line, from raw text to an array of vectors. In the same run, this
is done with this library, with sentence-transformers and model2vec, which load the same model folder, and
with a plain reference (sentencepiece and padded batches in torch). Where Node.js is installed, the module for
JavaScript takes part. The model's vocabulary is learned from the text, and its embeddings are random. Then
each model in the package is measured beside sentence-transformers' StaticEmbedding with the same vocabulary
and dimension and a table in float32, in turns, with the sizes of both. The first of them shows how long the
parts of the work take, beside sentencepiece and the writing of memory alone, and how fast columns of other
libraries are. Writes results/benchmarks/embedding.json.
"""

import argparse
import io
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import pyarrow as pa
import sentencepiece
import torch

from paraphrastic import load_model
from paraphrastic.base.files import write_json
from paraphrastic.interop.compression import with_dtype
from paraphrastic.interop.javascript import MODULE, write_javascript
from paraphrastic.interop.tokenizer import complete_folder
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.encoder import BLOCK_SENTENCES
from paraphrastic.model.files import SENTENCEPIECE, TOKENIZER, WEIGHTS
from paraphrastic.model.folder import shipped_models

PIECES = 50_000
# Batch size of the plain reference, as in the papers.
BATCH = 128
# Number of sentences that warm up every system.
WARM = 5_000
CONFIG = {"model": "bench", "languages": ["en"], "lowercase": True, "segmentation": {}, "folding": {}}

Embed = Callable[[Sequence[str]], np.ndarray]


def main() -> None:
    """Measure, print and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--text", default="data/sample/tatoeba/tatoeba.deu-eng.eng", help="UTF-8")
    parser.add_argument("--sentences", type=int, default=100_000, help="of the text, again and again")
    parser.add_argument("--dimension", type=int, default=1024)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3, help="of which the median counts")
    parser.add_argument("--output", default="results/benchmarks/embedding.json")
    options = parser.parse_args()
    lines = Path(options.text).read_text(encoding="utf-8").splitlines()
    sentences = [lines[number % len(lines)] for number in range(options.sentences)]
    torch.set_num_threads(options.threads)
    os.environ["RAYON_NUM_THREADS"] = str(options.threads)
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        model = make_model(lines, options.dimension)
        model.write(Path(folder))
        complete_folder(Path(folder))
        for name, embed in systems(model, folder, options.threads):
            vectors = embed(sentences[:WARM])
            if vectors.shape != (min(WARM, len(sentences)), options.dimension):
                raise AssertionError(f"{name}: {vectors.shape}")
            seconds = statistics.median(timed(embed, sentences) for _ in range(options.repeats))
            figures[name] = len(sentences) / seconds
            print(f"{name:44} {figures[name]:>11,.0f} sentences/s", flush=True)
        if shutil.which("node"):
            name = "paraphrastic.js in Node.js, 1 thread"
            seconds = statistics.median(seconds_in_node(model, folder, sentences, options.repeats))
            figures[name] = len(sentences) / seconds
            print(f"{name:44} {figures[name]:>11,.0f} sentences/s", flush=True)
    packaged = {name: beside_static(name, sentences, options) for name in shipped_models()}
    first = cast(AverageEncoder, load_model(next(iter(shipped_models()))))
    parts, columns = parts_of(first, sentences), speeds_of_columns(first, sentences, options)
    about = {"text": options.text, "sentences": len(sentences), "dimension": options.dimension}
    about |= {"threads": options.threads, "packaged": packaged, "parts": parts, "columns": columns}
    write_json(options.output, {**about, "sentences_per_second": figures})


def parts_of(model: AverageEncoder, sentences: Sequence[str]) -> dict[str, float]:
    """Nanoseconds per sentence on one core for the parts of embedding to float16, and what limits them."""
    seconds = dict.fromkeys(("prepare", "tokenize", "average", "write memory", "sentencepiece alone"), 0.0)

    def timed_part(name: str, work: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        result = work()
        seconds[name] += time.perf_counter() - start
        return result

    model.embed_raw_text(sentences)
    for start in range(0, len(sentences), BLOCK_SENTENCES):
        block = sentences[start : start + BLOCK_SENTENCES]
        texts = timed_part("prepare", partial(model._prepare, block, None))
        tokens = timed_part("tokenize", partial(model.tokenizer.tokenize, texts))
        vectors = timed_part("write memory", partial(np.ones, (len(block), model.dim), np.float16))
        timed_part("average", partial(model._embed, tokens, False, vectors))
        timed_part("sentencepiece alone", partial(model.processor.encode, texts, out_type=int, num_threads=1))
    parts = {name: 1e9 * taken / len(sentences) for name, taken in seconds.items()}
    print("ns a sentence on one core: " + ", ".join(f"{name} {taken:.0f}" for name, taken in parts.items()))
    return parts


def speeds_of_columns(
    model: AverageEncoder, sentences: Sequence[str], options: argparse.Namespace
) -> dict[str, float]:
    """How fast columns of other libraries are embedded, as multiples of a list's speed."""
    columns: dict[str, Any] = {
        "list": list(sentences), "pandas": pd.Series(sentences),
        "Arrow": pa.array(sentences), "NumPy, objects": np.array(sentences, object),
        "NumPy, StringDType": np.array(sentences, np.dtypes.StringDType()),
        "NumPy, fixed width": np.array(sentences),
    }  # fmt: skip

    def embed(column: Any) -> Any:
        return model.embed_raw_text(column, threads=options.threads)

    turns = [{name: timed(embed, column) for name, column in columns.items()} for _ in range(options.repeats)]
    medians = {name: statistics.median(turn[name] for turn in turns) for name in columns}
    found = {name: medians["list"] / seconds for name, seconds in medians.items()}
    print("speeds of columns: " + ", ".join(f"{name} {ratio:.2f}" for name, ratio in found.items()))
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


def systems(model: AverageEncoder, folder: str, threads: int) -> list[tuple[str, Embed]]:
    """Name and function of each system; the function turns raw sentences into vectors."""
    from model2vec import StaticModel
    from sentence_transformers import SentenceTransformer

    half = with_dtype(model, "float16")
    transformer = SentenceTransformer(folder, device="cpu")
    static = StaticModel.from_pretrained(folder)
    return [
        ("plain: sentencepiece, padded batches in torch", plain(model)),
        *(
            (f"sentence-transformers, batches of {size}", by_transformer(transformer, size))
            for size in (BATCH, 2048)
        ),
        ("model2vec", static.encode),
        ("paraphrastic, 1 thread", lambda sentences: model.embed_raw_text(sentences, threads=1)),
        (f"paraphrastic, {threads} threads", lambda s: model.embed_raw_text(s, threads=threads)),
        (
            f"paraphrastic, {threads} threads, no word known",
            lambda s: as_new(model).embed_raw_text(s, threads=threads),
        ),
        ("paraphrastic, float16 table", lambda s: half.embed_raw_text(s, threads=threads)),
        (
            "paraphrastic, float16 table and vectors",
            lambda s: half.embed_raw_text(s, threads=threads, dtype=np.float16),
        ),
    ]


def beside_static(name: str, sentences: Sequence[str], options: argparse.Namespace) -> dict[str, Any]:
    """Speed and size of a model in the package, and of a StaticEmbedding of the same table in float32."""
    from sentence_transformers import SentenceTransformer

    model = cast(AverageEncoder, load_model(name))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with_dtype(model, "float32").write(folder)
        complete_folder(folder)
        static = by_transformer(SentenceTransformer(place, device="cpu"), 2048)
        files = {
            name: [shipped_models()[name] / file for file in (WEIGHTS, SENTENCEPIECE)],
            "StaticEmbedding": [folder / file for file in (WEIGHTS, TOKENIZER)],
        }
        sizes = {way: sum(path.stat().st_size for path in each) / 1e6 for way, each in files.items()}
    ways: dict[str, Embed] = {
        name: lambda given: model.embed_raw_text(given, threads=options.threads),
        "StaticEmbedding": static,
    }
    for embed in ways.values():
        embed(sentences[:WARM])
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(options.repeats):
        for way, embed in ways.items():
            seconds[way].append(timed(embed, sentences))
    found = {
        way: {"sentences_per_second": len(sentences) / statistics.median(each), "mb": sizes[way]}
        for way, each in seconds.items()
    }
    for way, each in found.items():
        label = way if way == name else f"{way}, vocabulary of {name}"
        print(
            f"{label:44} {each['sentences_per_second']:>11,.0f} sentences/s {each['mb']:>6.1f} MB", flush=True
        )
    return found


def as_new(model: AverageEncoder) -> AverageEncoder:
    """The same model without remembered words, while other systems remember those of earlier runs."""
    return AverageEncoder(model.tensors(), model.sentencepiece, CONFIG)


def by_transformer(transformer: Any, size: int) -> Embed:
    """sentence-transformers with batches of `size` sentences."""
    return lambda sentences: transformer.encode(sentences, batch_size=size, show_progress_bar=False)


def plain(model: AverageEncoder) -> Embed:
    """Embed like the papers' code: cut one sentence after the other, then average a padded batch."""
    table = torch.from_numpy(model.embeddings)

    def embed(sentences: Sequence[str]) -> np.ndarray:
        found = []
        for start in range(0, len(sentences), BATCH):
            ids = [model.processor.encode(text.lower()) for text in sentences[start : start + BATCH]]
            lengths = torch.tensor([max(1, len(each)) for each in ids])
            batch = torch.zeros((len(ids), int(lengths.max())), dtype=torch.long)
            mask = torch.zeros(batch.shape)
            for row, each in enumerate(ids):
                batch[row, : len(each)] = torch.tensor(each, dtype=torch.long)
                mask[row, : len(each)] = 1
            sums = (table[batch] * mask[:, :, None]).sum(dim=1)
            found.append((sums / lengths[:, None]).numpy())
        return np.concatenate(found)

    return embed


def seconds_in_node(
    model: AverageEncoder, folder: str, sentences: Sequence[str], repeats: int
) -> list[float]:
    """Seconds that the module for JavaScript takes, several times, after it has met all words once."""
    own = Path(folder, "javascript")
    own.mkdir()
    write_javascript(model, own)
    script = f"""
        import {{ readFileSync }} from "node:fs";
        import {{ load }} from "./{MODULE.name}";
        const model = load(readFileSync("model.safetensors"));
        const sentences = JSON.parse(readFileSync(0, "utf8"));
        const embed = () => {{
            for (let i = 0; i < sentences.length; i += {BATCH}) model.embed(sentences.slice(i, i + {BATCH}));
        }};
        embed();
        console.log(JSON.stringify(Array.from({{ length: {repeats} }}, () => {{
            const start = performance.now();
            embed();
            return (performance.now() - start) / 1000;
        }})));"""
    command = ["node", "--input-type=module", "-e", script]
    found = subprocess.run(  # noqa: S603 - the script above
        command, cwd=own, input=json.dumps(list(sentences)).encode(), capture_output=True, check=True
    )
    return list(json.loads(found.stdout))


def timed(embed: Embed, sentences: Sequence[str]) -> float:
    """Seconds that embedding the sentences takes."""
    start = time.perf_counter()
    embed(sentences)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
