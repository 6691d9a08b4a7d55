"""Test that each package imports only from lower floors and that no modules import each other in a circle."""

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

import paraphrastic

PACKAGE = Path(paraphrastic.__file__).parent
# The floors of docs/architecture.md, lowest first. Packages on the same floor do not import each other.
FLOORS = [
    {"base"},
    {"registry"},
    {"config"},
    {"model", "corpus"},
    {"training", "neighbours", "systems"},
    {"evaluation"},
    {"report", "interop"},
    {"pipeline"},
    {"cli"},
]
FLOOR = {package: number for number, floor in enumerate(FLOORS) for package in floor}


def modules() -> dict[str, Path]:
    files = {path: path.relative_to(PACKAGE.parent).with_suffix("") for path in PACKAGE.rglob("*.py")}
    return {".".join(name.parts).removesuffix(".__init__"): path for path, name in files.items()}


def imports(path: Path, known: dict[str, Path]) -> Iterator[str]:
    """Yield the package's modules that a module imports: at its top, inside functions, or only for types."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: imports relatively"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found = [name if name in known else node.module for name in names]
            yield from (name for name in found if name in known)


MODULES = modules()
IMPORTS = {name: set(imports(path, MODULES)) for name, path in MODULES.items()}


def test_every_package_has_its_floor() -> None:
    packages = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}
    assert packages == FLOOR.keys()
    assert [path.name for path in PACKAGE.glob("*.py")] == ["__init__.py"], "a module lies loose in the root"


@pytest.mark.parametrize("module", sorted(MODULES.keys() - {"paraphrastic"}))
def test_a_module_imports_its_own_package_and_floors_below(module: str) -> None:
    own = module.split(".")[1]
    for imported in IMPORTS[module]:
        assert imported != "paraphrastic", "the facade is for users"
        other = imported.split(".")[1]
        assert other == own or FLOOR[other] < FLOOR[own], f"{module} imports {imported}"


def test_nothing_imports_in_a_circle() -> None:
    try:
        TopologicalSorter(IMPORTS).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


ROOT = PACKAGE.parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


# Programs that nothing imports, so that no other test notices names that are gone from the library.
PROGRAMS = sorted([*(ROOT / "benchmarks").glob("*.py"), *(ROOT / "docs").glob("*.py")])


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
def test_what_a_program_imports_is_there(program: Path) -> None:
    for node in ast.walk(ast.parse(program.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "paraphrastic":
            for alias in node.names:
                module = f"{node.module}.{alias.name}"
                assert module in MODULES or hasattr(import_module(str(node.module)), alias.name), module


def test_the_page_of_the_architecture_draws_these_floors() -> None:
    drawing = re.search(r"```\n( 8 .*?)```", PAGE, re.DOTALL)
    assert drawing, "the page has no drawing of the floors"
    drawn = {int(line.split()[0]): set(line.split()) for line in drawing[1].splitlines()}
    assert {number: words & FLOOR.keys() for number, words in drawn.items()} == dict(enumerate(FLOORS))


@pytest.mark.parametrize("package", sorted(FLOOR))
def test_the_page_names_where_a_package_is_entered(package: str) -> None:
    row = re.search(rf"^\| `{package}` \|.*\|(.*)\|$", PAGE, re.MULTILINE)
    assert row, f"the page has no row for {package}"
    for entry in re.findall(r"`([\w.]+)`", row[1]):
        module, name = f"paraphrastic.{package}.{entry}".rsplit(".", 1)
        tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
        targets = [target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
        names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        assert name in names | {target.id for target in targets if isinstance(target, ast.Name)}, entry
