"""Compilation of the numerical kernels, and threads to run them in."""

from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

import numba
import torch
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numba.np import arrayobj

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

# A product and a sum may be one instruction; NaN stays NaN.
FAST = {"contract", "nsz", "arcp"}


def compiled(kernel: Kernel, *, sums_in_any_order: bool = False) -> Kernel:
    """The function as machine code that runs without Python's lock.

    The code is kept beside the module, or in the user's cache where that cannot be written; where neither
    can, it is compiled in every process. The cache knows of changes in the function's own module only: a
    kernel is to call none of another module.

    Sums in any order are fast, but a loop with one must not write to an array: whether it is done several
    numbers at a time would depend on where in memory the arrays happen to lie, and with it the last digit.
    """
    fastmath = FAST | {"reassoc"} if sums_in_any_order else FAST
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


class Team:
    """Threads that share a piece of work; the caller is one of them.

    The work must release Python's lock. Inside of it, torch uses one thread.
    """

    def __init__(self, threads: int) -> None:
        self.size = threads
        self._tasks: list[SimpleQueue[Callable[[int], None] | None]] = []
        self._results: SimpleQueue[BaseException | None] = SimpleQueue()
        for index in range(1, threads):
            self._tasks.append(SimpleQueue())
            Thread(target=self._work, args=(index,), daemon=True).start()

    def run(self, task: Callable[[int], None]) -> None:
        """Call `task(index)` for every index below `size`, at once; returns when all are done."""
        for tasks in self._tasks:
            tasks.put(task)
        error: BaseException | None = None
        try:
            task(0)
        finally:
            for _ in self._tasks:
                error = self._results.get() or error
        if error is not None:
            raise error

    def _work(self, index: int) -> None:
        torch.set_num_threads(1)
        while True:
            task = self._tasks[index - 1].get()
            if task is None:
                return
            try:
                task(index)
            except BaseException as error:
                self._results.put(error)
            else:
                self._results.put(None)
            del task

    def close(self) -> None:
        """End the threads."""
        for tasks in self._tasks:
            tasks.put(None)
