"""How each format is used, for the card of an export."""

from collections.abc import Mapping
from typing import Any

PARAPHRASTIC = """\
```python
from paraphrastic import load_model

vectors = load_model("{folder}").embed_raw_text(["This is a test."])
```
"""
SENTENCE_TRANSFORMERS = """\
```python
from sentence_transformers import SentenceTransformer

vectors = SentenceTransformer("{folder}").encode(["This is a test."])
```
"""
MODEL2VEC = """\
```python
from model2vec import StaticModel

vectors = StaticModel.from_pretrained("{folder}").encode(["This is a test."])
```
"""
ONNX = """\
`tokenizer.json` cuts text, of which it needs no preparation; ids are padded with any id whose mask is 0.

```python
import numpy as np
import onnxruntime
from tokenizers import Tokenizer

tokenizer = Tokenizer.from_file("{folder}/tokenizer.json")
tokenizer.enable_padding()
sentences = tokenizer.encode_batch(["This is a test.", "Another one."])
session = onnxruntime.InferenceSession("{folder}/model.onnx")
inputs = {{
    "input_ids": np.array([sentence.ids for sentence in sentences]),
    "attention_mask": np.array([sentence.attention_mask for sentence in sentences]),
}}
(vectors,) = session.run(None, inputs)
```
"""
GLOVE = """\
A sentence's vector is the mean of those of its pieces that `vectors.txt` has; without any of them, it is
`<unk>`. Text is prepared like this: {preparation}.

```python
import numpy as np
import sentencepiece

vectors = {{}}
with open("{folder}/vectors.txt", encoding="utf-8", newline="\\n") as file:
    for line in file:
        piece, *numbers = line.rstrip("\\n").split(" ")
        vectors[piece] = np.array(numbers, np.float32)
processor = sentencepiece.SentencePieceProcessor(model_file="{folder}/sentencepiece.model")
pieces = processor.encode({example}, out_type=str)
vector = np.mean([vectors[piece] for piece in pieces if piece in vectors], axis=0)
```
"""


def preparation(config: Mapping[str, Any]) -> dict[str, str]:
    """How text is prepared, in words, and an example in Python."""
    steps = [f"words of {language} by jieba ({mode})" for language, mode in config["segmentation"].items()]
    steps += [f"letters of {language} folded ({mode})" for language, mode in config["folding"].items()]
    example = '"This is a test."'
    if config["lowercase"]:
        steps.append("lower-cased")
        example += ".lower()"
    if config.get("unit") == "word":
        steps.append("marks at the ends of words parted from them by a space")
        example = '"this is a test ."'
    return {"preparation": ", ".join(steps) or "not at all", "example": example}
