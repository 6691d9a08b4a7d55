"""Test that functions are short enough to be read at once."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINES, PARAMETERS = 80, 11
Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions() -> Iterator[tuple[str, Function]]:
    paths = [path for folder in ("src", "workflow") for path in sorted((ROOT / folder).rglob("*.py"))]
    assert len(paths) > 200
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, Function):
                yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name}", node


def parameters(function: Function) -> set[str]:
    arguments = function.args
    every = [
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        arguments.vararg,
        arguments.kwarg,
    ]
    return {argument.arg for argument in every if argument} - {"self", "cls"}


def test_no_function_is_long() -> None:
    assert [name for name, node in functions() if node.end_lineno - node.lineno >= LINES] == []


def test_only_compiled_kernels_have_many_parameters() -> None:
    many = {name: node for name, node in functions() if len(parameters(node)) > PARAMETERS}
    kernels = {
        name
        for name, node in many.items()
        if any(ast.unparse(decorator).startswith("jit") for decorator in node.decorator_list)
    }
    assert sorted(many.keys() - kernels) == []
    # Otherwise the test would not see decorators.
    assert kernels
