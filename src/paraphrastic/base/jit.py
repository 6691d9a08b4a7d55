"""Compilation of the numerical kernels."""

from collections.abc import Callable
from typing import Any, TypeVar

import numba
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numba.np import arrayobj

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

# A product and a sum may be one instruction; NaN stays NaN.
FAST = {"contract", "nsz", "arcp"}


def jit(kernel: Kernel) -> Kernel:
    """The function as machine code that runs without Python's lock.

    The code is kept beside the module, or in the user's cache where that cannot be written; where neither
    can, it is compiled in every process. The cache knows of changes in the function's own module only: a
    kernel is to call none of another module.
    """
    return _compile(kernel, FAST)


def jit_sum(kernel: Kernel) -> Kernel:
    """The same with sums in any order.

    That is fast, but a loop with such a sum must not write to an array: whether it is done several numbers at
    a time would depend on where in memory the arrays happen to lie, and with it the last digit.
    """
    return _compile(kernel, FAST | {"reassoc"})


def jit_exactly(kernel: Kernel) -> Kernel:
    """The same with every operation rounded as it is written."""
    return _compile(kernel, set())


def _compile(kernel: Kernel, fastmath: set[str]) -> Kernel:
    options: Any = {"nogil": True, "fastmath": fastmath, "error_model": "numpy"}
    try:
        return numba.njit(cache=True, **options)(kernel)
    except RuntimeError:
        return numba.njit(**options)(kernel)


@intrinsic
def prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Ask for the line of the cache with `array[index]`, before it is needed."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        start = arrayobj.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte = ir.IntType(8).as_pointer()
        address = builder.bitcast(builder.gep(start, [arguments[1]]), byte)
        number = ir.IntType(32)
        function = builder.module.declare_intrinsic(
            "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        )
        # To be written, kept in all caches, data.
        builder.call(function, [address, number(1), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, index), generate
