"""Imports run one way, down the list below; only the child imports SymPy; no module runs text or grows without end."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "rlvr_math_reward"
LAYERS = """
    verdict policy tree notation tokenizer
    parser.building parser.literals parser.vocabulary parser.measures parser.wording parser.cursor parser.commands
    parser.atoms parser.arithmetic parser.levels parser
    exact exact.algebra exact.closed_forms exact.separation numeric exact.powers exact.equality exact.functions
    exact.forms
    symbolic units
    kinds.answer kinds.signs kinds.scalar kinds.words kinds.choice kinds.matrix kinds.sets kinds.interval kinds.families
    kinds.collection kinds.quantity kinds.relation kinds.piecewise kinds comparing
    extraction.wrapping extraction.prose extraction.boxes extraction.phrases extraction.rules extraction
    golds partial grading completions formats rewards integrations
    files data scoring scoring.output scoring.local scoring.checking scoring.peers scoring.on_ray evaluation
    report.trainer_logs report.suspicion report.charts report.figures report.page report
    terminal cli __main__
""".split()
CHILD = "_sympy_child"
MAX_LINES = 470


def modules() -> dict[str, Path]:
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        if name:
            found[name] = path
    return found


def imported(path: Path) -> set[str]:
    """The project's modules that a file imports anywhere, also inside functions and for types only."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            full = {f"{node.module}.{alias.name}" for alias in node.names}
            modules_only = all(name.removeprefix("rlvr_math_reward.") in modules() for name in full)
            names |= full if modules_only else {*full, node.module or ""}
    return names


def level(name: str) -> int:
    name = "integrations" if name.startswith("integrations") else name
    assert name in LAYERS, f"{name} has no place in the list of layers"
    return LAYERS.index(name)


@pytest.mark.parametrize("name", sorted(modules()))
def test_imports_run_one_way(name: str) -> None:
    known = modules()
    used = {full.removeprefix("rlvr_math_reward.") for full in imported(known[name])}
    used = {other for other in used if other in known and other != name}
    if name == CHILD:
        assert not used, "the child imports nothing of the package, so that it starts fast"
        return
    below = [other for other in used if level(other) > level(name)]
    assert not below, f"{name} imports {below}, which stand below it"


def test_only_the_child_imports_sympy() -> None:
    importers = [name for name, path in modules().items() if any(i.split(".")[0] == "sympy" for i in imported(path))]
    assert importers == [CHILD]


@pytest.mark.parametrize("name", sorted(modules()))
def test_no_text_is_run(name: str) -> None:
    """No `eval`, `exec`, `parse_expr`, `sympify` or `pickle` anywhere in the package."""
    tree = ast.parse(modules()[name].read_text(encoding="utf-8"))
    functions = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    called = {function.id for function in functions if isinstance(function, ast.Name)}
    methods = {function.attr for function in functions if isinstance(function, ast.Attribute)}
    assert not called & {"eval", "exec", "compile", "parse_expr", "sympify", "__import__"}
    assert not methods & {"parse_expr", "sympify"}
    assert "pickle" not in imported(modules()[name])


@pytest.mark.parametrize("name", sorted(modules()))
def test_modules_stay_small(name: str) -> None:
    assert len(modules()[name].read_text(encoding="utf-8").splitlines()) <= MAX_LINES
