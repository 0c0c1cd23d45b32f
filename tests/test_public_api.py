"""What is public: the names, their signatures, and what an import costs."""

from __future__ import annotations

import ast
import importlib
import importlib.resources
import inspect
import pkgutil
import subprocess
import sys
from collections.abc import Callable
from types import FunctionType, ModuleType

import pytest

import rlvr_math_reward
from rlvr_math_reward import Policy, canonicalize, extract_answer, grade, grade_batch, parse, verify
from rlvr_math_reward.rewards import MathReward, accuracy_reward, format_reward, shaped_reward

NAMES = {
    "Extraction", "Outcome", "Policy", "Verdict", "canonicalize", "extract_answer", "grade", "grade_batch", "parse",
    "verify",
}  # fmt: skip
HEAVY = (
    "sympy",
    "mpmath",
    "torch",
    "trl",
    "transformers",
    "datasets",
    "pint",
    "numpy",
    "pandas",
    "rich",
    "typer",
    "ray",
)
"""What no import of the package or of its rewards may load, installed or not."""
MODULES = sorted(
    info.name
    for info in pkgutil.walk_packages(rlvr_math_reward.__path__, "rlvr_math_reward.")
    if not info.name.rpartition(".")[2].startswith("_") and ".integrations." not in info.name
)


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# -- names -------------------------------------------------------------------------------------------------------------
def test_the_package_has_these_names_and_no_other() -> None:
    assert set(rlvr_math_reward.__all__) == NAMES == set(dir(rlvr_math_reward))
    for name in NAMES:
        assert getattr(rlvr_math_reward, name).__name__ == name


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="evaluate_math"):
        rlvr_math_reward.evaluate_math  # noqa: B018


# -- arguments ---------------------------------------------------------------------------------------------------------
BAD_ARGUMENTS: list[tuple[str, Callable[[], object], type[Exception], str]] = [
    ("a conversation", lambda: grade([{"role": "assistant", "content": "4"}], "4"), TypeError,  # type: ignore[arg-type]
     "completion is a list; allowed: a str, or None for no text; the reward functions read conversations"),
    ("bytes", lambda: grade(b"4", "4"), TypeError, "completion is a bytes; allowed: a str, or None"),  # type: ignore[arg-type]
    ("a list of prompts", lambda: grade("4", "4", prompt=["2+2"]), TypeError, "prompt is a list; allowed: a str"),  # type: ignore[arg-type]
    ("no policy", lambda: grade("4", "4", policy=None), TypeError, "policy is a NoneType; allowed: a Policy"),  # type: ignore[arg-type]
    ("a number", lambda: verify(4, 4), TypeError, "prediction is a int; allowed: a str"),  # type: ignore[arg-type]
    ("workers below 0", lambda: grade_batch(["4"], ["4"], workers=-1), ValueError, "workers is -1; allowed: a whole"),
    ("workers as text", lambda: grade_batch(["4"], ["4"], workers="2"), ValueError, "workers is '2'; allowed"),  # type: ignore[arg-type]
    ("another length", lambda: grade_batch(["4"], ["4", "5"]), ValueError, "1 completions, 2 golds, 1 prompts"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("call", "error", "said"), [row[1:] for row in BAD_ARGUMENTS], ids=[row[0] for row in BAD_ARGUMENTS]
)
def test_a_bad_argument_is_named(call: Callable[[], object], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        call()


def test_no_completion_states_no_answer() -> None:
    assert grade(None, "4").outcome.value == "no_answer"


def test_star_import_gives_the_public_names() -> None:
    assert run("from rlvr_math_reward import *; print(callable(grade), Policy().fallback)") == "True last_number"


def test_there_are_modules_to_check() -> None:
    assert len(MODULES) > 30


@pytest.mark.parametrize("name", MODULES)
def test_all_says_what_a_module_gives(name: str) -> None:
    """Each name stands there once and is defined; a module without the list defines nothing public."""
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        pytest.skip(f"an extra is not installed: {error}")
    names = getattr(module, "__all__", None)
    if names is None:
        defined = [k for k, v in vars(module).items() if getattr(v, "__module__", None) == name and k[0] != "_"]
        assert not defined, f"{name} has no __all__ and defines {defined}"
        return
    assert len(set(names)) == len(names)
    missing = [public for public in names if not hasattr(module, public)]
    assert not missing, f"{name}.__all__ names {missing}"


def test_a_module_is_not_hidden_by_a_function_of_its_name() -> None:
    """`rlvr_math_reward.grade` is the function, and no module stands behind it under the same name."""
    assert not NAMES & {name.removeprefix("rlvr_math_reward.") for name in MODULES}


# -- signatures --------------------------------------------------------------------------------------------------------
SIGNATURES: dict[FunctionType, tuple[tuple[str, ...], tuple[str, ...]]] = {
    # function: (may be given by position, by keyword alone)
    grade: (("completion", "gold"), ("prompt", "policy")),
    verify: (("prediction", "gold"), ("policy",)),
    canonicalize: (("answer",), ()),
    extract_answer: (("completion",), ("policy",)),
    grade_batch: (("completions", "golds"), ("prompts", "policy", "workers")),
    parse: (("answer",), ()),
}  # type: ignore[dict-item]


@pytest.mark.parametrize("function", SIGNATURES, ids=lambda function: function.__name__)
def test_signature(function: FunctionType) -> None:
    parameters = inspect.signature(function).parameters.values()
    by_position = tuple(p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD)
    by_keyword = tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)
    assert (by_position, by_keyword) == SIGNATURES[function]
    assert all(p.default is not p.empty for p in parameters if p.kind is p.KEYWORD_ONLY)
    assert all(p.annotation is not p.empty for p in parameters)
    assert inspect.signature(function).return_annotation is not inspect.Signature.empty


def test_defaults() -> None:
    defaults = {name: p.default for name, p in inspect.signature(grade_batch).parameters.items()}
    assert (defaults["prompts"], defaults["policy"], defaults["workers"]) == (None, Policy(), 0)


@pytest.mark.parametrize("reward", [accuracy_reward, shaped_reward, format_reward, MathReward()])
def test_a_reward_is_called_as_trl_calls_it(reward: object) -> None:
    """With the columns by keyword, others among them, and it has the name that TRL logs it under."""
    assert callable(reward)
    scores = reward(prompts=["p"], completions=[r"\boxed{4}"], solution=["4"], completion_ids=[[1]], trainer_state=None)
    assert len(scores) == 1
    assert isinstance(reward.__name__, str)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", sorted(NAMES))
def test_public_things_are_documented_with_an_example(name: str) -> None:
    thing = getattr(rlvr_math_reward, name)
    assert thing.__doc__
    if isinstance(thing, FunctionType) or name in ("Policy", "Verdict"):
        assert ">>>" in thing.__doc__, f"{name} has no example"


# -- what an import costs ----------------------------------------------------------------------------------------------
def loaded(statement: str) -> set[str]:
    """The heavy packages that a fresh interpreter has loaded after a statement."""
    found = run(f"{statement}\nimport sys; print(*[m for m in {HEAVY!r} if m in sys.modules])")
    return set(found.split())


BARE = ("import rlvr_math_reward", "from rlvr_math_reward import Policy", "import rlvr_math_reward.data")


@pytest.mark.parametrize(
    "statement",
    [
        *BARE,
        "from rlvr_math_reward import grade, Policy",
        r"from rlvr_math_reward import grade; assert grade('\\boxed{4}', '4')",
        r"from rlvr_math_reward import grade; assert not grade('\\boxed{\\frac{2}{3}x+1}', 'x')",
        "import rlvr_math_reward.rewards",
        "from rlvr_math_reward.rewards import accuracy_reward; accuracy_reward(['#### 4'], solution=['4'])",
    ],
)
def test_nothing_heavy_is_loaded(statement: str) -> None:
    """The grader brings mpmath (20 ms) at once, so that no batch stops for it; what does not grade goes without."""
    assert loaded(statement) == (set() if statement in BARE else {"mpmath"})


def test_names_load_when_they_are_used() -> None:
    code = (
        "import sys, rlvr_math_reward\n"
        "before = 'rlvr_math_reward.parser.levels' in sys.modules\n"
        "rlvr_math_reward.Policy\n"
        "between = 'rlvr_math_reward.parser.levels' in sys.modules\n"
        "rlvr_math_reward.grade\n"
        "print(before, between, 'rlvr_math_reward.parser.levels' in sys.modules)"
    )
    assert run(code) == "False False True"


def test_sympy_is_loaded_by_no_module_of_the_parent() -> None:
    """Not even by a comparison that SymPy decides: it runs in a child."""
    code = (
        "import sys\n"
        "from rlvr_math_reward import verify\n"
        r"assert verify('\\int_0^1 x\\,dx', '1/2')" "\n"
        "print('sympy' in sys.modules)"
    )  # fmt: skip
    assert run(code) == "False"


def test_the_typed_marker_is_shipped() -> None:
    assert (importlib.resources.files(rlvr_math_reward) / "py.typed").is_file()


def test_lazy_names_are_the_names_for_type_checkers() -> None:
    """The imports under TYPE_CHECKING and the table of homes name the same things."""
    tree = ast.parse(inspect.getsource(rlvr_math_reward))
    imports = {a.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for a in node.names}
    assert imports - {"import_module", "TYPE_CHECKING"} == NAMES
    assert isinstance(rlvr_math_reward, ModuleType)
