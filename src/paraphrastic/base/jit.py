"""Compilation of the numerical kernels."""

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import llvmlite.binding
import numba
from llvmlite import ir
from numba.core import event, types
from numba.extending import intrinsic
from numba.np import arrayobj

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

# LLVM may fuse a product and a sum into one instruction; NaN stays NaN.
FAST = {"contract", "nsz", "arcp"}


def jit(kernel: Kernel) -> Kernel:
    """Compile a function to machine code that runs without Python's lock.

    The code is cached beside the module, or in the user's cache folder if that place cannot be written; if
    neither can, every process compiles anew. The cache notices changes only in the function's own module, so
    a kernel must not call kernels of other modules.
    """
    return _compile(kernel, FAST)


def jit_sum(kernel: Kernel) -> Kernel:
    """Compile like `jit`, but let sums be computed in any order.

    That is fast, but a loop with such a sum must not write to an array. Whether the loop is vectorised would
    then depend on where the arrays happen to lie in memory, and so would the last digit of the result.
    """
    return _compile(kernel, FAST | {"reassoc"})


def jit_exactly(kernel: Kernel) -> Kernel:
    """Compile like `jit`, but round after every operation, exactly as written."""
    return _compile(kernel, set())


def _compile(kernel: Kernel, fastmath: set[str]) -> Kernel:
    options: Any = {"nogil": True, "fastmath": fastmath, "error_model": "numpy"}
    try:
        return numba.njit(cache=True, **options)(kernel)
    except RuntimeError:
        _notice.every_time = True
        return numba.njit(**options)(kernel)


class _Notice(event.Listener):
    """Says to a person who waits, on a terminal or in a notebook, that kernels are being compiled."""

    def __init__(self) -> None:
        self.every_time = self._told = False

    def on_start(self, event: Any) -> None:
        """Tell once that a kernel is compiled, which one that is cached is not."""
        sees = sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)
        if self._told or not sees:
            return
        self._told = True
        when = "once"
        if self.every_time:
            when = "at each start, since neither its folder nor yours can keep it; set NUMBA_CACHE_DIR"
        print(f"paraphrastic: compiling for this processor, {when}", file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        """Do nothing."""


_notice = _Notice()
event.register("numba:compile", _notice)


def has_8_bit_products() -> bool:
    """Whether the processor has instructions that multiply vectors of 8-bit integers."""
    features = llvmlite.binding.get_host_cpu_features()
    return any(features.get(name) for name in ("avx512vnni", "avxvnni", "amx-int8"))


@intrinsic
def prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Fetch the cache line that holds `array[index]` before it is needed."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        start = arrayobj.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte = ir.IntType(8).as_pointer()
        address = builder.bitcast(builder.gep(start, [arguments[1]]), byte)
        number = ir.IntType(32)
        function = builder.module.declare_intrinsic(
            "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        )
        # The arguments mean: for writing, keep in all caches, data (not instructions).
        builder.call(function, [address, number(1), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, index), generate
