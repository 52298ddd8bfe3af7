"""The questions that can be asked: one function for each command of the program.

Keys of a scenario are arguments. A value is written as in a scenario: 8192, "128K", "30%", {"sync": "gpu"}. A list of
values is a sweep: each of them is tried, with each of every other list. A key inside another one is named by its path
in `keys`: keys={"mechanisms.budget": ["10%", "30%"]}. `spillway simulate --help` describes all keys.
"""

import itertools
import json
import operator
import os
import shlex
import struct
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Optional, Union

from . import policy as python_policy
from . import results
from .answer import Advice, Rows
from .call import Error, ask

Value = Union[str, int, float, bool, Mapping, Sequence]
Names = Union[str, Sequence[str]]
Paths = Union[str, os.PathLike, Sequence]

# Keys for which a list is a value, not a sweep.
_LISTS = ("contexts",)


# ---- words for the program -------------------------------------------------------------------------------------------

def _is_list(value):
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping, os.PathLike))


def _written(value):
    """A value in YAML's flow style, which JSON is."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(str(key))}: {_written(one)}" for key, one in value.items()) + "}"
    if _is_list(value):
        return "[" + ", ".join(map(_written, value)) + "]"
    if python_policy.is_policy(value):
        raise TypeError(f"'{value.__name__}' is a policy in Python, which 'curve' alone runs; others run plug-ins in C")
    if hasattr(value, "item"):  # a number of numpy
        value = value.item()
    return json.dumps(os.fspath(value) if isinstance(value, os.PathLike) else value, ensure_ascii=False)


def _typed(value):
    """A value as it is typed behind an option, or behind KEY=."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    plain = isinstance(value, str) and value and not set(value) & set("[]{},:#&*!|>'\"%@` \t\n\\")
    return value if plain or isinstance(value, str) and _is_plain_share(value) else _written(value)


def _is_plain_share(text):
    return text.endswith("%") and text[:-1].replace(".", "", 1).isdigit()


def _keys(given):
    """What is set, and what is swept, of arguments and `keys`; None leaves a key out."""
    nested = given.pop("keys", None) or {}
    both = {**{key: value for key, value in given.items() if value is not None}, **nested}
    swept = {key: list(value) for key, value in both.items() if _is_list(value) and key not in _LISTS}
    words = []
    for key, value in both.items():
        words += ["--set", f"sweep.{key}={_written(value)}" if key in swept else f"{key}={_typed(value)}"]
    return words, swept


def _files(files):
    return [os.fspath(file) for file in files]


def _listed(names):
    """Names for an option that takes several."""
    if isinstance(names, Mapping):
        return ",".join(f"{name}={value}" for name, value in names.items())
    return ",".join(map(str, names)) if _is_list(names) else str(names)


def _option(name, value):
    """An option with its value; none if it is None or False, the option alone if it is True."""
    if value is None or value is False:
        return []
    return [name] if value is True else [name, os.fspath(value) if isinstance(value, os.PathLike) else _listed(value)]


def _axes(over):
    """An axis as the program reads it: a name, "budget=0:1", {"budget": ["10%", "20%"]}, or a list of these."""
    if isinstance(over, Mapping):
        return [f"{key}={_written(value) if _is_list(value) else value}" for key, value in over.items()]
    return [over] if isinstance(over, str) else list(over)


def _command(words):
    return "spillway " + " ".join(shlex.quote(word) for word in words if word != "--json")


def _ask(words, **keywords):
    rows, met = ask([*words, "--json"], **keywords)
    return rows, {"command": _command(words), "met": met if keywords.get("may_be_unmet") else None}


def _with_swept(rows, swept):
    """Each row with the values that it was swept to, if the program's columns lack them. Rows come in the order of the
    sweep."""
    points = list(itertools.product(*swept.values()))
    if len(points) == len(rows):
        rows = [{**{key: value for key, value in zip(swept, point) if key not in row}, **row}
                for row, point in zip(rows, points)]
    return rows


# ---- questions -------------------------------------------------------------------------------------------------------

def simulate(*files: Union[str, os.PathLike], model: Optional[Value] = None, hardware: Optional[Value] = None,
             system: Optional[Value] = None, context: Optional[Value] = None, batch: Optional[Value] = None,
             trace: Optional[Value] = None, workload: Optional[Value] = None,
             keys: Optional[Mapping[str, Value]] = None, server: Optional[str] = None, db: Optional[str] = None,
             replications: Optional[int] = None, precision: Optional[str] = None, require_basis: Optional[str] = None,
             jobs: Optional[int] = None, cache: bool = True, **more: Value) -> Rows:
    """How fast every point of a scenario decodes: a row for each.

    files          scenarios (YAML), over which the keys are laid
    model ... keys keys of the scenario (see above); `more` takes every other key
    server         a server's log, command line or /metrics, from which keys are taken (--from)
    db             a results file that keeps the runs; runs that are in it are not computed again
    replications   runs of each point with the machine's figures drawn from their ranges
    precision      as many of them as bring the mean within this share, such as "1%"
    require_basis  fail if a figure rests on less than "measured", "published", "datasheet" or "assumed"
    jobs           threads; no result depends on it
    cache          keep replays in ~/.cache/spillway, and use those that are there

    >>> import spillway
    >>> rows = spillway.simulate(model="llama-3-8b", hardware="a40", system=["vllm", "fullattn"], context="8K", steps=2)
    >>> rows
    system    batch  tpot_ms  decode_tokens_per_s
    vllm      1      31.83    31.41
    fullattn  1      30.37    32.93
    >>> rows[0]["hbm_bytes"]
    17134785536
    >>> rows.command
    'spillway simulate --set model=llama-3-8b --set hardware=a40 --set \\'sweep.system=["vllm", "fullattn"]\\' ...'

    With pandas, rows.frame is a DataFrame of all columns.
    """
    words, swept = _keys(dict(model=model, hardware=hardware, system=system, context=context, batch=batch, trace=trace,
                              workload=workload, **more, keys=keys))
    words = ["simulate", *_files(files), *words, *_option("--from", server), *_option("--db", db),
             *_option("--replications", replications), *_option("--precision", precision),
             *_option("--require-basis", require_basis), *_option("--jobs", jobs), *_option("--no-cache", not cache)]
    rows, about = _ask(words)
    return Rows(_with_swept(rows, swept), varied=swept, **about)


def whatif(over: Union[str, Mapping, Sequence], *files: Union[str, os.PathLike], model: Optional[Value] = None,
           hardware: Optional[Value] = None, system: Optional[Value] = None, context: Optional[Value] = None,
           batch: Optional[Value] = None, trace: Optional[Value] = None, workload: Optional[Value] = None,
           points: Optional[int] = None, keys: Optional[Mapping[str, Value]] = None, db: Optional[str] = None,
           jobs: Optional[int] = None, cache: bool = True, **more: Value) -> Rows:
    """A scenario along an axis, or two: a row for each point.

    over    a key, a mechanism or a figure of the machine, over its usual range; "KEY=FROM:TO"; {"KEY": [A, B, C]}; a
            list or a map of two makes a grid
    points  the number of values in a range

    >>> import spillway
    >>> spillway.whatif({"context": ["8K", "16K", "32K"]}, model="llama-3-8b", hardware="a40", system="vllm", steps=2)
    context  batch  tpot_ms  decode_tokens_per_s
    8192     1      31.83    31.41
    16384    1      33.66    29.71
    32768    1      37.31    26.81
    """
    words, _ = _keys(dict(model=model, hardware=hardware, system=system, context=context, batch=batch, trace=trace,
                          workload=workload, **more, keys=keys))
    words = ["whatif", *_files(files), "--over", ",".join(_axes(over)), *words, *_option("--points", points),
             *_option("--db", db), *_option("--jobs", jobs), *_option("--no-cache", not cache)]
    own = over if isinstance(over, Mapping) and all(map(_is_list, over.values())) else None
    if own is not None:
        rows, about = _ask(words)
        return Rows(_with_swept(rows, own), varied=own, **about)
    with tempfile.TemporaryDirectory(prefix="spillway-") as folder:
        kept = db or os.path.join(folder, "whatif.db")
        rows, about = _ask([*words, *([] if db else ["--db", kept])])
        rows, axes = _with_axes(rows, kept)
    return Rows(rows, varied=axes, **{**about, "command": _command(words)})


def _with_axes(rows, db):
    """Each row with the keys of its scenario in which the rows differ, and these keys: the values of an axis are chosen
    by the program, which prints runs alone and keeps their scenarios."""
    stored = results.runs(db, where={"run": [row["run"] for row in rows]})
    flat = {row["run"]: results.keys(row["scenario"]) for row in stored}
    axes = [key for key in dict.fromkeys(key for one in flat.values() for key in one)
            if len({repr(one.get(key)) for one in flat.values()}) > 1 and not key.endswith(".extends")]
    return [{**{key: flat[row["run"]].get(key) for key in axes}, **row} for row in rows], axes


def plan(*files: Union[str, os.PathLike], target: Optional[Names] = None, minimise: Optional[str] = None,
         maximise: Optional[str] = None, best: Optional[str] = None, pareto: bool = False,
         over: Union[str, Mapping, Sequence, None] = None, system: Optional[Names] = None,
         hardware: Optional[Names] = None, price: Optional[Mapping[str, float]] = None, allow: Optional[Names] = None,
         model: Optional[Value] = None, context: Optional[Value] = None, batch: Optional[Value] = None,
         trace: Optional[Value] = None, workload: Optional[Value] = None, keys: Optional[Mapping[str, Value]] = None,
         server: Optional[str] = None, replications: Optional[int] = None, db: Optional[str] = None,
         deploy: Optional[str] = None, jobs: Optional[int] = None, cache: bool = True, **more: Value) -> Rows:
    """The smallest or largest value, such as a budget or a rate, that meets targets: a row for each candidate.

    target             "tpot_ms<=70", or a list of such; columns of simulate() with a bound
    minimise, maximise the axis whose smallest or largest value is sought
    best               in their place: the column that is to be best, over the axis `over`
    pareto             in their place: all runs that no other beats
    system, hardware   the candidates: a name, a list of names, or "all"
    price              dollars an hour of a GPU of each machine
    allow              "lossy", "paper", or both: systems that are else left out
    deploy             a folder for files that start the best candidate's servers

    rows.met says whether a candidate meets the targets; the winner's row has winner True. A row's "run" is a row as
    simulate() returns it, and "value" what was sought.

    >>> import spillway
    >>> rows = spillway.plan(target="tpot_ms<=40", maximise="batch", system="vllm", hardware="a40", model="llama-3-8b",
    ...                      context="8K", steps=2)
    >>> rows.met, rows[0]["value"], round(rows[0]["run"]["tpot_ms"], 1)
    (True, '5', 39.2)
    """
    words, _ = _keys(dict(model=model, context=context, batch=batch, trace=trace, workload=workload, **more, keys=keys))
    words = ["plan", *_files(files), *_option("--target", target), *_option("--minimise", minimise),
             *_option("--maximise", maximise), *_option("--best", best), *_option("--pareto", pareto),
             *_option("--over", _axes(over) if over else None), *_option("--system", system),
             *_option("--hardware", hardware), *_option("--price", price), *_option("--allow", allow), *words,
             *_option("--from", server), *_option("--replications", replications), *_option("--db", db),
             *_option("--deploy", deploy), *_option("--jobs", jobs), *_option("--no-cache", not cache)]
    rows, about = _ask(words, may_be_unmet=True)
    return Rows(rows, varied=["system", "hardware"], **about)


def advise(model: str, hardware: Names, *, context: Union[str, int, None] = None, tpot: Optional[str] = None,
           ttft: Optional[str] = None, rate: Optional[float] = None, price: Optional[Mapping[str, float]] = None,
           weights: Optional[Names] = None, gpus: Optional[int] = None, mass: Optional[str] = None,
           paper: bool = False, workload: Union[str, os.PathLike, None] = None,
           keys: Optional[Mapping[str, Value]] = None, db: Optional[str] = None, html: Optional[str] = None,
           deploy: Optional[str] = None, jobs: Optional[int] = None, cache: bool = True, **more: Value) -> Advice:
    """What to run for a model on a machine, at which batch, and whether offloading pays.

    hardware     a machine; with `rate` also several
    context      tokens of a sequence
    tpot, ttft   most time of a token, and to the first token: "50ms", "p50:2s"
    rate         requests a second: how many GPUs hold them?
    price        dollars an hour of a GPU of each machine
    weights      with rate: types that the weights may have
    mass         also lossy systems that attend to this share of the attention mass
    workload     requests to serve: a file, or "synthetic:prompt=8000,output=300"
    html         a file for a page of the answer, with all runs behind sliders
    deploy       a folder for files that start the advised servers, and a benchmark

    The rows are what was weighed; advice.verdict has the sentences and their numbers; advice.met is False if nothing
    fits within the limits.

    >>> import spillway
    >>> advice = spillway.advise("llama-3.1-8b", "a40", context="64K")
    >>> advice.verdict["system"], advice.verdict["batch"]
    ('vllm', 3)
    >>> print(advice)
    run      vllm, no offloading, with 3 sequences at a time: about 41 tokens a second, 74 ms a token...
    """
    words, _ = _keys(dict(**more, keys=keys))
    words = ["advise", model, _listed(hardware), *_option("--context", context), *_option("--tpot", tpot),
             *_option("--ttft", ttft), *_option("--rate", rate), *_option("--price", price),
             *_option("--weights", weights), *_option("--gpus", gpus), *_option("--mass", mass),
             *_option("--paper", paper), *_option("--workload", workload), *words, *_option("--db", db),
             *_option("--html", html), *_option("--deploy", deploy), *_option("--jobs", jobs),
             *_option("--no-cache", not cache)]
    rows, about = _ask(words, may_be_unmet=True)
    return Advice(rows[0].get("verdict", {}), rows[1:], **about)


def curve(trace: Any, policy: Any = None, sizes: Optional[Sequence] = None, *, by: Optional[str] = None,
          selection: Optional[str] = None, order: Optional[str] = None, layers: Optional[Sequence[int]] = None,
          db: Optional[str] = None) -> Rows:
    """Hit ratios of cache policies at a range of cache sizes: a row for each size.

    trace      a trace by name or path; or a stream of block ids, such as [0, 1, 2, 0]
    policy     a name, {"name": "qsac", "eta": 0.9}, a Policy of yours, or a list of these; default: every policy
    sizes      blocks, or shares of all blocks such as "30%"
    by         "layer" or "head": a curve for each
    selection  share of a trace's context in each demand
    order      "batch" or "sequential"
    layers     layers of the model
    db         a results file that keeps the curves

    Each row also has hit_ratio, which the program leaves to its reader.

    >>> import spillway
    >>> spillway.curve([0, 1, 2, 0, 1, 3, 0, 1], policy=["lru", "fifo"], sizes=[2, 3])
    policy  size  hit_ratio
    lru     2     0
    lru     3     0.5
    fifo    2     0
    fifo    3     0.25
    """
    policies = list(policy) if _is_list(policy) else [policy] if policy is not None else []
    with tempfile.TemporaryDirectory(prefix="spillway-") as folder:
        own = python_policy.Served([one for one in policies if python_policy.is_policy(one)], folder, db)
        words = ["curve", _stream(trace, folder)]
        for one in policies:
            words += ["--policy", own.word(one) or _typed(one)]
        words += [*_option("--sizes", sizes), *_option("--by", by), *_option("--selection", selection),
                  *_option("--order", order), *_option("--layers", layers), *_option("--db", db)]
        try:
            rows, about = _ask(words, served=own.keywords())
        except Error as why:
            raise own.named(why) from None
        if any(folder in word for word in words):  # its files are gone when a shell could ask
            about["command"] = None
    for row in rows:
        own.name(row)
        row["hit_ratio"] = 1 - row["misses"] / row["accesses"] if row["accesses"] else None
    return Rows(rows, **about)


_BLOCKS = 1 << 32


def _block(one):
    """An id of a stream: an int, or a whole number of numpy."""
    try:
        block = operator.index(one)
    except TypeError:
        raise TypeError(f"a stream holds whole numbers, not {one!r}") from None
    if not 0 <= block < _BLOCKS:
        raise ValueError(f"a stream holds numbers from 0 to {_BLOCKS - 1}, not {block}")
    return block


def _stream(trace, folder):
    """The operand of a trace; ids are written to a file first."""
    if isinstance(trace, (str, os.PathLike)):
        return os.fspath(trace)
    ids = [_block(one) for one in trace]
    path = os.path.join(folder, "ids.u32")
    with open(path, "wb") as file:
        file.write(struct.pack(f"<{len(ids)}I", *ids))
    return path
