"""What a file of Python code defines, and which names each of its definitions uses."""

import ast
import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

# The name of the statements that define nothing, and run whenever the module is imported.
ALWAYS = ""
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Definition = _Function | ast.ClassDef
_Assignment = ast.Assign | ast.AnnAssign | ast.AugAssign
_Import = ast.Import | ast.ImportFrom


class Part(NamedTuple):
    """What counts of a definition.

    Args:
        code: a digest of its code and of the full names of what it uses from elsewhere.
        uses: the names that it uses: `.name` for one of the same file, or a full name from our packages.
        texts: its texts that can name a module, for example to run in its own process, or a file.
    """

    code: str
    uses: list[str]
    texts: list[str]


class Source(NamedTuple):
    """What counts of a file: a digest of it, what it defines, and the names of our code that it imports."""

    sha256: str
    parts: dict[str, Part]
    imports: dict[str, str]

    @classmethod
    def of_json(cls, fields: Sequence[Any]) -> "Source":
        """Read a source as `json` writes it."""
        sha256, parts, imports = fields
        return cls(sha256, {name: Part(*part) for name, part in parts.items()}, imports)


def parse(content: bytes, sha256: str, packages: Collection[str]) -> Source:
    """Take a file apart.

    A statement that gives no name its value, such as a call, belongs to `ALWAYS`; one that does so in a
    condition, a loop or the like belongs to both. Types of arguments and results, docstrings and the imports
    of `if TYPE_CHECKING` are no code.
    """
    tree = ast.parse(content)
    _leave_out_what_does_not_count(tree)
    running = [statement for statement in tree.body if not _only_types(statement)]
    imports = _imports(_nodes(running, functions=False))
    statements: dict[str, list[ast.stmt]] = {}
    for statement in running:
        for name in _bound(statement):
            statements.setdefault(name, []).append(statement)
    parts = {name: _part(body, imports, set(statements), packages) for name, body in statements.items()}
    # Those for types say where a package finds what it loads late.
    imports |= _imports(_nodes([statement for statement in tree.body if _only_types(statement)]))
    ours = {name: full for name, full in imports.items() if full.split(".")[0] in packages}
    return Source(sha256, parts, ours)


def _leave_out_what_does_not_count(tree: ast.Module) -> None:
    """Leave out docstrings, also those of attributes, and the types of what is no attribute of a class."""
    nodes = [*ast.walk(tree)]
    attributes = {id(node) for parent in nodes if isinstance(parent, ast.ClassDef) for node in parent.body}
    for node in nodes:
        if isinstance(node, ast.Module | _Definition):
            node.body = [
                statement
                for statement in node.body
                if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
            ]
        if isinstance(node, _Function):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.AnnAssign) and id(node) not in attributes:
            node.annotation = ast.Constant(None)


def _imports(nodes: Iterable[ast.AST]) -> dict[str, str]:
    """Full names by the names that statements import them as."""
    found: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            # `import a.b` makes `a` known, and `import a.b as c` makes `a.b` known as `c`.
            known = ((alias.asname, alias.name) for alias in node.names)
            found |= dict((given, full) if given else (full.split(".")[0],) * 2 for given, full in known)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return found


def _nodes(body: Sequence[ast.AST], *, functions: bool = True) -> Iterator[ast.AST]:
    """All nodes of some code, but of names with attributes only the whole, and of functions only if asked."""
    waiting = [*body]
    while waiting:
        node = waiting.pop()
        yield node
        if not _dotted(node) and (functions or not isinstance(node, _Definition)):
            waiting += ast.iter_child_nodes(node)


def _only_types(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and _dotted(statement.test).split(".")[-1] == "TYPE_CHECKING"


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a statement of a module defines, and `ALWAYS` unless it does nothing else."""
    nodes = [*_nodes([statement], functions=False)]
    names = {node.name for node in nodes if isinstance(node, _Definition)}
    names |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    targets = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
    plain = isinstance(statement, _Assignment) and all(isinstance(to, ast.Name | ast.Tuple) for to in targets)
    return names if plain or isinstance(statement, _Definition | _Import) else {*names, ALWAYS}


def _part(
    body: Sequence[ast.stmt], imports: Mapping[str, str], defined: set[str], packages: Collection[str]
) -> Part:
    nodes = [*_nodes(body)]
    known = {**imports, **_imports(nodes)}
    uses, texts = set(), set()
    for node in nodes:
        if isinstance(node, ast.Constant) and re.fullmatch(r"\w+(\.\w+)+", str(node.value)):
            texts.add(str(node.value))
        first, *attributes = _dotted(node).split(".")
        if first in known:
            uses.add(".".join([known[first], *attributes]))
        elif first in defined:
            uses.add(f".{first}")
    code = hashlib.sha256("\n".join([*map(ast.dump, body), *sorted(uses)]).encode()).hexdigest()
    ours = {name for name in uses if name.split(".")[0] in ("", *packages)}
    return Part(code, sorted(ours), sorted(texts))


def _dotted(node: ast.AST) -> str:
    """A name with attributes, such as `module.function`; nothing for other expressions."""
    if isinstance(node, ast.Attribute):
        base = _dotted(node.value)
        return base and f"{base}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""
