"""What identifies the rows of a table: values that keep their types from one table to another."""

import math
from collections.abc import Sequence
from typing import Any

from paraphrastic.base.errors import InputError, shown
from paraphrastic.base.row_values import RowError, column_values, readable_text


def identity(value: Any, name: str) -> Any:
    """Check the value of the column `name` that identifies a row: a number, a truth value or text.

    Raises:
        RowError: it is missing, such as None and NaN, or another kind of value.
    """
    if isinstance(value, float) and not math.isfinite(value):
        raise RowError(f"{name}: is missing" if math.isnan(value) else f"{name}: is infinite")
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, (list, dict)):
        raise RowError(f"{name}: {shown(value)} is not a single value")
    # Text is checked, but keeps its control characters, by which it may differ from other text.
    readable_text(value.replace("\0", " ") if isinstance(value, str) else value, name)
    return value


def are_identities(values: Sequence[Any]) -> bool:
    """Whether `identity` would return all of these values as they are."""
    kinds = {*map(type, values)}
    return kinds <= {int} or kinds == {str}


def identity_values(column: Any, place: str) -> list[Any]:
    """The values of a column of Arrow as numbers, truth values or text, which is that of dates, for example.

    Bytes are written in hexadecimal digits. `place` names the column.

    Raises:
        InputError: a value of the column has parts, such as a list.
    """
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.dictionary_decode()
        kind = column.type
    if pa.types.is_nested(kind):
        raise InputError(f"{place}: {kind} cannot identify rows, since its values have parts")
    if pa.types.is_temporal(kind) or pa.types.is_decimal(kind):
        return list(column.cast(pa.string()).to_pylist())
    values = column_values(column)
    if pa.types.is_string(kind) or pa.types.is_primitive(kind):
        return values
    return [_text(value) for value in values]


def _text(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    # Others, such as a UUID, are extensions of Arrow's.
    plain = (str, bool, int, float, UnicodeDecodeError)
    return value if value is None or isinstance(value, plain) else str(value)


def identity_text(value: Any) -> str:
    """How an identity is written among text; truth values are written as in JSON."""
    return str(value).lower() if isinstance(value, bool) else str(value)
