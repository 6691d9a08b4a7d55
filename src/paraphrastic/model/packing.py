"""Tables of 2 or 4 bits an entry: four or two entries share a byte, the first one in its lowest bits.

An entry stands for an odd whole number: of 2 bits for -3, -1, 1 or 3, of 4 bits for -15, -13, …, 15. A row's
weight, by which it is multiplied, says how long these are.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from paraphrastic.base.errors import InputError

Int8 = npt.NDArray[np.int8]
UInt8 = npt.NDArray[np.uint8]
Float32 = npt.NDArray[np.float32]

# Rows that are looked at at a time.
_ROWS = 4096
# Lengths of a step that are tried for each row, in units of the root of its entries' mean square.
_STEPS = {2: np.linspace(0.6, 1.4, 17), 4: np.linspace(0.15, 0.6, 19)}


def pack(codes: Int8, bits: int) -> UInt8:
    """Odd numbers, [n, d], as bytes, [n, d · bits / 8]."""
    numbers = ((codes.astype(np.int16) + (1 << bits) - 1) >> 1).astype(np.uint8)
    each = 8 // bits
    packed = np.zeros((len(codes), codes.shape[1] // each), np.uint8)
    for place in range(each):
        packed |= numbers[:, place::each] << (place * bits)
    return packed


def unpack(packed: UInt8, dim: int) -> tuple[Int8, int]:
    """The numbers of `pack`, int8 [n, dim], and their bits.

    Raises:
        InputError: the bytes of a row are not those of `dim` entries of 2 or 4 bits.
    """
    bits, rest = divmod(8 * packed.shape[1], max(1, dim))
    if rest or bits not in _STEPS:
        raise InputError(f"rows of {packed.shape[1]} bytes are not {dim} entries of 2 or 4 bits")
    codes = np.empty((len(packed), dim), np.int8)
    each, mask = 8 // bits, (1 << bits) - 1
    for place in range(each):
        codes[:, place::each] = 2 * ((packed >> (place * bits)) & mask).astype(np.int8) - mask
    return codes, bits


def quantize(table: Float32, bits: int) -> tuple[Int8, Float32]:
    """The odd numbers, int8 [n, d], and weights, float32 [n], that are nearest to a table's rows.

    Rows of zeros have the weight 0.
    """
    codes, weights = np.empty(table.shape, np.int8), np.empty(len(table), np.float32)
    for start in range(0, len(table), _ROWS):
        rows = slice(start, start + _ROWS)
        codes[rows], weights[rows] = _nearest(table[rows], bits)
    return codes, weights


def _nearest(rows: Float32, bits: int) -> tuple[Int8, Float32]:
    scale = np.sqrt(np.square(rows).mean(axis=1, keepdims=True))
    units = rows / np.where(scale > 0, scale, 1)
    half = 1 << (bits - 1)
    chosen, weights = np.ones(rows.shape, np.int8), np.zeros(len(rows), np.float32)
    least: npt.NDArray[Any] = np.full(len(rows), np.inf)
    for step in _STEPS[bits]:
        codes = (2 * np.clip(np.floor(units / np.float32(step)), -half, half - 1) + 1).astype(np.float32)
        # The weight by which these codes are nearest.
        products, squares = (units * codes).sum(axis=1), np.square(codes).sum(axis=1)
        errors = -products * products / squares
        better = errors < least
        least[better], chosen[better] = errors[better], codes[better]
        weights[better] = (products / squares)[better]
    return chosen, weights * scale[:, 0]
