"""The encoder of the P-SP models: a sentence is the average of its subwords' embeddings."""

import torch
from torch import Tensor, nn

from paraphrastic.dataset import Sentences


class AveragedEmbeddings(nn.Module):
    """One embedding table, shared by both languages (Wieting et al. 2021, section 3).

    Args:
        n_rows: rows of the table.
        dimension: of the embeddings.
        init_std: standard deviation of the normal distribution that they are drawn from.
        seed: of the draw.
        dropout: chance that an entry of a token's embedding is left out in training.
    """

    def __init__(
        self, n_rows: int, dimension: int, *, init_std: float, seed: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.table = nn.Parameter(torch.randn(n_rows, dimension, generator=generator) * init_std)
        self.dropout = dropout

    def forward(self, sentences: Sentences) -> Tensor:
        """Vectors of the sentences, float32 [n, dimension]; that of an empty sentence is zero."""
        tokens = torch.from_numpy(sentences.tokens)
        if not self.training or self.dropout == 0.0:
            offsets = torch.from_numpy(sentences.offsets[:-1])
            return nn.functional.embedding_bag(tokens.long(), self.table, offsets, mode="mean")
        embeddings = nn.functional.dropout(nn.functional.embedding(tokens.long(), self.table), self.dropout)
        lengths = torch.from_numpy(sentences.lengths)
        sentence_of_token = torch.repeat_interleave(torch.arange(len(sentences)), lengths)
        sums = embeddings.new_zeros(len(sentences), self.table.shape[1]).index_add(
            0, sentence_of_token, embeddings
        )
        return sums / lengths.clamp_min(1)[:, None]
