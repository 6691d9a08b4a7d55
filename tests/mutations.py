"""Changes of single lines that a good test notices, and a seeded sample of them."""

import ast
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).resolve().parents[1] / "src"
COMPARISONS = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
OPERATORS = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "/", ast.Mod: "*", ast.Pow: "*",
    ast.LShift: ">>", ast.RShift: "<<", ast.BitAnd: "|", ast.BitOr: "&",
}  # fmt: skip
NAMES = {
    "min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum",
    "argmin": "argmax", "argmax": "argmin", "floor": "ceil", "ceil": "floor", "zeros": "ones",
    "startswith": "endswith", "endswith": "startswith", "lstrip": "rstrip", "rstrip": "lstrip",
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One changed line of a module: `line` counts from 1."""

    module: str
    line: int
    before: str
    after: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from others, however the lines above it change."""
        return self.module, self.before.strip(), self.after.strip()


class Changes(ast.NodeVisitor):
    """Collects changes of single lines as (line, first column, last column, new text), in bytes."""

    def __init__(self, source: str) -> None:
        self.lines = source.split("\n")
        self.found: list[tuple[int, int, int, str]] = []
        self.visit(ast.parse(source))

    def text(self, node: ast.AST) -> str:
        node: Any = node
        return self.lines[node.lineno - 1].encode()[node.col_offset : node.end_col_offset].decode()

    def add(self, node: Any, new: str) -> None:
        if node.lineno == node.end_lineno:
            self.found.append((node.lineno, node.col_offset, node.end_col_offset, new))

    def between(self, left: Any, right: Any, new: str) -> None:
        """Replace the operator between two expressions, and keep the brackets around it."""
        if left.end_lineno != right.lineno:
            return
        line = self.lines[right.lineno - 1].encode()
        middle = line[left.end_col_offset : right.col_offset].decode()
        first, last = len(middle) - len(middle.lstrip(" )")), len(middle.rstrip(" ("))
        start = left.end_col_offset + first
        self.found.append((right.lineno, start, left.end_col_offset + last, new))

    def visit_Compare(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        for left, right, operator in zip(sides, sides[1:], node.ops, strict=False):
            self.between(left, right, COMPARISONS[type(operator)])
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        joined = any(isinstance(side, ast.JoinedStr) or isinstance(getattr(side, "value", None), str)
                     for side in (node.left, node.right))  # fmt: skip
        if type(node.op) in OPERATORS and not joined:
            self.between(node.left, node.right, OPERATORS[type(node.op)])
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for left, right in zip(node.values, node.values[1:], strict=False):
            self.between(left, right, "or" if isinstance(node.op, ast.And) else "and")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.USub):
            self.add(node, self.text(node.operand) if node.operand.lineno == node.end_lineno else "")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self.add(node, str(not node.value))
        elif isinstance(node.value, int):
            self.add(node, str(node.value + 1))
            self.add(node, f"({node.value - 1})")
        elif isinstance(node.value, float):
            self.add(node, repr(node.value * 1.5 if node.value else 1.0))

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in NAMES:
            self.add(node, NAMES[node.id])

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr in NAMES and node.end_lineno == node.value.end_lineno:
            end = node.end_col_offset
            self.found.append((node.end_lineno, end - len(node.attr.encode()), end, NAMES[node.attr]))
        self.generic_visit(node)

    def visit_Slice(self, node: ast.Slice) -> None:
        for bound in (node.lower, node.upper, node.step):
            if bound is not None:
                self.add(bound, "")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if _is_of_log(node):
            return
        for keyword in node.keywords:
            if keyword.arg in ("key", "kind", "stable", "reverse") and keyword.lineno == keyword.end_lineno:
                self.add(keyword, "")
        # `strict` of `zip` is an assertion, which no input reaches.
        for part in (node.func, *node.args, *(each.value for each in node.keywords if each.arg != "strict")):
            self.visit(part)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave out messages."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for default in [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]:
            self.visit(default)
        for statement in node.body:
            self.visit(statement)

    def visit_If(self, node: ast.If) -> None:
        if not _is_about_types(node.test):
            self.add(node.test, f"not ({self.text(node.test)})")
            self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.add(node.test, f"not ({self.text(node.test)})")
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call) and not _is_of_log(node.value):
            self.add(node, "pass")
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.add(node, "pass")
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and not isinstance(node.value, ast.Constant):
            self.add(node, "return None")
        self.generic_visit(node)

    def visit_Continue(self, node: ast.Continue) -> None:
        self.add(node, "break")

    def visit_Break(self, node: ast.Break) -> None:
        self.add(node, "continue")


def _is_of_log(call: ast.Call) -> bool:
    """Whether a call writes a message, whose words and numbers no test holds."""
    function = call.func
    return isinstance(function, ast.Attribute) and getattr(function.value, "id", None) == "log"


def _is_about_types(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


def mutants_of(path: Path) -> Iterator[Mutant]:
    """All changes of a module, some of which may not compile."""
    lines = path.read_text().split("\n")
    for number, start, stop, new in sorted(set(Changes(path.read_text()).found)):
        raw = lines[number - 1].encode()
        after = (raw[:start] + new.encode() + raw[stop:]).decode()
        yield Mutant(str(path.relative_to(SOURCES)), number, lines[number - 1], after)


def compiles(mutant: Mutant) -> bool:
    """Whether a module with this change is still Python."""
    try:
        compile(changed(SOURCES / mutant.module, mutant), mutant.module, "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def changed(path: Path, mutant: Mutant) -> str:
    """The source in `path` with this change."""
    lines = path.read_text().split("\n")
    lines[mutant.line - 1] = mutant.after
    return "\n".join(lines)


def drawn(modules: list[Path], *, sample: int, seed: int) -> list[Mutant]:
    """Draw lines, and one change of each."""
    by_line: dict[tuple[str, int], list[Mutant]] = defaultdict(list)
    for module in modules:
        for mutant in mutants_of(module):
            by_line[mutant.module, mutant.line].append(mutant)
    generator = random.Random(seed)
    result: list[Mutant] = []
    for line in generator.sample(sorted(by_line), len(by_line)):
        changes = generator.sample(by_line[line], len(by_line[line]))
        result += list(filter(compiles, changes))[:1]
        if len(result) == sample:
            break
    return result
