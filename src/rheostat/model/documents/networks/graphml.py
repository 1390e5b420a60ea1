"""Parser of GraphML files into nodes and edges, each with its line.

Read by expat's events. A DOCTYPE is refused as soon as it starts, so no entity is ever expanded.
"""

from dataclasses import dataclass, field
from xml.parsers import expat

from rheostat.errors import InvalidDocument, Located


@dataclass(slots=True)
class Vertex:
    """A node of the file, with its data by attribute name."""

    id: str
    line: int
    data: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Edge:
    """An edge between two ids."""

    source: str
    target: str
    line: int
    directed: bool = False
    data: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Graph:
    """Nodes and edges of a file, in its order."""

    vertices: list[Vertex] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)


def parse_graphml(text: str, file: str) -> Graph:
    """The graph in a GraphML text."""
    reader = _Reader(file)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    reader.parser = parser
    parser.StartDoctypeDeclHandler = reader.refuse_doctype
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.characters
    try:
        parser.Parse(text.encode(), True)
    except expat.ExpatError as error:
        what = f"this is not XML: {expat.errors.messages[error.code]}"
        raise InvalidDocument([Located(file, error.lineno, what, "export the file as GraphML once more")]) from None
    if not reader.is_graphml:
        raise InvalidDocument([Located(file, 1, "there is no <graphml> element", "give a GraphML file")])
    return reader.graph


class _Reader:
    """Collects nodes, edges and their data from the parser's events."""

    def __init__(self, file: str) -> None:
        self.graph = Graph()
        self.is_graphml = False
        self.parser = expat.ParserCreate()
        self._file = file
        self._names: dict[str, str] = {}
        self._directed = False
        self._open: Vertex | Edge | None = None
        self._key: str | None = None
        self._text = ""

    def refuse_doctype(self, *_: object) -> None:
        """Rejects a DOCTYPE: entities can expand without limit or read other files, and no GraphML needs them."""
        line = self.parser.CurrentLineNumber
        raise InvalidDocument([Located(self._file, line, "a DOCTYPE is not read", "remove the <!DOCTYPE ...>")])

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Handles the start of an element."""
        tag, line = tag.rpartition(":")[2], self.parser.CurrentLineNumber
        if tag == "graphml":
            self.is_graphml = True
        elif tag == "key":
            self._names[attributes.get("id", "")] = attributes.get("attr.name", "")
        elif tag == "graph":
            self._directed = attributes.get("edgedefault") == "directed"
        elif tag == "node":
            self._open = Vertex(attributes.get("id", ""), line)
            self.graph.vertices.append(self._open)
        elif tag == "edge":
            directed = {"true": True, "false": False}.get(attributes.get("directed", ""), self._directed)
            self._open = Edge(attributes.get("source", ""), attributes.get("target", ""), line, directed)
            self.graph.edges.append(self._open)
        elif tag == "data":
            self._key, self._text = self._names.get(attributes.get("key", "")), ""

    def characters(self, text: str) -> None:
        """Collects text inside an element."""
        if self._key is not None:
            self._text += text

    def end(self, tag: str) -> None:
        """Handles the end of an element."""
        tag = tag.rpartition(":")[2]
        if tag == "data" and self._key is not None:
            if self._open is not None:
                self._open.data[self._key] = self._text.strip()
            self._key = None
        elif tag in ("node", "edge"):
            self._open = None
