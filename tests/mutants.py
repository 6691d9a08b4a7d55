"""Change single lines of the library, and see whether its tests notice: `python tests/mutants.py`.

A seeded sample of lines is drawn, and each is changed in one way: a comparison, an operator, a number, a
condition, the end of a slice or a whole statement. The tests that execute the line then run on a copy of the
repository, the fastest first, until one fails; the mutant survives if none does. Lines of compiled kernels
leave no trace in coverage, so their tests are those of the functions that call the module.

    python tests/mutants.py --sample 400 --seed 1 --output mutants.json
    python tests/mutants.py --again mutants.json       # try the survivors again, also on new tests
    python tests/mutants.py --module paraphrastic/neighbours/bounds --sample 50

The first run measures which tests execute which lines and keeps that in `--coverage`; delete the file when
the sources have changed. A test that fails without the mutant, too, does not count. A survivor is tried again
on whole files of tests. tests/equivalent_mutants.tsv holds mutants that compute the same, so that no test can
kill them; they do not count either.
"""

import argparse
import csv
import json
import multiprocessing
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest
from coverage.numbits import numbits_to_nums

from mutations import SOURCES, Mutant, changed, drawn

ROOT = Path(__file__).resolve().parents[1]
EQUIVALENT = ROOT / "tests" / "equivalent_mutants.tsv"
OURS = ("paraphrastic", "paraphrastic_pipeline")
PACKAGES = (
    *(f"paraphrastic/{name}" for name in ("model", "neighbours", "interop")),
    *(f"paraphrastic_pipeline/{name}" for name in ("training", "corpus", "evaluation", "registry")),
)


class Durations:
    """A plugin that notes the seconds of each test."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += report.duration


def measure(file: Path, workers: int) -> None:
    """Run the tests of the library, and keep which of them execute which lines, and their seconds."""
    durations = Durations()
    measured = [argument for package in OURS for argument in ("--cov", str(SOURCES / package))]
    arguments = ["tests/unit", "-q", "-n", str(workers), "--dist", "loadgroup", *measured]
    os.environ["COVERAGE_FILE"] = str(file)
    os.environ["COVERAGE_CORE"] = "ctrace"
    pytest.main([*arguments, "--cov-context=test", "--cov-report="], plugins=[durations])
    _seconds_file(file).write_text(json.dumps(durations.seconds))


def _seconds_file(coverage: Path) -> Path:
    """The file beside a measurement with the seconds of each test."""
    return coverage.with_suffix(".seconds.json")


class Tests:
    """The tests that execute a line, by the measurement in `file`."""

    def __init__(self, file: Path, *, budget: float) -> None:
        self.budget = budget
        self.seconds: dict[str, float] = json.loads(_seconds_file(file).read_text())
        self.by_line: dict[tuple[str, int], set[str]] = defaultdict(set)
        with sqlite3.connect(file) as database:
            names = dict(database.execute("SELECT id, context FROM context"))
            files = dict(database.execute("SELECT id, path FROM file"))
            for number, context, bits in database.execute(
                "SELECT file_id, context_id, numbits FROM line_bits"
            ):
                test, _, _ = names[context].rpartition("|")
                if not test or not files[number].startswith(f"{SOURCES}{os.sep}"):
                    continue
                module = str(Path(files[number]).relative_to(SOURCES))
                for line in numbits_to_nums(bits):
                    self.by_line[module, line].add(test)
        self.by_module: dict[str, set[str]] = defaultdict(set)
        for (module, _), tests in self.by_line.items():
            self.by_module[module] |= tests

    def of(self, mutant: Mutant, *, whole_files: bool = False) -> list[str]:
        """The tests of a mutant within the budget, or their files; those of the module itself come first."""
        tests = self.by_line.get((mutant.module, mutant.line), set())
        if not tests:
            tests = set(self.by_module.get(mutant.module, set()))
            for user in _users(mutant.module):
                tests |= self.by_module.get(user, set())
        name = Path(mutant.module).stem
        order = sorted(tests, key=lambda test: (f"{name}.py" not in test, self.seconds.get(test, 1.0), test))
        chosen, total = [], 0.0
        for test in order:
            total += self.seconds.get(test, 1.0)
            if total > self.budget and chosen:
                break
            chosen.append(test)
        return list(dict.fromkeys(test.partition("::")[0] for test in chosen)) if whole_files else chosen


def _users(module: str) -> list[str]:
    """The modules that import this one."""
    name = module.removesuffix(".py").replace("/", ".")
    paths = [path for path in SOURCES.rglob("*.py") if f"from {name} import" in path.read_text()]
    return [str(path.relative_to(SOURCES)) for path in paths]


@dataclass
class Copy:
    """A copy of the repository, in which mutants are tried."""

    folder: Path
    limit: float
    """Seconds until the tests of a mutant count as failed."""

    def __post_init__(self) -> None:
        listed = ["git", "ls-files", "-co", "--exclude-standard"]
        files = subprocess.check_output(listed, cwd=ROOT, text=True).splitlines()
        # What numba has compiled saves minutes.
        compiled = [str(path.relative_to(ROOT)) for path in (ROOT / "src").rglob("*.nb[ic]")]
        for name in [name for name in files + compiled if (ROOT / name).is_file()]:
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, self.folder / name)
        self.passes: dict[str, bool] = {}

    def judge(self, mutant: Mutant, tests: list[str]) -> str:
        """`killed`, `survived` or `untested`; tests that fail without the mutant, too, do not count."""
        path = self.folder / "src" / mutant.module
        source, times = path.read_text(), (path.stat().st_atime_ns, path.stat().st_mtime_ns)
        while tests := [test for test in tests if self.passes.get(test, True)]:
            path.write_text(changed(path, mutant))
            try:
                failed = self._failed(tests)
            finally:
                path.write_text(source)
                os.utime(path, ns=times)
            if failed is None:
                return "survived"
            if failed not in self.passes:
                self.passes[failed] = self._failed([failed]) is None
            if self.passes[failed]:
                return "killed"
        return "untested"

    def _failed(self, tests: list[str]) -> str | None:
        """Run tests in a fork until one fails, and return its name; the first one's if none was even run."""
        listed, told = self.folder / "tests.txt", self.folder / "failed.txt"
        listed.write_text("\n".join(tests))
        told.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            os.setsid()
            _run_tests(self.folder, listed, told)
        end = time.monotonic() + self.limit
        while time.monotonic() < end:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                break
            time.sleep(0.02)
        else:
            status = 1
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
        if status == 0:
            return None
        return told.read_text() if told.exists() else tests[0]


class FirstFailure:
    """A plugin that writes down which test is running; after a failure or a crash, it is the failed one."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.file.write_text(nodeid)


def _run_tests(folder: Path, listed: Path, told: Path) -> None:
    """Run tests in this process and leave it with pytest's exit code."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.chdir(folder)
    sys.path[:0] = [str(folder / "src")]
    os.environ["PYTHONPATH"] = str(folder / "src")
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:cov", f"--basetemp={folder / 'made'}"]
    os._exit(int(pytest.main([*options, f"@{listed}"], plugins=[FirstFailure(told)])))


def work(jobs: Any, results: Any, tests_of: dict[Mutant, list[str]], limit: float) -> None:
    """Try mutants in a copy of the repository until there are none left."""
    # What no mutant changes is imported once; the tests of each mutant then run in a fork.
    import h5py, numba, numpy, pyarrow, scipy.stats, sentencepiece, torch, yaml  # noqa: E401, F401, I001

    with tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True) as folder:
        copy = Copy(Path(folder), limit)
        while (mutant := jobs.get()) is not None:
            start = time.monotonic()
            results.put((mutant, copy.judge(mutant, tests_of[mutant]), time.monotonic() - start))


def main() -> None:
    """Draw, run and report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sample", type=int, default=400, help="lines to change")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--module", action="append", help="a module or a package, such as paraphrastic/model")
    parser.add_argument("--again", type=Path, help="run the survivors of this report again")
    parser.add_argument("--coverage", type=Path, default=ROOT / "results" / "mutants.coverage")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--budget", type=float, default=60.0, help="seconds of tests for one mutant")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds until a mutant counts as killed")
    parser.add_argument("--output", type=Path, default=ROOT / "results" / "mutants.json")
    options = parser.parse_args()
    if not options.coverage.exists():
        options.coverage.parent.mkdir(parents=True, exist_ok=True)
        measure(options.coverage, options.workers)
    tests = Tests(options.coverage, budget=options.budget)
    if options.again:
        report = json.loads(options.again.read_text())
        mutants = [
            Mutant(**row) for row in report if row.pop("result") != "killed" and row.pop("seconds") >= 0
        ]
    else:
        named = options.module or PACKAGES
        modules = [path for path in sorted(SOURCES.rglob("*.py"))
                   if any(str(path.relative_to(SOURCES)).startswith(name) for name in named)]  # fmt: skip
        mutants = drawn(modules, sample=options.sample, seed=options.seed)
    with EQUIVALENT.open() as file:
        equivalent = {
            (row["module"], row["before"], row["after"]) for row in csv.DictReader(file, delimiter="\t")
        }
    context = multiprocessing.get_context("spawn")
    jobs, results = context.Queue(), context.Queue()
    # A run that was stopped goes on where it was.
    rows = json.loads(options.output.read_text()) if options.output.exists() and not options.again else []
    done = {(row["module"], row["before"].strip(), row["after"].strip()) for row in rows}
    todo = [mutant for mutant in mutants if mutant.key not in equivalent | done]
    for mutant in todo:
        jobs.put(mutant)
    for _ in range(options.workers):
        jobs.put(None)
    tests_of = {mutant: tests.of(mutant, whole_files=bool(options.again)) for mutant in todo}
    processes = [
        context.Process(target=work, args=(jobs, results, tests_of, options.limit))
        for _ in range(options.workers)
    ]
    for process in processes:
        process.start()
    for number in range(len(todo)):
        mutant, result, seconds = results.get()
        rows.append({**asdict(mutant), "result": result, "seconds": round(seconds, 1)})
        options.output.write_text(json.dumps(rows, indent=1))
        if result != "killed":
            print(f"{result} ({number + 1} of {len(todo)}): {mutant.module}:{mutant.line}\n"
                  f"  - {mutant.before.strip()}\n  + {mutant.after.strip()}", flush=True)  # fmt: skip
    for process in processes:
        process.join()
    killed = sum(row["result"] == "killed" for row in rows)
    print(f"{killed} of {len(rows)} mutants were killed ({killed / max(1, len(rows)):.1%}); "
          f"{sum(mutant.key in equivalent for mutant in mutants)} more compute the same")  # fmt: skip


if __name__ == "__main__":
    main()
