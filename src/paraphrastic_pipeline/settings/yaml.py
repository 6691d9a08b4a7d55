"""Reading and writing YAML: keys and numbers mean what people take them for, and no text is too much.

Snakemake's logger loads this file by itself, so it imports nothing of this package.
"""

import re
from typing import Any

import yaml
from yaml import MappingNode, MarkedYAMLError, Node, ScalarNode

# A few lines of aliases of aliases can stand for billions of values.
MOST_VALUES = 1_000_000
# With this key, Snakemake runs expressions in a configuration (https://yte-template-engine.github.io).
_RUNS_CODE = "__use_yte__"
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
# Numbers as people write them. YAML reads `1:30` as 90, `010` as 8 and `1_0` as 10.
_WRITTEN = re.compile(r"[-+]?(0|[1-9]\d*|\d*\.\d+|\d+\.\d*)([eE][-+]?\d+)?|[-+]?\.(inf|nan)", re.IGNORECASE)
# Line breaks of YAML 1.1 that other readers do not know, and lines that a careless one takes for an end.
_MISREAD = re.compile("[\x85\u2028\u2029]|^ *(?:---|\\.\\.\\.)", re.MULTILINE)


def read_yaml(text: str) -> Any:
    """The value of a YAML text.

    Raises:
        yaml.YAMLError: the text is not YAML, gives a key twice, is nested too deeply or stands for too much.
        ValueError: a date or a number does not exist.
    """
    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _check(node, {})
        return loader.construct_document(node)
    except RecursionError:
        raise MarkedYAMLError(problem="lists and mappings are nested too deeply") from None


def _check(node: Node, sizes: dict[int, int]) -> int:
    """The number of values that a node stands for; what people would read otherwise is refused."""
    if id(node) in sizes:
        return sizes[id(node)]
    size, keys = 1, set[str | None]()
    if isinstance(node, ScalarNode):
        if node.value == _RUNS_CODE:
            raise _fault(node, f"with {_RUNS_CODE}, Snakemake would run code in this file; remove it")
        if node.tag in _NUMBERS and not _WRITTEN.fullmatch(node.value):
            raise _fault(node, f"{node.value} is no plain number; write it out, or in quotes if it is text")
    else:
        for item in node.value:
            if isinstance(node, MappingNode):
                key = item[0].value if isinstance(item[0], ScalarNode) else None
                # A mapping may merge several others, each with the key `<<`.
                if key in keys - {None, "<<"}:
                    raise _fault(item[0], f"the key {key!r} is given twice")
                keys.add(key)
            size += sum(_check(each, sizes) for each in (item if isinstance(item, tuple) else (item,)))
    if size > MOST_VALUES:
        raise _fault(node, f"aliases repeat more than {MOST_VALUES:,} values")
    sizes[id(node)] = size
    return size


def _fault(node: Node, problem: str) -> MarkedYAMLError:
    return MarkedYAMLError(problem=problem, problem_mark=node.start_mark)


def write_yaml(value: Any, *, width: int = 80, block: bool = False) -> str:
    """A YAML text that reads back as `value`, also by other readers than PyYAML.

    Lists and mappings of plain values stand on one line, unless all are to be in `block` style.
    """
    layout: dict[str, Any] = {"sort_keys": False, "default_flow_style": False if block else None}
    text: str = yaml.safe_dump(value, width=width, allow_unicode=True, **layout)
    return yaml.safe_dump(value, width=width, default_style='"', **layout) if _MISREAD.search(text) else text
