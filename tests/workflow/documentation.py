"""The program that writes the pages that follow from the code."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

_SPEC = spec_from_file_location("generate", Path(__file__).resolve().parents[2] / "docs/generate.py")
assert _SPEC
assert _SPEC.loader
generate = module_from_spec(_SPEC)
_SPEC.loader.exec_module(generate)
