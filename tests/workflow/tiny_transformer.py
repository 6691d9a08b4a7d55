"""Tiny Transformers with random weights, in folders as transformers saves them."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import sentencepiece
import torch
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def write_tokenizer(
    folder: Path, text: Iterable[str], *, size: int = 400
) -> "transformers.PreTrainedTokenizerFast":
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
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)
    fast.save_pretrained(folder)
    return fast


def write_bert(
    folder: Path, text: Iterable[str], *, width: int = 32, layers: int = 2, positions: int = 40
) -> Path:
    """Save a BERT with random weights, and a tokenizer that was trained on the text."""
    tokenizer = write_tokenizer(folder, text)
    torch.manual_seed(1)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=2 * width,
        max_position_embeddings=positions,
    )
    transformers.BertModel(config).save_pretrained(folder)
    return folder


def write_marian(folder: Path, pairs: Sequence[tuple[str, str]], *, width: int = 32, steps: int = 0) -> Path:
    """Save a Marian after some training steps on pairs, without which its translations would not end."""
    folder.mkdir(parents=True, exist_ok=True)
    pieces = dict.fromkeys(["</s>", "<unk>"])
    for side, name in enumerate(("source", "target")):
        path = folder / f"{name}.spm"
        with path.open("wb") as file:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=iter([pair[side] for pair in pairs]),
                model_writer=file,
                vocab_size=120,
                hard_vocab_limit=False,
                minloglevel=2,
            )
        processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
        pieces |= dict.fromkeys(map(processor.id_to_piece, range(3, processor.get_piece_size())))
    pieces["<pad>"] = None
    size = len(pieces)
    (folder / "vocab.json").write_text(json.dumps({piece: number for number, piece in enumerate(pieces)}))
    names = {f"{name}_spm": str(folder / f"{name}.spm") for name in ("source", "target")}
    tokenizer = transformers.MarianTokenizer(
        **names, vocab=str(folder / "vocab.json"), source_lang="de", target_lang="en"
    )
    torch.manual_seed(1)
    config = transformers.MarianConfig(
        vocab_size=size,
        d_model=width,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        max_position_embeddings=256,
        pad_token_id=size - 1,
        eos_token_id=0,
        decoder_start_token_id=size - 1,
        forced_eos_token_id=0,
    )
    model = transformers.MarianMTModel(config)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(steps):
        some = [pairs[(32 * step + row) % len(pairs)] for row in range(32)]
        source, target = zip(*some, strict=True)
        inputs = tokenizer(list(source), text_target=list(target), return_tensors="pt", padding=True)
        labels = inputs["labels"].masked_fill(inputs["labels"] == tokenizer.pad_token_id, -100)
        loss = model(
            input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"], labels=labels
        ).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
