"""Tiny Transformers with random weights, in folders as transformers saves them."""

from collections.abc import Iterable
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def write_tokenizer(folder: Path, text: Iterable[str], *, size: int = 400) -> PreTrainedTokenizerFast:
    """Train a WordPiece tokenizer on text and save it."""
    tokenizer = Tokenizer(models.WordPiece(unk_token=SPECIAL[1]))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=size, special_tokens=SPECIAL, show_progress=False)
    tokenizer.train_from_iterator(text, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = dict(
        zip(["pad_token", "unk_token", "cls_token", "sep_token", "mask_token"], SPECIAL, strict=True)
    )
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)
    fast.save_pretrained(folder)
    return fast


def write_bert(
    folder: Path, text: Iterable[str], *, width: int = 32, layers: int = 2, positions: int = 40
) -> Path:
    """Save a BERT with random weights, and a tokenizer that was trained on the text."""
    tokenizer = write_tokenizer(folder, text)
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=2 * width,
        max_position_embeddings=positions,
    )
    BertModel(config).save_pretrained(folder)
    return folder
