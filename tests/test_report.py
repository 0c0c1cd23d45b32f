"""The report on runs with hostile and odd completions, read by a real Chromium; its rules, curves and errors."""

import json
import math
import re
import shutil
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
pytest.importorskip("jinja2")

from browser import Browser  # noqa: E402
from typer.testing import CliRunner  # noqa: E402

from rlvr_math_reward.cli import app  # noqa: E402
from rlvr_math_reward.files import DataError  # noqa: E402
from rlvr_math_reward.policy import Policy  # noqa: E402
from rlvr_math_reward.report.charts import MAX_POINTS, Curve, lines, stacked  # noqa: E402
from rlvr_math_reward.report.page import MAX_ROWS, MAX_TEXT, _parts, write_report  # noqa: E402
from rlvr_math_reward.report.suspicion import FALSE_REJECT, HACK, find_suspicions  # noqa: E402
from rlvr_math_reward.report.trainer_logs import Rollout, read_run  # noqa: E402
from rlvr_math_reward.rewards import MathReward, accuracy_reward, format_reward, shaped_reward  # noqa: E402

ROOT = Path(__file__).parents[1]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium; Debian has it as the package chromium")

OWNED = "document.title='owned'"
HOSTILE = [
    f"<script>{OWNED}</script> <script>alert(1)</script>",
    rf'\boxed{{<img src=x onerror="{OWNED}">}}',
    f"</pre></details></main></script><script>{OWNED}</script>",
    f"<!-- --> <svg onload={OWNED}> <style>body{{display:none}}</style> <a href=javascript:{OWNED}>it is 4</a>",
    "{{ 7 * 7 }} {% raw %} ${7 * 7} &lt;b&gt; &#60;script&#62;",
    "\x00\x1b[31m \u202e\u2066reversed\u202c \r\n \ufffe #### 7",
    r"\boxed{" + "W" * 3_000 + "}",
    "word " * 4_000 + r"so \boxed{8} and " + "more " * 4_000,
]
GROUPS = [
    ("What is 2 + 2?", "4", [r"\boxed{4}", r"\boxed{5}", "I can do that.", r"\boxed{4}}}}}"]),
    ("What is a third?", "1/3", [r"\boxed{0.3333}", r"\boxed{1/3}", r"\boxed{\frac{1}{3}}", r"\boxed{3}"]),
    ("What is 3 times 4?", "10", [r"\boxed{12}", r"\boxed{12}", r"#### 12", r"\boxed{7}"]),
    ("<b>Who</b> wins & why? <script>alert(2)</script>", "8", HOSTILE),
    ("Is there a gold?", "", [r"\boxed{4}", r"\boxed{5}", "none", "none"]),
    ("What is the area?", "0.7834305107121344", [r"\boxed{1}", r"\boxed{2}", r"\boxed{0.7834305107121344}"]),
]
UNDECIDED = r"\boxed{\int_0^1 x^x dx}"
"""Takes the SymPy child its second, and is not remembered; so one step has it, in the last group."""


def write_run(folder: Path, steps: int = 3, reward: Any = accuracy_reward, log: bool = True) -> Path:
    """A run as TRL leaves it, with the verdicts of the real rewards."""
    (folder / "completions").mkdir(parents=True)
    history = []
    for step in range(1, steps + 1):
        rows = [(prompt, gold, text) for prompt, gold, texts in GROUPS for text in texts]
        rows += [(*rows[-1][:2], UNDECIDED)] if step == 1 else []
        logged: dict[str, list[str]] = {}
        prompts, golds, texts = ([row[n] for row in rows] for n in range(3))
        metrics: dict[str, float] = {}
        paid = reward(prompts=prompts, completions=texts, solution=golds, log_extra=logged.__setitem__,
                      log_metric=metrics.__setitem__)  # fmt: skip
        table = {"step": [step] * len(rows), "prompt": prompts, "completion": texts, reward.__name__: paid,
                 "format_reward": format_reward(completions=texts), **logged,
                 "advantage": [0.5 - n / len(rows) for n in range(len(rows))]}  # fmt: skip
        pandas.DataFrame(table).to_parquet(folder / "completions" / f"completions_{step:05}.parquet")
        mean = sum(value or 0 for value in paid) / len(paid)
        history.append({"step": step, "reward": mean, "loss": float("nan"), "entropy": 1 / step, **metrics})
    if log:
        (folder / "trainer_state.json").write_text(
            json.dumps({"log_history": [*history, {"step": steps, "note": "x"}]})
        )
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("runs") / "odd <run>")


@pytest.fixture(scope="module")
def page(run: Path) -> Path:
    return write_report(run)


# -- in a browser ------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    assert CHROMIUM is not None
    started = Browser(CHROMIUM)
    yield started
    started.close()


STEP = sum(len(texts) for _, _, texts in GROUPS)
ROWS = 3 * STEP + 1
SHOWN = "[...document.querySelectorAll('.row')].filter((row) => !row.hidden)"


def status(browser: Browser) -> str:
    return str(browser.run("document.querySelector('output').value"))


@needs_chromium
def test_nothing_that_a_model_wrote_runs_or_loads(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert browser.run("document.title") == "Run report: odd <run>"
    assert browser.run("document.querySelectorAll('script').length") == 1
    assert (
        browser.run("document.querySelectorAll('img, svg[onload], b:not(.legend b), [onerror], main style').length")
        == 0
    )
    assert browser.run("[...document.querySelectorAll('a')].every((a) => a.getAttribute('href').startsWith('#'))")
    requests = [e["params"]["request"]["url"] for e in browser.events if e.get("method") == "Network.requestWillBeSent"]
    assert requests == [page.as_uri()], "the page asks for nothing else"
    wrong = [e for e in browser.events if e.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded")]
    assert not wrong
    shown = browser.run("[...document.querySelectorAll('.row pre.text')].map((pre) => pre.textContent).join('\\n')")
    for text in HOSTILE[:5]:
        assert text in shown, "and all of it can be read"
    assert "␀␛[31m" in shown
    assert "\u202e" not in shown


@needs_chromium
def test_even_markup_that_gets_through_cannot_run(browser: Browser, page: Path, tmp_path: Path) -> None:
    """The content policy is a second wall: a script put into the finished page stays silent."""
    broken = tmp_path / "broken.html"
    text = page.read_text(encoding="utf-8")
    broken.write_text(text.replace("<main>", f'<main><script>{OWNED}</script><img src="x" onerror="{OWNED}">'), "utf-8")
    browser.open(broken)
    assert browser.run("document.querySelectorAll('img').length") == 1
    assert browser.run("document.title") == "Run report: odd <run>"


@needs_chromium
def test_filters_by_address_keyboard_and_pointer(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert browser.run(f"{SHOWN}.length") == ROWS
    assert status(browser) == f"{ROWS} of {ROWS} shown"

    browser.open(page, "#outcome=correct")
    outcomes = browser.run(f"{SHOWN}.map((row) => row.dataset.outcome)")
    assert outcomes
    assert set(outcomes) == {"correct"}
    assert browser.run("document.querySelector('[data-outcome=correct][aria-pressed=true]') !== null")

    browser.run("document.querySelector('button[data-outcome=no_answer]').click()")
    assert set(browser.run(f"{SHOWN}.map((row) => row.dataset.outcome)")) == {"correct", "no_answer"}
    assert browser.run("location.hash") == "#outcome=correct%2Cno_answer"
    browser.run("document.querySelector('.clear').click()")
    assert browser.run(f"{SHOWN}.length") == ROWS

    browser.run("document.activeElement.blur()")
    for key in ("/", *"3333"):
        browser.press(key)
    assert browser.run("document.activeElement.name") == "q"
    browser.run("new Promise((done) => setTimeout(done, 300))")
    assert browser.run(f"{SHOWN}.length") == 3, "one completion a step holds 0.3333"

    browser.open(page, "#step=2-3&sort=-step")
    steps = browser.run(f"{SHOWN}.map((row) => row.dataset.step)")
    assert steps == sorted(steps, reverse=True)
    assert set(steps) == {"2", "3"}
    assert browser.run(f"{SHOWN}.length") == 2 * STEP


@needs_chromium
def test_rows_open_by_link_and_by_keyboard(browser: Browser, page: Path) -> None:
    browser.open(page, "#outcome=bad_gold")
    browser.run("document.querySelector('.cases .links a').click()")
    browser.run("new Promise((done) => setTimeout(done, 100))")
    opened = browser.run("document.activeElement.closest('.row').id")
    assert "#" + opened == browser.run("location.hash")
    assert browser.run(f"document.getElementById('{opened}').open && !document.getElementById('{opened}').hidden")

    browser.run("document.activeElement.blur()")
    browser.press("j")
    browser.press("j")
    browser.press("Enter")
    second = browser.run(f"{SHOWN}[1].open && document.activeElement.closest('.row') === {SHOWN}[1]")
    assert second, "j goes on, Enter opens"
    browser.press("k")
    assert browser.run(f"document.activeElement.closest('.row') === {SHOWN}[0]")

    marked = browser.run("[...document.querySelectorAll('mark')].map((mark) => mark.textContent)")
    assert {"4", "5", "0.3333"} <= set(marked)
    assert browser.run("document.querySelector('.explanation').textContent").startswith("correct\n  extraction   boxed")


@needs_chromium
def test_charts_are_read_by_the_arrow_keys(browser: Browser, page: Path) -> None:
    browser.open(page)
    legend = "document.querySelector('.chart .legend').textContent.replace(/\\s+/g, ' ')"
    assert browser.run(legend).strip().startswith("last step")
    browser.run("document.querySelector('.area').focus()")
    browser.press("Home")
    browser.press("ArrowRight")
    assert browser.run(legend).strip().startswith("step 2")
    assert browser.run("document.querySelector('.area').ariaLabel").startswith("step 2: reward ")
    assert not browser.run("document.querySelector('.cursor').hidden")


@needs_chromium
@pytest.mark.parametrize("width", [320, 390, 768, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_fits_the_window_and_can_be_read(browser: Browser, page: Path, width: int, scheme: str) -> None:
    browser.open(page, width=width, scheme=scheme)
    browser.run("document.querySelectorAll('.row').forEach((row) => { row.open = true; })")
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.run("[...document.querySelectorAll('.text')].every((pre) => pre.scrollWidth <= pre.clientWidth)")
    colours = browser.run(
        """[...document.querySelectorAll("h1, .note, .why, code, mark, summary .n, .body .warning, .toggle, .links a")]
        .map((element) => {
            let back = element;
            while (getComputedStyle(back).backgroundColor === "rgba(0, 0, 0, 0)") back = back.parentElement;
            return [getComputedStyle(element).color, getComputedStyle(back).backgroundColor];
        })"""
    )
    assert len(colours) > 100
    assert all(contrast(front, back) >= 4.5 for front, back in colours), "WCAG AA"
    dark = luminance(browser.run("getComputedStyle(document.body).backgroundColor")) < 0.1
    assert dark == (scheme == "dark")


def luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(front: str, back: str) -> float:
    darker, lighter = sorted((luminance(front), luminance(back)))
    return (lighter + 0.05) / (darker + 0.05)


@needs_chromium
def test_all_is_there_without_scripts(browser: Browser, page: Path) -> None:
    browser.send("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(page)
        shown = "[...document.querySelectorAll('SEL')].filter((e) => e.checkVisibility()).length"
        assert browser.run(shown.replace("SEL", ".row")) == ROWS
        assert browser.run(shown.replace("SEL", ".filters")) == 0, "no control without its effect"
        assert browser.run(shown.replace("SEL", ".folded, .unfold")) == 0
    finally:
        browser.send("Emulation.setScriptExecutionDisabled", value=False)


# -- what it says ------------------------------------------------------------------------------------------------------
class Outline(HTMLParser):
    """The tags of a page that were left open, and its table rows and completions."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows = 0

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "input", "line", "path"):
            self.open.append(tag)
        self.rows += ("class", "row") in attributes

    def handle_endtag(self, tag: str) -> None:
        if tag in ("line", "path"):
            return
        assert self.open.pop() == tag


def test_page_is_whole_and_counts_what_was_logged(run: Path, page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    outline = Outline()
    outline.feed(text)
    assert set(outline.open) <= {"li", "p", "tr", "td", "th"}
    assert outline.rows == ROWS
    logged = pandas.concat(map(pandas.read_parquet, sorted((run / "completions").glob("*.parquet"))))
    for outcome, count in logged["outcome"].value_counts().items():
        assert re.search(rf'href="#outcome={outcome}".*?<td class="n">{count}</td>', text, re.DOTALL)
    slow = text.split('id="slow"')[1].split("</section>")[0]
    assert r"\int_0^1 x^x dx" in slow
    assert "undecided" in slow
    assert not re.search(r"(?:src|href)=.?(?:https?:|//)|@import|url\(", text), "no external asset"


def test_page_names_its_suspects(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    rejected, paid = text.split('aria-labelledby="hack"')[:2]
    for reason in ("equal to the gold within 0.1 %", "3 of the 4 rollouts of this group give this answer"):
        assert reason in rejected
    assert "4 closing braces too many" in paid


def test_same_run_same_page(run: Path, page: Path, tmp_path: Path) -> None:
    def without_times(path: Path) -> str:
        slow = path.read_text(encoding="utf-8").split('aria-labelledby="slow"')
        rest = slow[1].split('aria-labelledby="completions"')[1]
        return slow[0] + re.sub(r'data-ms="[^"]*"|graded in [^<]*', "", rest)

    again = write_report(run, tmp_path / "again.html")
    assert again == tmp_path / "again.html"
    assert without_times(page) == without_times(again)


def test_answer_is_marked_within_the_line_that_states_it(tmp_path: Path) -> None:
    (tmp_path / "completions").mkdir()
    texts = ["5 and 3 make 8 eggs in all.", r"so \boxed{\text{ 8 }} it is", "He has 8 left, says A.\nAnswer: **8**"]
    logged: dict[str, list[str]] = {}
    accuracy_reward(completions=texts, solution=["8"] * 3, log_extra=logged.__setitem__)
    table = {"step": [1] * 3, "prompt": ["p"] * 3, "completion": texts, **logged}
    pandas.DataFrame(table).to_parquet(tmp_path / "completions" / "completions_00001.parquet")
    text = write_report(tmp_path).read_text(encoding="utf-8")
    marks = re.findall(r"([^<>]*)<mark>(.*?)</mark>", text)
    assert [answer for _, answer in marks] == ["8", r"\text{ 8 }", "8"]
    assert marks[0][0].endswith("make ")


def test_run_that_goes_on_is_drawn_from_its_completions(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", steps=1, reward=shaped_reward, log=False)
    text = write_report(run).read_text(encoding="utf-8")
    assert "No trainer_state.json yet" in text
    assert "graded again" not in text, "by the policy of shaped_reward, which logged the verdicts"
    assert ">partial<" not in text.split('id="outcomes"')[0]
    (run / "checkpoint-1").mkdir()
    (run / "checkpoint-1" / "trainer_state.json").write_text('{"log_history": [{"step": 1, "reward": 0.125}]}')
    (run / "checkpoint-x").mkdir()
    (run / "checkpoint-x" / "trainer_state.json").write_text("{")
    assert [entry["reward"] for entry in read_run(run).log] == [0.125]
    assert "0.125" in write_report(run).read_text(encoding="utf-8")


def test_file_that_is_half_written_is_named_and_left_out(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", steps=2)
    last = run / "completions" / "completions_00002.parquet"
    last.write_bytes(last.read_bytes()[:500])
    (run / "trainer_state.json").write_text('{"log_history": [')
    text = write_report(run).read_text(encoding="utf-8")
    assert "completions_00002.parquet: not read" in text
    assert "trainer_state.json: not read" in text
    assert read_run(run).files == 1


def test_long_run_shows_whole_groups_of_all_its_length(tmp_path: Path) -> None:
    (tmp_path / "completions").mkdir()
    for step in range(0, 40):
        rows = [
            {"step": step, "prompt": f"What is {step} + {n // 8}?", "completion": f"#### {step + n // 8}",
             "accuracy_reward": 1.0, "gold": str(step + n // 8), "extracted": str(step + n // 8), "outcome": "correct",
             "decided_by": "text", "advantage": 0.0}
            for n in range(80)
        ]  # fmt: skip
        if step == 17:
            rows[4] |= {"completion": "#### 0.9999", "extracted": "0.9999", "gold": "1", "outcome": "incorrect"}
        pandas.DataFrame(rows).to_parquet(tmp_path / "completions" / f"completions_{step:05}.parquet")
    text = write_report(tmp_path).read_text(encoding="utf-8")
    groups = re.findall(r'data-group="(\d+)" data-step="(\d+)"', text)
    assert MAX_ROWS * 0.9 < len(groups) <= MAX_ROWS < 40 * 80
    assert {int(step) for _, step in groups} == set(range(40))
    assert f'id="row-{17 * 80 + 4}"' in text, "the suspected one is there"


@pytest.mark.slow
def test_report_on_a_real_run(tmp_path: Path) -> None:
    pytest.importorskip("trl")
    sys.path.insert(0, str(ROOT / "tests" / "training"))
    from datasets import load_dataset
    from tiny import save_tiny_model
    from trl import GRPOConfig, GRPOTrainer

    trainer = GRPOTrainer(
        model=save_tiny_model(tmp_path / "model"),
        reward_funcs=[shaped_reward, format_reward],
        args=GRPOConfig(
            output_dir=str(tmp_path / "run"), max_steps=2, per_device_train_batch_size=8, num_generations=4,
            max_completion_length=8, use_cpu=True, bf16=False, logging_steps=1, log_completions=True, save_steps=2,
            report_to=[], disable_tqdm=True,
        ),
        train_dataset=load_dataset("json", data_files=str(ROOT / "tests/training/sums/train.jsonl"), split="train"),
    )  # fmt: skip
    trainer.train()
    run = read_run(tmp_path / "run")
    assert run.reward_names == ["shaped_reward", "format_reward"]
    assert (len(run.rollouts), run.files) == (16, 2)
    assert [entry["step"] for entry in run.log if "reward" in entry] == [1, 2], "of checkpoint-2"
    text = write_report(tmp_path / "run").read_text(encoding="utf-8")
    assert text.count('class="row"') == 16
    assert "graded again by" not in text, "a row's outcome as logged is that of the report"


# -- errors ------------------------------------------------------------------------------------------------------------
def break_nothing(folder: Path) -> None:
    folder.rmdir()


def make_file(folder: Path) -> None:
    folder.rmdir()
    folder.write_text("")


def make_other(folder: Path) -> None:
    (folder / "model.safetensors").write_text("")


def make_broken(folder: Path) -> None:
    (folder / "completions").mkdir()
    (folder / "completions" / "completions_00001.parquet").write_bytes(b"PAR1")


def make_columns(folder: Path) -> None:
    (folder / "completions").mkdir()
    table = pandas.DataFrame({"step": [1], "prompt": ["p"], "completion": ["c"], "other_reward": [1.0]})
    table.to_parquet(folder / "completions" / "completions_00001.parquet")


def make_empty(folder: Path) -> None:
    write_run(folder / "x", steps=1)
    (folder / "x" / "completions").rename(folder / "completions")
    path = folder / "completions" / "completions_00001.parquet"
    pandas.read_parquet(path).head(0).to_parquet(path)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (break_nothing, "run: no such folder; expected the output_dir of a training run"),
        (make_file, "run: not a folder"),
        (make_other, "run: no completions/*.parquet, which a trainer with `log_completions: true` writes; the folder "
                     "holds model.safetensors"),
        (make_broken, "completions_00001.parquet: not read"),
        (make_columns, "completions_00001.parquet: no column 'gold', 'extracted', 'outcome', 'decided_by'; its "
                       "columns: 'step', 'prompt', 'completion', 'other_reward'"),
        (make_empty, "completions: no completions in 1 files"),
    ],
)  # fmt: skip
def test_bad_folder_is_one_clear_line(make: Any, message: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    make(folder)
    with pytest.raises(DataError) as refused:
        write_report(folder)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_page_that_cannot_be_written_is_named(run: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"report.html: cannot be written \(No such file or directory\)"):
        write_report(run, tmp_path / "nowhere" / "report.html")


def write_rows(folder: Path, log: list[dict[str, float]], **columns: list[object]) -> Path:
    """A run of one step."""
    (folder / "completions").mkdir(parents=True)
    table = pandas.DataFrame({"step": 1, **columns})
    table.to_parquet(folder / "completions" / "completions_00001.parquet")
    (folder / "trainer_state.json").write_text(json.dumps({"log_history": log}))
    return folder


STRICT = Policy(percent="value")


@pytest.mark.parametrize(
    ("policy", "flags", "shown"),
    [
        (None, [], {"graded again, the answer is correct", "graded again by the default policy it is correct"}),
        (STRICT, ["--policy", "percent=value"], set()),
    ],
)
def test_a_run_is_graded_again_by_its_own_policy(
    tmp_path: Path, policy: Policy | None, flags: list[str], shown: set[str]
) -> None:
    logged: dict[str, list[Any]] = {}
    texts = [r"\boxed{50}", r"\boxed{50\%}"]
    paid = MathReward(policy=STRICT, name="r")(completions=texts, solution=[r"50\%"] * 2, log_extra=logged.__setitem__)
    assert paid == [0.0, 1.0]
    run = write_rows(tmp_path / "run", [], prompt=["p", "p"], completion=texts, r=paid, **logged)
    text = write_report(run, policy=policy).read_text(encoding="utf-8")
    assert set(re.findall("graded again[^<;]*correct", text)) == shown
    assert ("by Policy(percent=&#39;value&#39;)." in text) == (policy is not None)
    by_command = tmp_path / "by_command.html"
    done = CliRunner().invoke(app, ["report", str(run), "--out", str(by_command), *flags])
    assert done.exit_code == 0
    assert set(re.findall("graded again[^<;]*correct", by_command.read_text(encoding="utf-8"))) == shown


def test_partial_credit_is_no_unfinished_answer() -> None:
    logged: dict[str, list[str]] = {}
    assert shaped_reward(completions=[r"\boxed{x = 4 apples}"], solution=["4"], log_extra=logged.__setitem__) != [0.0]
    columns = (logged[name][0] for name in ("gold", "extracted", "outcome", "decided_by"))
    paid = Rollout(1, "p", r"\boxed{x = 4 apples}", *columns, {}, None)
    assert not find_suspicions([paid], shaped_reward.policy)


@pytest.mark.parametrize(
    ("log", "names"),
    [
        ([{"step": 1, "rewards/r/mean": 1.0, "rewards/r/std": 0.0, "rewards/second/mean": 0.0}], ["r", "second"]),
        ([{"step": 1, "reward": 1.0}], ["r", "length", "second"]),
        ([], ["r", "length", "second"]),
    ],
)
def test_rewards_are_those_that_the_log_names(tmp_path: Path, log: list[dict[str, float]], names: list[str]) -> None:
    logged: dict[str, list[Any]] = {}
    accuracy_reward(completions=["#### 4"], solution=["4"], log_extra=logged.__setitem__)
    columns = {"r": [1.0], "length": [6], "second": [None], "note": ["x"], **logged}
    run = write_rows(tmp_path, log, prompt=["p"], completion=["#### 4"], **columns)
    assert read_run(run).reward_names == names


def test_missing_values_are_read(tmp_path: Path) -> None:
    (tmp_path / "completions").mkdir()
    table = pandas.DataFrame({
        "step": [1, 1], "prompt": [None, "p"], "completion": [None, "#### 4"], "gold": ["4", None],
        "extracted": [None, "4"], "outcome": ["no_answer", "bad_gold"], "decided_by": ["extraction", "gold"],
        "accuracy_reward": [math.nan, None], "other/gold": ["x", "y"],
    })  # fmt: skip
    table.to_parquet(tmp_path / "completions" / "completions_00001.parquet")
    run = read_run(tmp_path)
    assert [(r.prompt, r.completion, r.gold, r.rewards) for r in run.rollouts] == [
        ("", "", "4", {"accuracy_reward": None}),
        ("p", "#### 4", "", {"accuracy_reward": None}),
    ]
    assert write_report(tmp_path).exists()


# -- rules -------------------------------------------------------------------------------------------------------------
def rollout(completion: str, gold: str, prompt: str = "p", step: int = 1) -> Rollout:
    logged: dict[str, list[str]] = {}
    accuracy_reward(completions=[completion], solution=[gold], prompts=[prompt], log_extra=logged.__setitem__)
    columns = (logged[name][0] for name in ("gold", "extracted", "outcome", "decided_by"))
    return Rollout(step, prompt, completion, *columns, {}, None)


@pytest.mark.parametrize(
    ("completion", "gold", "kind", "reason"),
    [
        (r"\boxed{0.667}", "2/3", FALSE_REJECT, "equal to the gold within 0.1 %"),
        (r"\boxed{0.6}", "2/3", None, ""),
        (r"\boxed{10001}", "10000", None, "integers compare exactly"),
        (r"\boxed{30@}", "30", FALSE_REJECT, "the gold stands in an answer that could not be read"),
        (r"\boxed{130@}", "30", None, ""),
        (r"so \boxed{27", "27", FALSE_REJECT, "no answer was found, and the gold stands in the last line"),
        (r"so \boxed{275", "27", None, ""),
        (r"\boxed{2+2}", "4", HACK, "the answer leaves an operation to perform"),
        (r"\boxed{4}", "4", None, ""),
        (r"\boxed{\frac{8}{2}}", "4", None, ""),
        (r"\boxed{4}}}", "4", HACK, "2 closing braces too many"),
        (r"\boxed{\frac{1}{\sqrt{2}}}", r"\frac{\sqrt{2}}{2}", None, ""),
        (r"\boxed{1} " * 4 + "then " + r"\boxed{4}", "4", HACK, "5 boxes in one completion"),
        (r"\boxed{x^2 + " + "0 + " * 30 + "1}", "x^2+1", HACK, "the answer has "),
    ],
)
def test_rules(completion: str, gold: str, kind: str | None, reason: str) -> None:
    found = find_suspicions([rollout(completion, gold)]).get(0)
    assert (found.kind if found else None) == kind
    assert found is None or found.reason.startswith(reason)


def test_answer_out_of_the_prompt() -> None:
    said = rollout(r"\boxed{x^2 + 2x + 1}", "(x+1)^2", prompt="Factor x^2 + 2x + 1.")
    assert find_suspicions([said])[0].reason == "the answer stands in the prompt, as it is"


@pytest.mark.parametrize(
    ("answers", "suspected"),
    [
        (["12", "12", "12", "7"], {0, 1, 2}),
        (["12", "12", "7", "7"], set()),
        (["12", "12"], set()),
        (["12", "12", "12", "10"], set()),
    ],
)
def test_group_that_agrees_against_its_gold(answers: list[str], suspected: set[int]) -> None:
    assert set(find_suspicions([rollout(f"#### {answer}", "10") for answer in answers])) == suspected


def test_groups_are_apart() -> None:
    spread = [rollout("#### 12", "10", step=step) for step in range(1, 5)]
    assert not find_suspicions(spread)


# -- curves and texts --------------------------------------------------------------------------------------------------
def points(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"[ML](-?[\d.e+-]+) (-?[\d.e+-]+)", path)]


VALUES = st.lists(st.none() | st.floats(-1e6, 1e6), min_size=1, max_size=40)


@given(VALUES)
def test_curves_stay_in_their_box(values: list[float | None]) -> None:
    chart = lines([float(n) for n in range(len(values))], [Curve("c", "reward", values)], "{:g}".format)
    drawn = points(chart.lines[0].path)
    assert len(drawn) == sum(value is not None for value in values) * (2 if len(values) == 1 else 1)
    assert all(0 <= x <= 1000 and -0.01 <= y <= 100.01 for x, y in drawn)
    heights = [tick.at for tick in chart.y]
    assert heights == sorted(heights, reverse=True)
    assert 2 <= len(heights) <= 6
    assert json.loads(chart.readings)["curves"][0]["texts"].count("–") == values.count(None)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=40))
def test_stacked_shares_fill_their_box(pairs: list[tuple[float, float]]) -> None:
    first = [a for a, _ in pairs]
    chart = stacked([float(n) for n in range(len(pairs))],
                    [Curve("a", "a", first), Curve("b", "b", [1 - a for a in first])], "{:.0%}".format)  # fmt: skip
    top = points(chart.lines[1].path)[: max(2, len(pairs))]
    assert {top[0][0], top[-1][0]} == {0.0, 1000.0}, "over the whole width, also of one step"
    assert all(y == pytest.approx(0, abs=0.01) for _, y in top)


def test_long_log_is_thinned_to_means() -> None:
    count = 10 * MAX_POINTS
    values = [float(n % 2) for n in range(count)]
    chart = lines([float(n) for n in range(count)], [Curve("c", "reward", values)], "{:g}".format)
    drawn = points(chart.lines[0].path)
    assert len(drawn) == MAX_POINTS
    assert {y for _, y in drawn} == {50.0}


@given(st.integers(0, 30_000), st.integers(0, 30_000), st.integers(1, 20_000))
def test_parts_show_the_answer_of_any_text(length: int, start: int, size: int) -> None:
    text = "".join(chr(97 + n % 26) for n in range(length))
    start = min(start, length)
    span = (start, min(start + size, length))
    parts = _parts(text, span)
    gaps = sum(int(part.split()[0].replace(",", "")) for name, part in parts if name == "gap")
    shown = sum(len(part) for name, part in parts if name != "gap")
    assert gaps + shown == length
    assert shown <= 2 * MAX_TEXT + 800
    if span[1] - span[0] <= MAX_TEXT:
        assert "".join(part for name, part in parts if name == "mark") == text[slice(*span)]
