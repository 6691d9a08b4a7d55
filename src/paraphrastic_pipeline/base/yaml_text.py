"""Reading and writing YAML: numbers and keys mean what people take them for, and no text is too much."""

import re
from typing import Any

import yaml
from yaml import MarkedYAMLError

from paraphrastic.base.numbers import NUMBER
from paraphrastic_pipeline.base.yaml_bounds import Bounds, RefusedError

_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
# The schema refuses these, and says why.
_NOT_FINITE = re.compile(r"[+-]?\.(?:inf|nan)", re.I)
# Line breaks of YAML 1.1, which PyYAML writes as they are, and which other readers do not know as breaks; and
# lines of a text that a careless reader takes for the end of a front matter.
_MISREAD = re.compile("[\x85\u2028\u2029]|^ *(?:---|\\.\\.\\.)", re.MULTILINE)


class _Loader(yaml.SafeLoader):
    """Refuses a key that is given twice, of which YAML's own loader would keep the last value.

    Refuses numbers, too, if people read them otherwise: YAML reads `1:30` as 90, `010` as 8, `1_0` as 10.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._bounds = Bounds()

    def get_event(self) -> Any:
        event = super().get_event()
        self._bounds.follow(event)
        return event

    def compose_scalar_node(self, anchor: Any) -> yaml.ScalarNode:
        node = super().compose_scalar_node(anchor)
        if node.tag in _NUMBERS and not _NOT_FINITE.fullmatch(node.value):
            value = self.construct_object(node)
            if not NUMBER.fullmatch(node.value) or type(value)(node.value) != value:
                cause = f"YAML reads {node.value} as {value}; write {value}, or '{node.value}' if it is text"
                raise RefusedError(problem=cause, problem_mark=node.start_mark)
        return node

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        lines: dict[str, int] = {}
        for key, _ in node.value:
            # A mapping may merge several others, each with the key `<<`.
            if isinstance(key, yaml.ScalarNode) and key.value != "<<":
                if key.value in lines:
                    problem = f"the key {key.value!r} is already given in line {lines[key.value]}"
                    raise MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
                lines[key.value] = key.start_mark.line + 1
        return node


def read_yaml(text: str) -> Any:
    """The value of a YAML text.

    Raises:
        RefusedError: a number is not written as people write numbers, or a bound of `Bounds` is exceeded.
        yaml.YAMLError: the text is not YAML, or gives a key twice.
        ValueError: a date or a number does not exist.
    """
    return _Loader(text).get_single_data()


def write_yaml(value: Any, *, width: int = 80, block: bool = False) -> str:
    """A YAML text that reads back as `value`, also by other readers than PyYAML.

    Lists and mappings of plain values stand on one line, unless all are to be in `block` style.
    """
    style = False if block else None
    layout: dict[str, Any] = {"sort_keys": False, "default_flow_style": style, "width": width}
    text: str = yaml.safe_dump(value, allow_unicode=True, **layout)
    return yaml.safe_dump(value, default_style='"', **layout) if _MISREAD.search(text) else text
