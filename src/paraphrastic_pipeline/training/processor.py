"""An instruction of processors that numba does not offer."""

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numba.np import arrayobj


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
