"""Exported models in the libraries that they are for, to compare their vectors with ours."""

import base64
import json
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paraphrastic import load_model
from paraphrastic.base.arrays import unit_rows
from paraphrastic.model.average import AverageEncoder

# Vectors of length 1 may be this far apart, since sums of many pieces are rounded in single precision. Other
# libraries compute in float16 if the table is float16.
TOLERANCE, HALF_TOLERANCE = 1e-4, 1e-3
# Takes texts and returns vectors, [n, dim].
Embed = Callable[[Sequence[str]], Any]
_PACKAGES = {
    "sentence-transformers": "sentence_transformers",
    "model2vec": "model2vec",
    "onnx": "onnxruntime",
}


def needs(form: str) -> None:
    """Skip a test if the library of a format is not installed."""
    if form == "javascript" and shutil.which("node") is None:
        pytest.skip("Node.js is not installed")
    if form in _PACKAGES:
        pytest.importorskip(_PACKAGES[form], reason=f"{_PACKAGES[form]} is not installed")


def opened_elsewhere(form: str, folder: Path) -> Embed:
    """Open an exported folder in the library that the format is for."""
    if form == "sentence-transformers":
        from sentence_transformers import SentenceTransformer

        return lambda texts: SentenceTransformer(str(folder), device="cpu").encode(list(texts))
    if form == "model2vec":
        from model2vec import StaticModel

        return lambda texts: StaticModel.from_pretrained(folder).encode(
            list(texts), use_multiprocessing=False
        )
    if form == "onnx":
        return _onnx(folder)
    if form == "javascript":
        return lambda texts: node_vectors(folder, texts)
    return load_model(folder).embed_raw_text


def _onnx(folder: Path) -> Embed:
    import onnxruntime
    from tokenizers import Tokenizer

    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))

    def embed(texts: Sequence[str]) -> Any:
        rows = []
        # One text has no padding, and two of different lengths have.
        for start in range(0, len(texts), 2):
            pieces = tokenizer.encode_batch_fast(list(texts[start : start + 2]))
            width = max(1, *(len(each.ids) for each in pieces))
            ids, mask = (np.zeros((len(pieces), width), np.int64) for _ in range(2))
            for row, each in enumerate(pieces):
                ids[row, : len(each.ids)], mask[row, : len(each.ids)] = each.ids, 1
            rows += session.run(["sentence_embedding"], {"input_ids": ids, "attention_mask": mask})
        return np.concatenate(rows)

    return embed


def run_node(folder: Path, script: str, asked: object = None) -> Any:
    """What a script returns that has the module's `load`, the folder's `bytes` and `model`, and `asked`."""
    source = (
        'import { readFileSync } from "node:fs"; import { load } from "./paraphrastic.js";'
        'const bytes = readFileSync("model.safetensors"), model = load(bytes);'
        'const asked = JSON.parse(readFileSync(0, "utf8"));'
        f"console.log(JSON.stringify((() => {{ {script} }})()));"
    )
    command = [str(shutil.which("node")), "--input-type=module", "-e", source]
    given = json.dumps(asked).encode()
    result = subprocess.run(command, cwd=folder, input=given, capture_output=True, check=False)
    assert result.returncode == 0, result.stderr.decode()
    return json.loads(result.stdout)


def node_vectors(folder: Path, texts: Sequence[str]) -> Any:
    """Vectors in Node.js, [n, dim]."""
    script = "return Buffer.from(model.embed(asked).buffer).toString('base64')"
    content = base64.b64decode(run_node(folder, script, list(texts)))
    return np.frombuffer(content, np.float32).reshape(len(texts), -1)


def distances(model: AverageEncoder, embed: Embed, texts: Sequence[str], form: str) -> Any:
    """Distances of the vectors, scaled to length 1, in another library from ours, [n].

    They are zero where sentence-transformers and model2vec cannot have our vector, for text without known
    pieces.
    """
    ours, theirs = unit_rows(model.embed_raw_text(texts)), unit_rows(np.asarray(embed(texts), np.float32))
    apart = np.linalg.norm(ours - theirs, axis=1)
    tokens = model.tokenize(texts)
    if form in ("sentence-transformers", "model2vec"):
        apart[(np.diff(tokens.ends) == 0) & tokens.has_text] = 0
    return apart
