"""Test that the library stands alone, and that each package imports only from lower floors, in no circle."""

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src"
# The wings of docs/architecture.md and their floors, lowest first. Packages on one floor do not import each
# other, and the library never imports the pipeline.
LIBRARY, PIPELINE = "paraphrastic", "paraphrastic_pipeline"
FLOORS = {
    LIBRARY: [{"base"}, {"model"}, {"neighbours", "systems"}, {"quality"}, {"interop"}, {"cli"}],
    PIPELINE: [
        {"base"},
        {"registry"},
        {"settings"},
        {"corpus"},
        {"training"},
        {"evaluation"},
        {"report"},
        {"workflow"},
        {"cli"},
    ],
}
FLOOR = {
    (wing, package): number
    for wing, floors in FLOORS.items()
    for number, floor in enumerate(floors)
    for package in floor
}


def modules() -> dict[str, Path]:
    paths = [path for wing in FLOORS for path in (SOURCES / wing).rglob("*.py")]
    names = {path: path.relative_to(SOURCES).with_suffix("") for path in paths}
    return {".".join(name.parts).removesuffix(".__init__"): path for path, name in names.items()}


def imports(path: Path, known: dict[str, Path]) -> Iterator[str]:
    """Yield the modules of ours that a module imports: at its top, inside functions, or only for types."""
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


@pytest.mark.parametrize("wing", FLOORS)
def test_every_package_has_its_floor(wing: str) -> None:
    packages = {path.name for path in (SOURCES / wing).iterdir() if (path / "__init__.py").is_file()}
    assert packages == {package for floor in FLOORS[wing] for package in floor}
    loose = [path.name for path in (SOURCES / wing).glob("*.py")]
    assert loose == ["__init__.py"], "a module lies loose in the root"


@pytest.mark.parametrize("module", sorted(MODULES.keys() - FLOORS.keys()))
def test_a_module_imports_its_own_package_and_floors_below(module: str) -> None:
    wing, package = module.split(".")[:2]
    for imported in IMPORTS[module]:
        assert imported not in FLOORS, "the facade is for users"
        other_wing, other = imported.split(".")[:2]
        below = (wing, other_wing) == (PIPELINE, LIBRARY) or (
            wing == other_wing and (other == package or FLOOR[wing, other] < FLOOR[wing, package])
        )
        assert below, f"{module} imports {imported}"


def test_the_library_does_not_even_name_the_pipeline() -> None:
    named = [name for name, path in MODULES.items() if PIPELINE in path.read_text(encoding="utf-8")]
    assert not [name for name in named if name.split(".")[0] == LIBRARY]


def test_nothing_imports_in_a_circle() -> None:
    try:
        TopologicalSorter(IMPORTS).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


# Programs that nothing imports, so that no other test notices names that are gone from our packages.
PROGRAMS = sorted([*(ROOT / "benchmarks").glob("*.py"), *(ROOT / "docs").glob("*.py")])


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
def test_what_a_program_imports_is_there(program: Path) -> None:
    for node in ast.walk(ast.parse(program.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] in FLOORS:
            for alias in node.names:
                module = f"{node.module}.{alias.name}"
                assert module in MODULES or hasattr(import_module(str(node.module)), alias.name), module


def rows_of(wing: str) -> list[tuple[str, str, str]]:
    """Return the floor, the package and its entries, as the page of the architecture has them for a wing."""
    table = PAGE.split(f"`src/{wing}/`")[1].split("\n\n")[1]
    return re.findall(r"^\| (\d) \| `(\w+)` \|.*\|(.*)\|$", table, re.MULTILINE)


@pytest.mark.parametrize("wing", FLOORS)
def test_the_page_of_the_architecture_has_these_floors(wing: str) -> None:
    assert {package: int(floor) for floor, package, _ in rows_of(wing)} == {
        package: floor for floor, packages in enumerate(FLOORS[wing]) for package in packages
    }


@pytest.mark.parametrize(
    ("wing", "package", "entries"), [(wing, *row[1:]) for wing in FLOORS for row in rows_of(wing)]
)
def test_the_page_names_where_a_package_is_entered(wing: str, package: str, entries: str) -> None:
    for entry in re.findall(r"`([\w.]+)`", entries):
        module, name = f"{wing}.{package}.{entry}".rsplit(".", 1)
        tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
        targets = [target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
        names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        assert name in names | {target.id for target in targets if isinstance(target, ast.Name)}, entry
