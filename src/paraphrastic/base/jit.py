"""Compilation of the numerical kernels."""

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba.core import event

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
        _notice.when = "at each start, since its folder and yours cannot be written; set NUMBA_CACHE_DIR"
        return numba.njit(**options)(kernel)


class _Notice(event.Listener):
    """Says once to a person who waits, on a terminal or in a notebook, that kernels are being compiled."""

    when = "once"

    def on_start(self, event: Any) -> None:
        """Tell that a kernel is compiled, which one that is cached is not."""
        if self.when and sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules):
            print(f"paraphrastic: compiling for this processor, {self.when}", file=sys.stderr, flush=True)
            self.when = ""

    def on_end(self, event: Any) -> None:
        """Do nothing."""


_notice = _Notice()
event.register("numba:compile", _notice)
