"""The import graph of the package keeps to docs/architecture.md: down only, and no
circle."""

import ast
import re
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import litepyramid
from litepyramid import meta

ROOT = Path(litepyramid.__file__).resolve().parent

# Ground floor first: a room imports only rooms that stand before it.
# fmt: off
FLOORS = [
    "_version", "text", "wording", "errors", "types", "structure", "sentences", "language", "checked",
    "files", "disk", "identity", "terminal", "tables", "pages", "progress", "blas", "stats",
    "figures", "reports", "data", "metrics", "judges", "meta", "units", "scoring", "duc",
    "imports", "easiness", "annotation", "training", "embedded", "__init__", "cli", "__main__",
]
# fmt: on

# What must be read to know the package; air and comments are free.
MOST_TOKENS = 275_500
UNCOUNTED = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.ENCODING,
}

Graph = dict[str, set[str]]
HIDDEN = re.compile(r"litepyramid(\.\w+)+(:\w+)?")


def named(path) -> str:
    return ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)


MODULES = {named(path): path for path in sorted(ROOT.rglob("*.py"))}


def imported(source: str, modules: Iterable[str]) -> set[str]:
    """The modules of the package that a source imports, wherever in it; packages by
    __init__."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "write imports in full: from litepyramid.x import y"
            base = node.module or ""
            found |= {f"{base}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Constant) and HIDDEN.fullmatch(str(node.value)):
            # An import by string, "litepyramid.x.y" or "litepyramid.x:function", is one
            # too; a package alone is where files lie.
            found |= {str(node.value).partition(":")[0]} & {*modules}

    return {
        _held(name, modules) for name in found if name.split(".")[0] == "litepyramid"
    }


def _held(name: str, modules: Iterable[str]) -> str:
    """The module of a dotted name, be it a module, a package or something in one of
    them."""
    inside = name.rpartition(".")[0]
    tried = (name, f"{name}.__init__", inside, f"{inside}.__init__")
    return next((module for module in tried if module in modules), name)


GRAPH: Graph = {
    name: imported(path.read_text(), MODULES) for name, path in MODULES.items()
}


def room(module: str) -> str:
    return module.split(".")[1]


def rising(graph: Graph, floors: list[str]) -> list[str]:
    """The imports that do not go down, as "from → to"."""
    level = {name: number for number, name in enumerate(floors)}
    return [
        f"{module} → {target}"
        for module, targets in sorted(graph.items())
        for target in sorted(targets)
        if room(module) != room(target) and level[room(module)] < level[room(target)]
    ]


def circles(graph: Graph) -> list[str]:
    """A circle among the files and packages that stand side by side in one package, for
    each."""
    circles = []
    for package in {module.rpartition(".")[0] for module in graph}:
        beside: Graph = {}
        for module, targets in graph.items():
            inside = [
                name for name in (module, *targets) if name.startswith(f"{package}.")
            ]
            names = [name.removeprefix(f"{package}.").split(".")[0] for name in inside]
            if module in inside:
                beside.setdefault(names[0], set()).update({*names} - {names[0]})
        try:
            TopologicalSorter(beside).prepare()
        except CycleError as error:
            circles.append(f"{package}: {' → '.join(error.args[1])}")

    return circles


def test_imports_only_go_down_and_in_no_circle():
    assert {room(module) for module in MODULES} <= set(FLOORS)
    assert rising(GRAPH, FLOORS) == [] == circles(GRAPH)


def tokens(path) -> int:
    """The tokens of a file without comments, line ends and indents."""
    with path.open("rb") as source:
        return sum(
            token.type not in UNCOUNTED for token in tokenize.tokenize(source.readline)
        )


def test_two_people_can_know_the_package():
    total = sum(tokens(path) for path in MODULES.values())
    print(f"{total} tokens in {len(MODULES)} modules")

    assert total <= MOST_TOKENS


def test_a_name_stands_once_in_a_room():
    names = Counter()
    for module, path in MODULES.items():
        if path.stem != "__init__":
            names[room(module), path.stem] += 1
    assert [one for one, count in names.items() if count > 1] == []


def test_a_module_of_meta_is_not_named_like_what_meta_exports():
    files = {
        part
        for module in MODULES
        if room(module) == "meta"
        for part in module.split(".")[2:]
    }
    assert files & set(meta.__all__) == set()


def test_the_test_sees_a_rising_import_and_a_circle():
    modules = ["p.__init__", "p.low.a", "p.low.b", "p.high.__init__", "p.high.c"]
    late = "def f():\n    from litepyramid.text import legible\n    import litepyramid.cli.app\n"
    by_name = late + "    import_module('litepyramid.scoring.score')\n"
    assert imported(late, MODULES) == {"litepyramid.text", "litepyramid.cli.app"}
    assert imported(by_name, MODULES) >= {"litepyramid.scoring.score"}
    graph = {module: set() for module in modules} | {"p.low.a": {"p.high.c"}}
    assert rising(graph, ["__init__", "low", "high"]) == ["p.low.a → p.high.c"]
    assert rising(graph, ["__init__", "high", "low"]) == [] == circles(graph)
    assert circles(graph | {"p.high.c": {"p.low.b"}})[0].startswith("p: ")
    assert circles(graph | {"p.low.a": {"p.low.b"}, "p.low.b": {"p.low.a"}})[
        0
    ].startswith("p.low")


CONTAINERS = {
    *("list", "tuple", "set", "frozenset", "dict", "Mapping", "Sequence", "Iterable"),
    *("Iterator", "Path", "Collection"),
}
ASK = {"door", "files", "saved"}
"""What opens sources, JSON as it is read, saved results. `score_rows` asks whether its
table was a file, for its hint."""


def asks(tree: ast.AST) -> set[str]:
    """The containers and paths that a module asks `isinstance` of."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
            found |= {
                name.id for name in ast.walk(node.args[1]) if isinstance(name, ast.Name)
            }
    return found & CONTAINERS


def test_what_a_source_is_is_asked_at_the_door_alone():
    for path in sorted((ROOT / "data").glob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        if path.stem not in ASK:
            assert asks(tree) <= ({"Path"} if path.stem == "score_rows" else set()), (
                path
            )
        libraries = {
            alias.name.partition(".")[0]
            for node in ast.walk(tree)
            if isinstance(node, ast.Import)
            for alias in node.names
        }
        assert path.stem == "door" or "narwhals" not in libraries, path
    assert asks(ast.parse("isinstance(x, list | str)")) == {"list"}


def test_nothing_frozen_is_changed_and_no_state_is_hidden():
    for path in MODULES.values():
        text = path.read_text("utf-8")
        assert "object.__setattr__" not in text, path
        assert "ContextVar" not in text, path


CHANGING = {
    *("append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse"),
    *("add", "discard", "update", "setdefault", "popitem", "setflags", "fill"),
}
WRITTEN_INTO = {
    "_raw": "a bar that runs, with its counts",
    "on_epoch_end": "what a library calls back",
    "widen_types": "a model in torch",
    "_layer": "a graph that is built",
    "_ended": "the parts of a text",
    "_answer_table": "what is said of answers",
    "_by_task": "what is said of answers",
}
"""Functions that are given something to write into."""


def changed(node: ast.AST) -> Iterator[str]:
    """The names of what a statement or a call changes in place."""
    targets = getattr(node, "targets", [getattr(node, "target", None)])
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        # The method's name is the first step from what is changed.
        targets = [node.func] if node.func.attr in CHANGING else []
    for target in targets:
        is_inside = isinstance(target, ast.Subscript | ast.Attribute)
        while isinstance(target, ast.Subscript | ast.Attribute):
            target = target.value
        if is_inside and isinstance(target, ast.Name):
            yield target.id


def arguments_changed(tree: ast.AST) -> set[str]:
    """The functions that change an argument that they have not bound anew."""
    found = set()
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            entries = [*function.args.posonlyargs, *function.args.args]
            names = {entry.arg for entry in (*entries, *function.args.kwonlyargs)}
            inside = [*ast.walk(function)]
            for node in inside:
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    names.discard(node.id)
            written = {name for node in inside for name in changed(node)}
            if written & (names - {"self", "cls"}):
                found.add(function.name)
    return found


def test_no_function_changes_its_argument():
    found = set()
    for path in MODULES.values():
        found |= arguments_changed(ast.parse(path.read_text("utf-8")))
    assert found == {*WRITTEN_INTO}
    for line in ("x.y.append(1)", "x[0] = 1", "del x.y[0]", "x['a'] += 1"):
        assert arguments_changed(ast.parse(f"def f(x):\n    {line}")) == {"f"}, line
    assert not arguments_changed(ast.parse("def f(x):\n    x = [*x]\n    x.append(1)"))
