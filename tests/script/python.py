"""The module `spillway` beside the program that it runs. Prints TAP."""

import contextlib
import doctest
import io
import json
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import typing

import spillway
from spillway import answer, call, policy, questions

MODULES = (spillway, call, questions, policy, answer)
LLAMA = dict(model="llama-3-8b", hardware="a40", context="8K", trace="smollm2-135m", steps=4)
TESTS = []


def test(function):
    TESTS.append(function)
    return function


def printed(*words):
    """What the program prints as JSON."""
    out = subprocess.run([spillway.program(), *words, "--json"], stdout=subprocess.PIPE, check=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def refused(kind, call, *arguments, **keywords):
    try:
        call(*arguments, **keywords)
    except kind as why:
        return why
    raise AssertionError(f"{call.__name__} is not refused")


def no_child_is_left():
    try:
        return os.waitpid(-1, os.WNOHANG) == (0, 0) and False
    except ChildProcessError:
        return True


class Fifo(spillway.Policy):
    def access(self, demand):
        for block in reversed(demand.misses):
            if len(self.held) == self.capacity:
                self.evict(next(iter(self.held)))
            self.admit(block)


# ---- tests -----------------------------------------------------------------------------------------------------------

@test
def examples_work():
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    found = [doctest.testmod(module, optionflags=flags) for module in MODULES]
    assert sum(one.attempted for one in found) >= 20 and not any(one.failed for one in found), found


@test
def the_page_works():
    page = pathlib.Path(__file__).parents[2] / "docs/python.md"
    found = doctest.testfile(str(page), module_relative=False)
    assert found.attempted >= 6 and not found.failed, found


@test
def every_function_is_described():
    for name in spillway.__all__:
        assert getattr(spillway, name).__doc__, name


def columns_module():
    """python/spillway/columns.py, as it follows from the program's list of columns."""
    listed = [one for one in printed("list", "columns") if one["data"]]
    nested = {"parts_us", "stalls_us", "basis_share", "error_band", "ttft_band", "tpot_band", "notes"}
    texts = [one["column"] for one in listed if one["unit"] == "text"]
    numbers = [one["column"] for one in listed if one["unit"] != "text" and one["column"] not in nested]
    lines = ['"""The columns of rows of simulate() and whatif(), as the program names them: {column: (unit, meaning)}.',
             "", '`UPDATE=1 tests/script/python.sh` writes this file from `spillway list columns`. Below are the types of values,',
             'each or None; other columns hold maps and lists."""', "", "from typing import Literal", "", "COLUMNS = {"]
    lines += [f"    {json.dumps(one['column'])}: ({json.dumps(one['unit'])}, {json.dumps(one['what'])})," for one in listed]
    lines += ["}", ""]
    for name, columns in (("Text", texts), ("Number", numbers)):
        lines += [f"{name} = Literal[", *(f"    {json.dumps(one)}," for one in columns), "]"]
    return "\n".join(lines) + "\n"


@test
def columns_are_those_of_the_program():
    path = pathlib.Path(spillway.__file__).with_name("columns.py")
    if os.environ.get("UPDATE", "0") != "0":
        path.write_text(columns_module(), encoding="utf-8")
    assert path.read_text(encoding="utf-8") == columns_module(), "UPDATE=1 writes it"
    served = dict(model="llama-3.1-8b", hardware="rtx-4090", rate=2, prompt=200, output=20, limit=20, system="vllm")
    for row in (*spillway.simulate(system="retroinfer-10pct", **LLAMA), *spillway.simulate(**served)):
        for column in typing.get_args(spillway.columns.Text):
            assert isinstance(row.get(column), (str, type(None))), column
        for column in typing.get_args(spillway.columns.Number):
            assert isinstance(row.get(column), (int, float, type(None))), column


@test
def rows_are_what_the_program_prints():
    rows = spillway.simulate(system="retroinfer-10pct", **LLAMA)
    words = [word for key, value in {**LLAMA, "system": "retroinfer-10pct"}.items() for word in ("--set", f"{key}={value}")]
    assert list(rows) == printed("simulate", *words)
    assert rows.command.startswith("spillway simulate --set ") and "--json" not in rows.command


@test
def values_of_every_kind_reach_the_program():
    pathlib.Path("a.yaml").write_text("model: llama-3-8b\nhardware: a40\n", encoding="utf-8")
    rows = spillway.simulate(pathlib.Path("a.yaml"), system="retroinfer-10pct", contexts={"4K": 1, "8K": 1}, steps=4, seed=2,
                             trace="smollm2-135m", mechanisms={"sync": "gpu"},
                             keys={"mechanisms.budget": ["10%", "30%"]})
    assert [row["mechanisms.budget"] for row in rows] == ["10%", "30%"]
    assert rows[0]["batch"] == 2 and rows[0]["cache_bytes"] < rows[1]["cache_bytes"] and rows[0]["seed"] == 2
    listed = spillway.simulate("a.yaml", system="vllm", contexts=["4K", "8K"], steps=4)
    assert len(listed) == 1 and listed[0]["batch"] == 2


@test
def an_axis_has_its_values():
    rows = spillway.whatif("budget=0:50%", points=3, system="retroinfer-10pct", **LLAMA)
    assert rows.varied == ("mechanisms.budget",)
    assert [row["mechanisms.budget"] for row in rows] == ["0%", "25%", "50%"]
    assert "whatif.db" not in rows.command
    own = spillway.whatif({"batch": [1, 2]}, system="retroinfer-10pct", **LLAMA)
    assert [row["batch"] for row in own] == [1, 2] and own.varied == ("batch",)


@test
def a_search_without_an_answer_is_no_error():
    rows = spillway.plan(target=["tpot_ms<=1"], system=["vllm", "fullattn"], **LLAMA)
    assert rows.met is False and [row["met"] for row in rows] == [False, False]
    assert spillway.advise("llama-3.1-8b", "a40", context="8K", tpot="1ms").met is False
    rows = spillway.simulate(system="vllm", **{**LLAMA, "model": "llama-3.1-70b"})
    assert rows.met is False and rows[0]["status"] == "out-of-memory", rows
    assert spillway.simulate(system="vllm", **LLAMA).met is True


@test
def an_answer_is_handed_on():
    with tempfile.TemporaryDirectory() as folder:
        advice = spillway.advise("llama-3.1-8b", "a40", context="8K", html=f"{folder}/page.html", deploy=f"{folder}/run")
        with open(f"{folder}/page.html", encoding="utf-8") as page:
            assert advice.verdict["run"].split(":")[0] in page.read()
        with open(f"{folder}/run/vllm.sh", encoding="utf-8") as script:
            assert f"--max-num-seqs {advice.verdict['batch']} " in script.read()


@test
def an_error_has_the_parts_of_the_message():
    why = refused(spillway.Error, spillway.simulate, modl="llama-3-8b")
    assert (why.key, why.place, why.nearest, why.status) == ("modl", "--set", "model", 2), vars(why)
    assert str(why).startswith("--set: unknown key 'modl' in 'scenario'\n") and "simulate --help" in why.expected
    why = refused(spillway.Error, spillway.simulate, model="llama-3-8b", hardware="a40", context="8K")
    assert why.key == "system" and why.place is None and why.found == "'system' is missing from the scenario"
    pathlib.Path("b.yaml").write_text("model: llama-3-8b\ngranularty: 1\n", encoding="utf-8")
    why = refused(spillway.Error, spillway.simulate, "b.yaml")
    assert (why.place, why.key, why.status) == ("b.yaml:2", "granularty", 1), vars(why)
    why = refused(spillway.Error, spillway.advise, "llama-3.1-8b", "a4")
    assert (why.key, why.nearest) == ("hardware", "l4"), vars(why)
    why = refused(spillway.Error, spillway.simulate, system="vllm", **{**LLAMA, "context": "8X"})
    assert (why.key, why.place) == ("context", "--set") and why.expected.startswith("a number of tokens"), vars(why)


@test
def an_error_passes_between_processes():
    for why in (refused(spillway.Error, spillway.simulate, modl="llama-3-8b"), spillway.ProgramNotFound("gone")):
        again = pickle.loads(pickle.dumps(why))
        assert type(again) is type(why) and str(again) == str(why) and vars(again) == vars(why), vars(again)


@test
def an_operand_is_no_option():
    why = refused(spillway.Error, spillway.simulate, "--db=x.db", model="llama-3-8b")
    assert "cannot be opened" in why.found and not pathlib.Path("x.db").exists(), vars(why)
    assert "unknown model '--json'" in str(refused(spillway.Error, spillway.advise, "--json", "a40"))
    assert refused(spillway.Error, spillway.curve, "-oids.u32", policy="lru").status == 1
    pathlib.Path("-a.yaml").write_text("model: llama-3-8b\nhardware: a40\nsystem: vllm\n", encoding="utf-8")
    rows = spillway.simulate("-a.yaml", context="8K", steps=2)
    assert rows[0]["system"] == "vllm" and rows.command.endswith(" -- -a.yaml"), rows.command
    assert "open database" in str(refused(spillway.Error, spillway.simulate, system="vllm", db="--json/x", **LLAMA))


@test
def a_generator_is_the_list_of_its_values():
    listed = spillway.simulate(system=["vllm", "fullattn"], **LLAMA)
    assert spillway.simulate(system=(name for name in listed.varied and ("vllm", "fullattn")), **LLAMA) == listed
    assert spillway.simulate(keys={"system": iter(["vllm", "fullattn"])}, **LLAMA) == listed
    along = spillway.whatif({"batch": (one for one in (1, 2))}, system="vllm", **LLAMA)
    assert [row["batch"] for row in along] == [1, 2] and along.varied == ("batch",)
    curves = spillway.curve((one for one in (0, 1, 0)), policy=iter(["lru", "fifo"]), sizes=iter([1, 2]))
    assert [(row["policy"], row["size"]) for row in curves] == [("lru", 1), ("lru", 2), ("fifo", 1), ("fifo", 2)]


@test
def a_text_is_that_text():
    for name in ("null", "~", "", "Null", "[vllm]", "{a: b}", "a: b", "vllm #", "*a", "&a", "!a", "---", "'", '"', "\t", "ü"):
        why = refused(spillway.Error, spillway.simulate, **{**LLAMA, "system": name})
        assert f"unknown system '{name}'" in why.found.replace("?", "\t"), (name, vars(why))


@test
def whatever_cannot_be_asked_is_an_error():
    endless = []
    endless.append(endless)
    for value in (object(), 10**5000, b"vllm", {"vllm", "fullattn"}, 1j, endless, "a\0b", "\ud800", "x" * (1 << 18), float("nan"), Fifo):
        assert refused(spillway.Error, spillway.simulate, **{**LLAMA, "system": value}).found, value
    refused(spillway.Error, spillway.simulate, object())
    refused(spillway.Error, spillway.simulate, system="vllm", db=object(), **LLAMA)
    refused(spillway.Error, spillway.whatif, None, system="vllm", **LLAMA)
    refused(spillway.Error, spillway.plan, target=object(), **LLAMA)
    refused(spillway.Error, spillway.advise, None, None)
    refused(spillway.Error, spillway.curve, 5)
    refused(spillway.Error, spillway.curve, "smollm2-135m", policy=3)
    refused(spillway.Error, spillway.simulate, keys=["batch"], system="vllm", **LLAMA)
    for call, about in ((spillway.runs, {}), (spillway.keys, {}), (spillway.runs, {"where": 5}), (spillway.sweep, {})):
        refused(spillway.Error, call, 5, **about)
    kept = os.environ["SPILLWAY_PROGRAM"]
    for path in ("/nothing", "/etc/passwd", "/"):
        os.environ["SPILLWAY_PROGRAM"] = path
        refused(spillway.Error, spillway.names, "models")
    os.environ["SPILLWAY_PROGRAM"] = kept


@test
def a_missing_program_is_said():
    kept = os.environ.pop("SPILLWAY_PROGRAM")
    looked, call._beside = call._beside, lambda folder: None
    why = refused(spillway.ProgramNotFound, spillway.program)
    os.environ["SPILLWAY_PROGRAM"], call._beside = kept, looked
    assert "pip install spillway-sim" in why.expected


@test
def without_pandas_frame_says_so_and_rows_remain():
    rows = spillway.curve([0, 1, 0], policy="lru", sizes=[1])
    try:
        assert list(rows.frame["hit_ratio"]) == [rows[0]["hit_ratio"]]
    except ImportError as why:
        assert "pandas" in str(why)
    assert "<td>lru</td>" in rows._repr_html_()


@test
def a_policy_in_python_gets_what_one_in_c_gets():
    rows = spillway.curve("smollm2-135m", policy=[Fifo, "fifo"], sizes=["10%", "30%"], layers=[3])
    assert [row["policy"] for row in rows] == ["Fifo", "Fifo", "fifo", "fifo"]
    assert [row["misses"] for row in rows[:2]] == [row["misses"] for row in rows[2:]], rows


@test
def what_a_shell_cannot_ask_has_no_command():
    assert spillway.curve([0, 1, 0], policy="lru", sizes=[1]).command is None
    assert spillway.curve("smollm2-135m", policy=Fifo, sizes=["10%"], layers=[3]).command is None
    assert "curve smollm2-135m" in spillway.curve("smollm2-135m", policy="lru", sizes=["10%"], layers=[3]).command
    refused(spillway.Error, spillway.simulate, model="smollm2-135m", hardware="a40", keys={"mechanisms.policy": Fifo})


@test
def ids_of_a_stream_are_whole_and_fit():
    assert "1.5" in str(refused(spillway.Error, spillway.curve, [1.5, 2]))
    assert "-1" in str(refused(spillway.Error, spillway.curve, [-1]))
    assert "4294967296" in str(refused(spillway.Error, spillway.curve, [1 << 32]))


@test
def a_policy_sees_the_mass():
    seen = []

    class Sees(Fifo):
        def access(self, demand):
            seen.append((demand.mass[0] >= demand.mass[-1] > 0, len(demand.recorded) > len(demand.wanted)))
            super().access(demand)
    spillway.curve("smollm2-135m", policy=Sees, sizes=["10%"], layers=[3])
    assert len(seen) > 3 * 38 and all(ordered for ordered, _ in seen) and any(more for _, more in seen)


@test
def a_policy_that_errs_ends_the_program():
    class Errs(spillway.Policy):
        def access(self, demand):
            self.evict(7)

    class Stops(spillway.Policy):
        def access(self, demand):
            raise KeyboardInterrupt

    assert "7 is evicted, and is not held" in str(refused(ValueError, spillway.curve, [0, 1], policy=Errs, sizes=[1]))
    refused(KeyboardInterrupt, spillway.curve, "smollm2-135m", policy=Stops, sizes=["10%"])
    assert no_child_is_left()
    refused(spillway.Error, spillway.curve, [0, 1], policy=Fifo, sizes=[1], db="x.db")


@test
def a_program_that_is_killed_is_an_error():
    children = pathlib.Path(f"/proc/self/task/{os.getpid()}/children")

    class Kills(Fifo):
        def access(self, demand):
            os.kill(int(children.read_text(encoding="ascii")), signal.SIGKILL)
            super().access(demand)

    if children.exists():
        assert refused(spillway.Error, spillway.curve, [0, 1] * 9, policy=Kills, sizes=[1]).status == -signal.SIGKILL


@test
def the_programs_checks_hold_for_a_policy_in_python():
    class Cheats(spillway.Policy):
        def access(self, demand):
            self.held = dict.fromkeys(demand.wanted)  # without having admitted them

    why = refused(spillway.Error, spillway.curve, [0, 0, 0], policy=Cheats, sizes=[1])
    assert "answers 1 hits of 1 wanted blocks and holds 0 of them" in why.found, why
    assert "Cheats" in str(why) and "python_policy" not in str(why), why


@test
def without_python_the_plugin_says_who_uses_it():
    path = f"{os.path.dirname(spillway.program())}/python_policy.so"
    pathlib.Path("ids.u32").write_bytes(bytes(8))
    why = refused(spillway.Error, spillway.curve, pathlib.Path("ids.u32"), policy=f"plugin:{path}", sizes=[1])
    assert why.expected == "the Python module 'spillway', whose curve() uses this", why


@test
def progress_is_passed_on():
    call._is_watched, watched = lambda: True, call._is_watched
    shown = io.StringIO()
    with contextlib.redirect_stderr(shown):
        rows = spillway.curve("smollm2-135m", policy=["lru", "fifo"], sizes=["10%"], layers=[3])
        why = refused(spillway.Error, spillway.curve, "smollm2-135m", policy="lrx")
    call._is_watched = watched
    assert len(rows) == 2 and "lru, 1 of 2 policies" in shown.getvalue(), shown.getvalue()
    assert why.nearest == "lru" and str(why).startswith("--policy: unknown policy 'lrx'\n"), why


def main():
    failures = 0
    print(f"1..{len(TESTS)}")
    for number, function in enumerate(TESTS, 1):
        try:
            function()
            fault = None
        except Exception as why:  # a fault of any kind is a failed test
            fault = f"{type(why).__name__}: {why}"
        failures += fault is not None
        print("ok" if fault is None else "not ok", number, "-", function.__name__)
        if fault is not None:
            print("#", fault.replace("\n", "\n# "))
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
