"""The questions that can be asked: one function for each command of the program.

Keys of a scenario are arguments. A value is written as in a scenario: 8192, "128K", "30%", {"sync": "gpu"}. A list of
values is a sweep: each of them is tried, with each of every other list. A key inside another one is named by its path
in `keys`: keys={"mechanisms.budget": ["10%", "30%"]}. `spillway simulate --help` describes all keys.
"""

import json
import operator
import os
import re
import shlex
import struct
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Optional, Union

from . import policy as python_policy
from .answer import Advice, Rows
from .call import Error, ask

Value = Union[str, int, float, bool, Mapping, Sequence]
Names = Union[str, Sequence[str]]
Paths = Union[str, os.PathLike, Sequence]

# Keys for which a list is a value, not a sweep.
_LISTS = ("contexts",)


# ---- words for the program -------------------------------------------------------------------------------------------

def _plain(value, deep=0):
    """A value in the types of JSON. Whatever is gone through is a list from here on: a generator gives its values once.
    """
    if hasattr(value, "tolist"):  # numpy, pandas
        value = value.tolist()
    if python_policy.is_policy(value):
        raise Error(f"'{value.__name__}' is a policy in Python, which 'curve' alone runs; others run plug-ins in C", 2)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    whole = isinstance(value, int)
    if whole and value.bit_length() < 64 or isinstance(value, (str, float, type(None))):
        return value
    if whole:
        raise Error(f"a number has {value.bit_length()} bits", 2, expected="a whole number of at most 63 bits")
    if deep < 100 and isinstance(value, Mapping):
        return {str(key): _plain(one, deep + 1) for key, one in value.items()}
    if deep < 100 and isinstance(value, Iterable) and not isinstance(value, (bytes, bytearray, set, frozenset)):
        return [_plain(one, deep + 1) for one in value]
    raise Error(f"a value is a {type(value).__name__}", 2, expected="a text, a number, a list, or a map of such")


def _written(value):
    """A plain value in YAML's flow style, which JSON is."""
    return json.dumps(value, ensure_ascii=False)


def _typed(value):
    """A plain value as it is typed behind an option, or behind KEY=: no text that YAML reads as something else."""
    plain = isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9/_][A-Za-z0-9/_.+%-]*", value) and value != "null"
    return value if plain else _written(value)


def _keys(keys, **given):
    """Words for what is set, and what is swept, of `keys` and of arguments; None leaves an argument out."""
    words = []
    if not isinstance(keys, (Mapping, type(None))):
        raise Error(f"'keys' is a {type(keys).__name__}", 2, expected='a map of keys to values, as {"mechanisms.budget": "30%"}')
    for key, value in {**{key: value for key, value in given.items() if value is not None}, **(keys or {})}.items():
        value = _plain(value)
        swept = isinstance(value, list) and key not in _LISTS
        words += ["--set", f"sweep.{key}={_written(value)}" if swept else f"{key}={_typed(value)}"]
    return words


def _listed(names):
    """Plain names for an option that takes several."""
    if isinstance(names, dict):
        return ",".join(f"{name}={value}" for name, value in names.items())
    return ",".join(map(str, names)) if isinstance(names, list) else str(names)


def _with_value(option, value):
    """An option and its value, which is no option itself."""
    return [f"{option}={value}"] if value.startswith("-") else [option, value]


def _options(**given):
    """Options with their values; none for None or False, the option alone for True. `server` is --from."""
    words = []
    for name, value in given.items():
        name = f"--{'from' if name == 'server' else name.replace('_', '-')}"
        value = _plain(value)
        if value is True:
            words.append(name)
        elif value is not None and value is not False:
            words += _with_value(name, _listed(value))
    return words


def _axes(over):
    """An axis as the program reads it: a name, "budget=0:1", {"budget": ["10%", "20%"]}, or a list of these."""
    over = _plain(over)
    if isinstance(over, dict):
        return [f"{key}={_written(value) if isinstance(value, list) else value}" for key, value in over.items()]
    return over


def _ask(command, operands, options, **keywords):
    """Rows, and what Rows() needs besides."""
    operands = [_listed(_plain(one)) for one in operands]
    hidden = any(word.startswith("-") for word in operands)
    words = [*options, "--", *operands] if hidden else [*operands, *options]
    rows, about = ask([command, "--json", *words], **keywords)
    return rows, {**about, "command": f"spillway {shlex.join([command, *words])}"}


# ---- questions -------------------------------------------------------------------------------------------------------

def simulate(*files: Union[str, os.PathLike], model: Optional[Value] = None, hardware: Optional[Value] = None,
             system: Optional[Value] = None, context: Optional[Value] = None, batch: Optional[Value] = None,
             trace: Optional[Value] = None, workload: Optional[Value] = None,
             keys: Optional[Mapping[str, Value]] = None, server: Optional[str] = None, db: Optional[str] = None,
             replications: Optional[int] = None, jobs: Optional[int] = None, cache: bool = True, **more: Value) -> Rows:
    """How fast every point of a scenario decodes: a row for each.

    files          scenarios (YAML), over which the keys are laid
    model ... keys keys of the scenario (see above); `more` takes every other key
    server         a server's log, command line or /metrics, from which keys are taken (--from)
    db             a results file that keeps the runs; runs that are in it are not computed again
    replications   runs of each point with the machine's figures drawn from their ranges
    jobs           threads; no result depends on it
    cache          keep replays in ~/.cache/spillway, and use those that are there

    >>> import spillway
    >>> rows = spillway.simulate(model="llama-3-8b", hardware="a40", system=["vllm", "fullattn"], context="8K", steps=2)
    >>> rows
    system    batch  tpot_ms  decode_tokens_per_s
    vllm      1      30.58    32.7
    fullattn  1      30.67    32.6
    >>> rows[0]["hbm_bytes"]
    18624630947
    >>> rows.command
    'spillway simulate --set model=llama-3-8b --set hardware=a40 --set \\'sweep.system=["vllm", "fullattn"]\\' ...'

    With pandas, rows.frame is a DataFrame of all columns.
    """
    words = _keys(keys, model=model, hardware=hardware, system=system, context=context, batch=batch, trace=trace,
                  workload=workload, **more)
    rows, about = _ask("simulate", files, words + _options(
        server=server, db=db, replications=replications, jobs=jobs, no_cache=not cache))
    return Rows(rows, **about)


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
    8192     1      30.58    32.7
    16384    1      32.41    30.86
    32768    1      36.06    27.74
    """
    words = _keys(keys, model=model, hardware=hardware, system=system, context=context, batch=batch, trace=trace,
                  workload=workload, **more)
    rows, about = _ask("whatif", files, _options(over=_axes(over), points=points) + words + _options(
        db=db, jobs=jobs, no_cache=not cache))
    return Rows(rows, **about)


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
    (True, '6', 39.8)
    """
    words = _options(target=target, minimise=minimise, maximise=maximise, best=best, pareto=pareto, over=_axes(over),
                     system=system, hardware=hardware, price=price, allow=allow)
    words += _keys(keys, model=model, context=context, batch=batch, trace=trace, workload=workload, **more)
    rows, about = _ask("plan", files, words + _options(
        server=server, replications=replications, db=db, deploy=deploy, jobs=jobs, no_cache=not cache))
    return Rows(rows, **{**about, "varied": ["system", "hardware"]})


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
    run      vllm, no offloading, with 3 sequences at a time: decodes about 41 (34 to 47) tokens a second, 73 ms...
    """
    words = _options(context=context, tpot=tpot, ttft=ttft, rate=rate, price=price, weights=weights, gpus=gpus,
                     mass=mass, paper=paper, workload=workload)
    rows, about = _ask("advise", [model, hardware], words + _keys(keys, **more) + _options(
        db=db, html=html, deploy=deploy, jobs=jobs, no_cache=not cache))
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
    policies = list(policy) if isinstance(policy, Iterable) and not isinstance(policy, (str, Mapping, type)) else [policy]
    with tempfile.TemporaryDirectory(prefix="spillway-") as folder:
        own = python_policy.Served([one for one in policies if python_policy.is_policy(one)], folder, db)
        named = [own.word(one) or _typed(_plain(one)) for one in policies if one is not None]
        words = [word for one in named for word in _with_value("--policy", one)]
        words += _options(sizes=sizes, by=by, selection=selection, order=order, layers=layers, db=db)
        try:
            rows, about = _ask("curve", [_stream(trace, folder)], words, **own.keywords())
        except Error as why:
            raise own.named(why) from None
        if folder in about["command"]:  # its files are gone when a shell could ask
            about["command"] = None
    for row in rows:
        own.name(row)
        row["hit_ratio"] = 1 - row["misses"] / row["accesses"] if row["accesses"] else None
    return Rows(rows, **about)


def names(kind: str) -> Rows:
    """The names of a kind, with what is said of each: "models", "hardware", "systems", "policies", "mechanisms",
    "traces", "engines", "routers"; or the "columns" of simulate() and whatif(), with their units.

    >>> import spillway
    >>> [row["hardware"] for row in spillway.names("hardware") if row["hbm_bytes"] and row["hbm_bytes"] > 200e9]
    ['b300', 'gb300']
    >>> {row["column"]: row["unit"] for row in spillway.names("columns") if row["data"]}["hbm_bytes"]
    'bytes'
    """
    rows, about = _ask("list", [kind], [])
    return Rows(rows, **about)


_BLOCKS = 1 << 32


def _block(one):
    """An id of a stream: an int, or a whole number of numpy."""
    try:
        block = operator.index(one)
    except TypeError:
        raise Error(f"a stream holds whole numbers, not {one!r}", 2) from None
    if not 0 <= block < _BLOCKS:
        raise Error(f"a stream holds numbers from 0 to {_BLOCKS - 1}, not {block}", 2)
    return block


def _stream(trace, folder):
    """The operand of a trace; ids are written to a file first."""
    if isinstance(trace, (str, os.PathLike)):
        return os.fspath(trace)
    if not isinstance(trace, Iterable):
        raise Error(f"a trace is a {type(trace).__name__}", 2, expected="a name, a path, or block ids")
    ids = [_block(one) for one in trace]
    path = os.path.join(folder, "ids.u32")
    with open(path, "wb") as file:
        file.write(struct.pack(f"<{len(ids)}I", *ids))
    return path
