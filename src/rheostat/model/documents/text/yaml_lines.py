"""YAML parser that keeps line numbers; it works on parser events and never constructs or runs an object.

Plain scalars follow the YAML 1.2 core schema: only true and false are booleans (a node may be called `no`), 1e3 is a
number, a date is text. Tags are refused. Aliases are allowed up to a limit on the size of the expanded document.
"""

import re
from dataclasses import dataclass, field

import yaml

from rheostat.errors import Located
from rheostat.model.documents.text.written import Scalar, Written, WrittenEntry

MAX_DEPTH = 30
MAX_REPEATED = 100_000
"""Greatest number of values that aliases may add."""

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CONSTANTS: dict[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **{f"{sign}{word}": float(f"{sign}inf") for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")},
}
INTEGER = re.compile(r"[-+]?[0-9]{1,300}$")
OTHER_INTEGER = re.compile(r"0o[0-7]{1,300}$|0x[0-9a-fA-F]{1,300}$")
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$")


def scalar(text: str) -> Scalar:
    """The value of a plain scalar."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if INTEGER.match(text):
        return int(text)
    if OTHER_INTEGER.match(text):
        return int(text, 0)
    return float(text) if FLOAT.match(text) else text


def parse(text: str, file: str) -> tuple[Written | None, list[Located]]:
    """The first document of the text, and its syntax mistakes; None if nothing can be read."""
    if bad := yaml.reader.Reader.NON_PRINTABLE.search(text):
        line = text.count("\n", 0, bad.start()) + 1
        return None, [Located(file, line, f"the character {bad.group()!r} is not text", "write YAML as plain text")]
    builder = _Builder(file)
    try:
        for event in yaml.parse(text, Loader=_Loader):
            if builder.take(event):
                break
    except yaml.MarkedYAMLError as error:
        return None, [*builder.mistakes, _syntax(file, error)]
    return builder.root, builder.mistakes


def _syntax(file: str, error: yaml.MarkedYAMLError) -> Located:
    """The place where the text is not YAML; an unclosed bracket or quote is reported where it was opened."""
    mark, problem = error.problem_mark, str(error.problem)
    remedy = "check the indentation and the quotes"
    if error.context_mark is not None and ("flow" in str(error.context) or "quoted" in str(error.context)):
        mark, remedy = error.context_mark, "close the bracket or the quote that is opened here"
    elif "cannot start any token" in problem:
        remedy = "indent with spaces, not with tabs, and put a text that begins with @ or ` or % in quotes"
    elif "mapping values" in problem:
        remedy = "put a text with ': ' in it in quotes, or check the indentation"
    return Located(file, (mark.line if mark else 0) + 1, f"this is not YAML: {problem}", remedy)


@dataclass(slots=True)
class _Open:
    """A list or mapping whose end has not been reached."""

    node: Written
    anchor: str | None
    key: Written | None = None


@dataclass(slots=True)
class _Builder:
    """Builds the tree of values from the parser's events, without recursion."""

    file: str
    root: Written | None = None
    mistakes: list[Located] = field(default_factory=list)
    stack: list[_Open] = field(default_factory=list)
    anchors: dict[str, Written] = field(default_factory=dict)
    documents: int = 0
    repeated: int = 0

    def take(self, event: yaml.Event) -> bool:
        """Handles one event; True if reading should stop."""
        line = (event.start_mark.line if event.start_mark else 0) + 1
        if isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                self._report(line, "a second document begins here", "write one document per file")
            return self.documents > 1
        if isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent) and event.tag is not None:
            self._report(line, f"the tag {event.tag!r} is not read", "remove it and write a plain value")
        if isinstance(event, yaml.ScalarEvent):
            value = scalar(event.value) if event.implicit[0] else event.value
            self._put(Written(value, line, event.value), event.anchor)
        elif isinstance(event, yaml.AliasEvent):
            return self._repeat(str(event.anchor), line)
        elif isinstance(event, yaml.CollectionStartEvent):
            empty = Written([] if isinstance(event, yaml.SequenceStartEvent) else {}, line)
            self.stack.append(_Open(empty, event.anchor))
            return self._too_deep(0, line)
        elif isinstance(event, yaml.CollectionEndEvent):
            done = self.stack.pop()
            self._put(done.node, done.anchor)
        return False

    def _report(self, line: int, what: str, remedy: str) -> None:
        self.mistakes.append(Located(self.file, line, what, remedy))

    def _too_deep(self, more: int, line: int) -> bool:
        if len(self.stack) + more <= MAX_DEPTH:
            return False
        self._report(
            line, f"this is nested more than {MAX_DEPTH} levels deep", "no document needs that: write it flatter"
        )
        self.root = None
        return True

    def _repeat(self, anchor: str, line: int) -> bool:
        """Expands an alias, unless it refers to itself or the result is too large."""
        if anchor not in self.anchors:
            self._report(line, f"nothing complete is called &{anchor} above this line", "write the value itself")
            self.root = None
            return True
        known = self.anchors[anchor]
        self.repeated += known.size
        if self.repeated > MAX_REPEATED:
            self._report(line, f"aliases expand this to more than {MAX_REPEATED} values", "write without aliases")
            self.root = None
            return True
        if self._too_deep(known.depth, line):
            return True
        self._put(Written(known.value, line, known.text, known.size, known.depth), None)
        return False

    def _put(self, node: Written, anchor: str | None) -> None:
        if anchor is not None:
            self.anchors[anchor] = node
        if not self.stack:
            self.root = node
            return
        around = self.stack[-1]
        around.node.size += node.size
        around.node.depth = max(around.node.depth, node.depth + 1)
        if isinstance(around.node.value, list):
            around.node.value.append(node)
        elif around.key is None:
            around.key = node
        else:
            self._enter(around.node, around.key, node)
            around.key = None

    def _enter(self, mapping: Written, key: Written, content: Written) -> None:
        """Adds a key with its content. Keys are names, so `1:` means the name "1"."""
        if not isinstance(mapping.value, dict):
            raise TypeError(f"only a mapping has keys, got {mapping.value!r}")
        if isinstance(key.value, list | dict):
            self._report(key.line, "a key must be a plain name", "write one name before the colon")
        elif key.text in mapping.value:
            first = mapping.value[key.text].line
            self._report(key.line, f"the key {key.text!r} is already on line {first}", "remove one of the two")
        else:
            mapping.value[key.text] = WrittenEntry(key.line, content)
