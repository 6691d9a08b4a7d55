"""Products of a few rows with a few dozen columns, compared with thresholds while they are in registers.

Numbers are packed in words of four bytes: four of eight bits, of which the rows' have 128 added, or two of
16 bits. A row is a line of words. Columns lie together in panels: word 0 of `WIDTH` columns, then word 1.
"""

from collections.abc import Callable
from typing import Any

import llvmlite.binding
import numba
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numba.np import arrayobj

# Of a processor that numba was not told to write for.
_TOLD = any(getattr(numba.config, name) for name in ("CPU_NAME", "CPU_FEATURES"))
_FEATURES = {} if _TOLD else llvmlite.binding.get_host_cpu_features()
# Columns that one register holds; rows, and registers of columns, of a tile: so that all sums have registers.
_LANES, ROWS, _REGISTERS = (16, 6, 4) if _FEATURES.get("avx512bw") else (8, 4, 3)
# Columns of a panel; their bits fit into one integer of 64 bits.
WIDTH = _LANES * _REGISTERS
# Whether four products of eight bits are summed by one instruction.
HAS_BYTES = bool(_FEATURES.get("avx512vnni") if _LANES == 16 else _FEATURES.get("avxvnni"))

_BYTE, _HALF, _WORD, _LONG = (ir.IntType(bits) for bits in (8, 16, 32, 64))
_VECTOR = ir.VectorType(_WORD, _LANES)
_PAIRS = ir.VectorType(_HALF, 2 * _LANES)
_WIDE = ir.VectorType(_WORD, 2 * _LANES)


class _Writer:
    """Writes the code of a tile; `address` arguments are integers."""

    def __init__(self, builder: Any, in_bytes: bool) -> None:
        self.builder = builder
        self.add_products = self._add_bytes if in_bytes else self._add_pairs
        if in_bytes:
            self.instruction = builder.module.declare_intrinsic(
                f"llvm.x86.avx512.vpdpbusd.{32 * _LANES}", (), ir.FunctionType(_VECTOR, [_VECTOR] * 3)
            )

    def load(self, address: Any, kind: Any, offset: int = 0) -> Any:
        place = self.builder.inttoptr(self.builder.add(address, _LONG(offset)), kind.as_pointer())
        value = self.builder.load(place)
        # Of arrays that begin anywhere.
        value.align = 8 if kind is _LONG else 4
        return value

    def spread(self, number: Any) -> Any:
        """A register with the number in all of its places."""
        undefined = ir.Constant(_VECTOR, ir.Undefined)
        first = self.builder.insert_element(undefined, number, _WORD(0))
        return self.builder.shuffle_vector(first, undefined, ir.Constant(_VECTOR, [0] * _LANES))

    def _add_bytes(self, total: Any, row: Any, column: Any) -> Any:
        return self.builder.call(self.instruction, [total, row, column])

    def _add_pairs(self, total: Any, row: Any, column: Any) -> Any:
        # Compilers know this as one instruction of most processors.
        first, second = (self.builder.sext(self.builder.bitcast(v, _PAIRS), _WIDE) for v in (row, column))
        products = self.builder.mul(first, second)
        undefined = ir.Constant(_WIDE, ir.Undefined)
        even, odd = (
            self.builder.shuffle_vector(
                products, undefined, ir.Constant(_VECTOR, list(range(start, 2 * _LANES, 2)))
            )
            for start in (0, 1)
        )
        return self.builder.add(total, self.builder.add(even, odd))

    def products(self, rows: list[Any], panel: Any, words: Any, start: list[list[Any]]) -> list[list[Any]]:
        """`start` and the products of all words, by rows and registers."""
        builder = self.builder
        before = builder.block
        loop, after = (builder.append_basic_block(name) for name in ("words", "compare"))
        builder.branch(loop)
        builder.position_at_end(loop)
        word = builder.phi(_LONG)
        word.add_incoming(_LONG(0), before)
        totals = [[builder.phi(_VECTOR) for _ in line] for line in start]
        at = builder.add(panel, builder.mul(word, _LONG(4 * WIDTH)))
        columns = [self.load(at, _VECTOR, 4 * _LANES * register) for register in range(_REGISTERS)]
        sums = []
        for row, line in zip(rows, totals, strict=True):
            numbers = self.spread(self.load(builder.add(row, builder.shl(word, _LONG(2))), _WORD))
            sums.append(
                [self.add_products(total, numbers, c) for total, c in zip(line, columns, strict=True)]
            )
        following = builder.add(word, _LONG(1))
        word.add_incoming(following, loop)
        for line, first, new in zip(totals, start, sums, strict=True):
            for total, value, total_after in zip(line, first, new, strict=True):
                total.add_incoming(value, before)
                total.add_incoming(total_after, loop)
        builder.cbranch(builder.icmp_signed("<", following, words), loop, after)
        builder.position_at_end(after)
        return sums

    def above(self, line: list[Any], bar: Any, bars: list[Any]) -> Any:
        """Bits that say which products are above the row's bar or, where there are any, the columns'."""
        builder = self.builder
        bits = _LONG(0)
        for register, value in enumerate(line):
            higher = builder.icmp_signed(">", value, bar)
            if bars:
                higher = builder.or_(higher, builder.icmp_signed(">", value, bars[register]))
            part = builder.zext(builder.bitcast(higher, ir.IntType(_LANES)), _LONG)
            bits = builder.or_(bits, builder.shl(part, _LONG(register * _LANES)))
        return bits


def _generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind = signature.args[0]
    array, places, more, row_bars, panel, words, column_more, found, *column_bars = arguments
    writer = _Writer(builder, kind.dtype == types.uint8)
    base = builder.ptrtoint(arrayobj.make_array(kind)(context, builder, array).data, _LONG)
    lines = [builder.add(base, writer.load(places, _LONG, 8 * row)) for row in range(ROWS)]
    registers = [4 * _LANES * register for register in range(_REGISTERS)]
    of_columns = [writer.load(column_more, _VECTOR, at) for at in registers]
    start = []
    for row in range(ROWS):
        of_row = writer.spread(writer.load(more, _WORD, 4 * row))
        start.append([builder.add(of_row, of_column) for of_column in of_columns])
    sums = writer.products(lines, panel, words, start)
    bars = [writer.load(address, _VECTOR, at) for address in column_bars for at in registers]
    for row, line in enumerate(sums):
        bits = writer.above(line, writer.spread(writer.load(row_bars, _WORD, 4 * row)), bars)
        place = builder.inttoptr(builder.add(found, _LONG(8 * row)), _LONG.as_pointer())
        builder.store(bits, place)
    return context.get_dummy_value()


def _tile(
    typing_context: Any, rows: Any, places: Any, more: Any, row_bars: Any, panel: Any, words: Any,
    column_more: Any, found: Any,
) -> Any:  # fmt: skip
    return types.void(rows, *[types.int64] * 7), _generate


def _tile_both_ways(
    typing_context: Any, rows: Any, places: Any, more: Any, row_bars: Any, panel: Any, words: Any,
    column_more: Any, found: Any, column_bars: Any,
) -> Any:  # fmt: skip
    return types.void(rows, *[types.int64] * 8), _generate


tile: Callable[..., None] = intrinsic(_tile)
"""Set `found[r]` to the columns whose product with row r is above its bar, a bit each.

All arguments but `rows` and `words` are addresses.

Args:
    rows: array of numbers, uint8 or int16, of which those of the rows are anywhere.
    places: int64 [ROWS], of the rows, in bytes from the array's beginning.
    more: int32 [ROWS], added to the rows' products.
    row_bars: int32 [ROWS].
    panel: of columns.
    words: of a row.
    column_more: int32 [WIDTH], added to the columns' products.
    found: uint64 [ROWS], overwritten.
"""
tile_both_ways: Callable[..., None] = intrinsic(_tile_both_ways)
"""The same for products that are above the bar of the row or of the column.

The columns' bars, int32 [WIDTH], come after the other arguments.
"""
