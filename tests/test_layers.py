"""The layers: imports go down the table below, without cycles, and SciPy is loaded on first use only."""

import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

PACKAGE = "autodidax"
ROOT = Path(__file__).resolve().parents[1]

# From the lowest to the highest. A module may import its own row and the rows above it in this table.
LAYERS = (
    ("errors", "config", "version"),
    ("tree",),
    ("core",),
    ("primitives",),
    ("compile",),
    ("transforms",),
    ("control_flow",),
    ("numpy", "scipy", "random", "nn"),
    ("testing", "explain", "debug", "export"),
    ("lax", "tree_util", "flatten_util", "test_util", "ad_checkpoint", "__main__", "__init__"),
)
THIRD_PARTY = {"numpy", "scipy"}

# Imports while a function runs, by module and function (patterns), each with its reason.
LOCAL_IMPORTS = {
    (PACKAGE, "__getattr__"): "PEP 562: the checker and other parts load when they are first named",
    (f"{PACKAGE}.numpy", "__getattr__"): "PEP 562: likewise",
    (f"{PACKAGE}.scipy*", "__getattr__"): "PEP 562: likewise",
    (f"{PACKAGE}.nn", "__getattr__"): "PEP 562: likewise",
    (f"{PACKAGE}.testing.commandline.modules", "load_*"): "it loads primitives, and the modules that a user names",
    (f"{PACKAGE}.export.decoding", "_primitive"): "primitives of a loaded program that load on first use",
    (f"{PACKAGE}.numpy.callers", "twin"): "a message says what there is for a function of SciPy, which is loaded then",
    (f"{PACKAGE}.primitives.triangular", "kernels"): "SciPy's BLAS, for triangular systems, loads on first use",
}


@dataclass(frozen=True)
class Import:
    importer: str
    imported: str
    line: int
    function: str | None = None  # the function it stands in
    type_checking: bool = False  # under "if TYPE_CHECKING:"
    relative: bool = False

    def __str__(self) -> str:
        place = f" in {self.function}" if self.function else ""
        return f"{self.importer}:{self.line}{place} imports {self.imported}"


def package_sources(root: Path = ROOT) -> dict[str, str]:
    """Module name -> source text, for every module of the package."""
    sources = {}
    for path in sorted((root / PACKAGE).rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        sources[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path.read_text("utf-8")
    return sources


def _is_type_checking(test: ast.expr) -> bool:
    return ast.unparse(test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


class _ImportFinder(ast.NodeVisitor):
    def __init__(self, module: str, modules: set[str]) -> None:
        self.module = module
        self.modules = modules
        self.functions: list[str] = []
        self.type_checking = False
        self.found: list[Import] = []

    def add(self, imported: str, node: ast.stmt | ast.expr, relative: bool = False) -> None:
        function = ".".join(self.functions) or None
        self.found.append(Import(self.module, imported, node.lineno, function, self.type_checking, relative))

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.add(alias.name, node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level:
            self.add("." * node.level + (node.module or ""), node, relative=True)
            return
        assert node.module is not None
        for alias in node.names:
            submodule = f"{node.module}.{alias.name}"
            self.add(submodule if submodule in self.modules else node.module, node)

    def visit_Call(self, node: ast.Call) -> None:
        name = ast.unparse(node.func)
        if name in ("__import__", "import_module", "importlib.import_module"):
            argument = node.args[0] if node.args else None
            known = isinstance(argument, ast.Constant) and isinstance(argument.value, str)
            self.add(argument.value if known else f"{name}(...)", node)
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if not _is_type_checking(node.test):
            self.generic_visit(node)
            return
        self.type_checking = True
        for child in node.body:
            self.visit(child)
        self.type_checking = False
        for child in node.orelse:
            self.visit(child)

    def _visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        self.functions.append(getattr(node, "name", "<lambda>"))
        self.generic_visit(node)
        self.functions.pop()

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _visit_function


def find_imports(sources: Mapping[str, str]) -> list[Import]:
    found = []
    for module, source in sources.items():
        finder = _ImportFinder(module, set(sources))
        finder.visit(ast.parse(source, filename=module))
        found.extend(finder.found)
    return found


def is_ours(name: str) -> bool:
    return name.split(".")[0] == PACKAGE


def unit_of(module: str) -> str:
    """The entry of the table that a module belongs to."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def homeless_modules(sources: Mapping[str, str]) -> list[str]:
    units = {unit for layer in LAYERS for unit in layer}
    return [f"{module} stands in no layer" for module in sources if unit_of(module) not in units]


def upward_imports(imports: list[Import]) -> list[str]:
    level = {unit: height for height, layer in enumerate(LAYERS) for unit in layer}
    return [
        f"{edge}: from layer {level[unit_of(edge.importer)]} up to {level[unit_of(edge.imported)]}"
        for edge in imports
        if is_ours(edge.imported)
        and unit_of(edge.importer) in level
        and level.get(unit_of(edge.imported), len(LAYERS)) > level[unit_of(edge.importer)]
    ]


def find_cycle(graph: Mapping[str, set[str]]) -> list[str] | None:
    """Some cycle of a directed graph, its first node repeated at the end, or None."""
    finished: set[str] = set()
    for start in graph:
        path: list[str] = []
        pending: list[Iterator[str]] = [iter((start,))]
        while pending:
            node = next(pending[-1], None)
            if node is None:
                pending.pop()
                if path:
                    finished.add(path.pop())
            elif node in path:
                return [*path[path.index(node) :], node]
            elif node not in finished:
                path.append(node)
                pending.append(iter(sorted(graph.get(node, ()))))
    return None


def module_graph(imports: list[Import]) -> dict[str, set[str]]:
    graph: dict[str, set[str]] = {}
    for edge in imports:
        # A lazy load is no cycle: it runs after both modules are complete.
        if is_ours(edge.imported) and edge.function is None:
            graph.setdefault(edge.importer, set()).add(edge.imported)
    return graph


def unit_graph(imports: list[Import]) -> dict[str, set[str]]:
    graph: dict[str, set[str]] = {}
    for importer, imported in module_graph(imports).items():
        graph.setdefault(unit_of(importer), set()).update(map(unit_of, imported))
    return {unit: others - {unit} for unit, others in graph.items()}


def local_imports(imports: list[Import]) -> list[str]:
    return [
        str(edge)
        for edge in imports
        if edge.function is not None
        and not any(
            fnmatchcase(edge.importer, module) and fnmatchcase(edge.function, function)
            for module, function in LOCAL_IMPORTS
        )
    ]


def foreign_imports(imports: list[Import]) -> list[str]:
    allowed = THIRD_PARTY | {PACKAGE} | sys.stdlib_module_names
    return [
        str(edge)
        for edge in imports
        if not edge.relative and "(" not in edge.imported and edge.imported.split(".")[0] not in allowed
    ]


def loaded_modules(imports: list[Import], sources: Mapping[str, str], start: str = PACKAGE) -> set[str]:
    """The package's modules that importing ``start`` runs, parent packages included."""
    graph: dict[str, set[str]] = {}
    for edge in imports:
        if is_ours(edge.imported) and edge.function is None and not edge.type_checking:
            graph.setdefault(edge.importer, set()).add(edge.imported)
    loaded: set[str] = set()
    pending = [start]
    while pending:
        module = pending.pop()
        if module in loaded or module not in sources:
            continue
        loaded.add(module)
        pending.extend(graph.get(module, ()))
        pending.append(module.rpartition(".")[0])
    return loaded


def eager_scipy_imports(imports: list[Import], sources: Mapping[str, str]) -> list[str]:
    loaded = loaded_modules(imports, sources)
    return [
        str(edge)
        for edge in imports
        if edge.imported.split(".")[0] == "scipy"
        and edge.function is None
        and not edge.type_checking
        and edge.importer in loaded
    ]


@pytest.fixture(scope="module")
def sources() -> dict[str, str]:
    return package_sources()


@pytest.fixture(scope="module")
def imports(sources: dict[str, str]) -> list[Import]:
    return find_imports(sources)


def test_every_module_has_a_layer(sources: dict[str, str]) -> None:
    assert homeless_modules(sources) == []


def test_imports_go_down(imports: list[Import]) -> None:
    assert upward_imports(imports) == []


def test_no_cycle_between_modules(imports: list[Import]) -> None:
    assert find_cycle(module_graph(imports)) is None


def test_no_cycle_between_the_entries_of_the_table(imports: list[Import]) -> None:
    assert find_cycle(unit_graph(imports)) is None


def test_imports_inside_functions_have_a_reason(imports: list[Import]) -> None:
    assert local_imports(imports) == []


def test_imports_are_absolute(imports: list[Import]) -> None:
    assert [str(edge) for edge in imports if edge.relative] == []


def test_numpy_and_scipy_are_the_only_dependencies(imports: list[Import]) -> None:
    assert foreign_imports(imports) == []


def test_importing_the_package_imports_no_scipy(imports: list[Import], sources: dict[str, str]) -> None:
    assert eager_scipy_imports(imports, sources) == []


# The laws must fail where they should: made-up modules, and what is said of them.

SOUND = {
    "autodidax": "from autodidax.core import bind\ndef __getattr__(name):\n    import autodidax.scipy",
    "autodidax.errors": "import os, sys",
    "autodidax.core": "from autodidax.core.trace import bind",
    "autodidax.core.trace": "import numpy as np\nfrom autodidax import errors",
    "autodidax.scipy": "import scipy.special\nfrom autodidax.core import bind",
}


def complaints(changes: Mapping[str, str]) -> list[str]:
    sources = {**SOUND, **changes}
    imports = find_imports(sources)
    cycle = find_cycle(module_graph(imports)) or find_cycle(unit_graph(imports))
    return [
        *homeless_modules(sources),
        *upward_imports(imports),
        *(["cycle: " + " -> ".join(cycle)] if cycle else []),
        *(f"local: {text}" for text in local_imports(imports)),
        *(f"relative: {edge}" for edge in imports if edge.relative),
        *(f"foreign: {text}" for text in foreign_imports(imports)),
        *(f"eager: {text}" for text in eager_scipy_imports(imports, sources)),
    ]


def test_sound_modules_pass() -> None:
    assert complaints({}) == []


BAD = {
    "no layer": (
        {"autodidax.helpers": ""},
        "autodidax.helpers stands in no layer",
    ),
    "upward": (
        {"autodidax.errors": "from autodidax.core.trace import bind", "autodidax.core.trace": ""},
        "autodidax.errors:1 imports autodidax.core.trace: from layer 0 up to 2",
    ),
    "upward, a module as a name": (
        {"autodidax.errors": "from autodidax import core", "autodidax.core.trace": ""},
        "autodidax.errors:1 imports autodidax.core: from layer 0 up to 2",
    ),
    "upward, the package itself": (
        {"autodidax.core.trace": "import autodidax", "autodidax": ""},
        "autodidax.core.trace:1 imports autodidax: from layer 2 up to 9",
    ),
    "upward, for types only": (
        {
            "autodidax.errors": "import typing\nif typing.TYPE_CHECKING:\n    import autodidax.core",
            "autodidax.core.trace": "",
        },
        "autodidax.errors:3 imports autodidax.core: from layer 0 up to 2",
    ),
    "a cycle of two": (
        {
            "autodidax.core.trace": "import autodidax.core.aval",
            "autodidax.core.aval": "import autodidax.core.trace",
        },
        "cycle: autodidax.core.trace -> autodidax.core.aval -> autodidax.core.trace",
    ),
    "a cycle through the package": (
        {"autodidax.core.trace": "from autodidax.core import bind"},
        "cycle: autodidax.core -> autodidax.core.trace -> autodidax.core",
    ),
    "a cycle of entries in one row": (
        {
            "autodidax.nn": "import autodidax.random.bits",
            "autodidax.random": "import autodidax.nn.layers",
            "autodidax.nn.layers": "",
            "autodidax.random.bits": "",
        },
        "cycle: nn -> random -> nn",
    ),
    "inside a function": (
        {"autodidax.core.trace": "def f():\n    import numpy"},
        "local: autodidax.core.trace:2 in f imports numpy",
    ),
    "inside a method": (
        {"autodidax.core.trace": "class C:\n    def f(self):\n        import numpy"},
        "local: autodidax.core.trace:3 in f imports numpy",
    ),
    "by import_module": (
        {"autodidax.core.trace": "import importlib\ndef f(name):\n    return importlib.import_module(name)"},
        "local: autodidax.core.trace:3 in f imports importlib.import_module(...)",
    ),
    "relative": (
        {"autodidax.core.trace": "from . import aval"},
        "relative: autodidax.core.trace:1 imports .",
    ),
    "third party": (
        {"autodidax.core.trace": "import pandas"},
        "foreign: autodidax.core.trace:1 imports pandas",
    ),
    "SciPy at the top": (
        {"autodidax.core.trace": "import scipy.linalg"},
        "eager: autodidax.core.trace:1 imports scipy.linalg",
    ),
    "SciPy through a lazy part": (
        {"autodidax": "import autodidax.scipy"},
        "eager: autodidax.scipy:1 imports scipy.special",
    ),
}


@pytest.mark.parametrize(("changes", "complaint"), BAD.values(), ids=BAD)
def test_bad_imports_are_caught(changes: dict[str, str], complaint: str) -> None:
    assert complaints(changes) == [complaint]
