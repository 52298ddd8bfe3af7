"""Read the results that `spillway ... --db results.db` stores, for use in notebooks.

Only Python's standard library is needed, and pandas for to_pandas(). Rows are dicts, numbers are numbers, and a column
that holds JSON is decoded. spillway.names("columns") says what each column means.

>>> import spillway
>>> for row in spillway.runs("results.db", where={"batch": 1}):
...     print(row["system"], row["status"], row["parts_us"]["compute"] > 0)
fullattn ok True
retroinfer-10pct ok True

In tables with a row for each part, layer, step or request of a run, each row has columns of its run:

>>> stalls = spillway.table("results.db", "stalls", where={"system": "retroinfer-10pct", "batch": 4})
>>> max(stalls, key=lambda row: row["us"])["name"]
'handoff'

sweep() shows swept keys beside results; keys of a scenario can be selected by their paths:

>>> spillway.sweep("results.db", "cache_bytes", where={"mechanisms.policy": "lru"})
[{'system': 'retroinfer-10pct', 'batch': 1, 'cache_bytes': 26542080}, {'system': 'retroinfer-10pct', 'batch': 4, 'cache_bytes': 106168320}]
"""

import contextlib
import json
import os
import pathlib
import re
import sqlite3

from .call import Error

APPLICATION = 0x53706C77  # the mark of a results file


def _value(value):
    """Decode a text that is a JSON object or list."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        with contextlib.suppress(ValueError, RecursionError):
            return json.loads(value)
    return value


def _rows(database, statement):
    return [{key: _value(row[key]) for key in row.keys()} for row in database.execute(statement)]


def _check(path, database):
    """Refuse what is not a results file, and what would run as it is read: a file from elsewhere is data."""
    database.execute("PRAGMA trusted_schema = OFF")
    if database.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise Error(f"{path}: is no results file of spillway", file=path)
    # A table, or an index, has a place in the file; a view, a trigger and a virtual table have none.
    for kind, name in database.execute("SELECT type, name FROM sqlite_master WHERE coalesce(rootpage, 0) = 0"):
        raise Error(f"{path}: holds the {kind} {name!r}, which spillway did not make", file=path)


def _select(path, *statements):
    """The rows of each statement, as the file was at one moment."""
    try:
        path = os.fspath(path)
        uri = f"{pathlib.Path(path).resolve(strict=True).as_uri()}?mode=ro"
        with contextlib.closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as database:
            database.row_factory = sqlite3.Row
            database.execute("BEGIN")
            _check(path, database)
            return [_rows(database, statement) for statement in statements]
    except (OSError, TypeError, ValueError, RuntimeError, sqlite3.Error) as why:  # it is absent, another file, or damaged
        raise Error(f"{path}: cannot be read: {why}", file=path) from why


def _number(value):
    """Decode a number, which a scenario holds as text, in JSON's spelling; inf, 1_000 and the like are names."""
    if isinstance(value, str) and re.fullmatch(r"-?(0|[1-9][0-9]{0,99})(\.[0-9]+)?([eE][-+]?[0-9]+)?", value, re.ASCII):
        return json.loads(value)
    return value


def keys(scenario, path=""):
    """A scenario as a flat dict: {"mechanisms.budget": "30%", "batch": 4, ...}. A key with a name, or of a file that it
    extends, has that besides its parts: {"hardware": "a40", "hardware.link": "pcie5-x16", ...}."""
    flat = {}
    if not isinstance(scenario, dict):
        raise Error(f"a scenario is a {type(scenario).__name__}", 2, expected="a dict, as the column 'scenario' has it")
    for key, value in scenario.items():
        if isinstance(value, dict):
            for name in [one for one in ("name", "extends") if one in value][:1]:
                value = dict(value)
                flat[f"{path}{key}"] = value.pop(name)
            flat.update(keys(value, f"{path}{key}."))
        else:
            flat[f"{path}{key}"] = _number(value)
    return flat


def _scenario(row):
    return keys(row["scenario"]) if isinstance(row.get("scenario"), dict) else {}


def _column(row, key):
    if key not in row:
        raise Error(f"{key!r} is no column", 2, expected=", ".join(row))
    return row[key]


def _keeps(row, where):
    flat = None
    if not isinstance(where, (dict, type(None))):
        raise Error(f"'where' is a {type(where).__name__}", 2, expected='a dict, as {"batch": 1}')
    for key, wanted in (where or {}).items():
        if key in row:
            value = row[key]
        else:
            flat = _scenario(row) if flat is None else flat
            if key not in flat:
                raise Error(f"{key!r} is no column, and no key of this run's scenario", 2, key=key)
            value = flat[key]
        if value not in (wanted if isinstance(wanted, (list, tuple, set)) else (wanted,)):
            return False
    return True


_RUNS = "SELECT * FROM runs ORDER BY rowid"


def runs(path, where=None):
    """Rows of table `runs`, in the order in which they were run. `where` maps columns, or paths of keys of the
    scenario, to the value to keep, or a list of them."""
    return [row for row in _select(path, _RUNS)[0] if _keeps(row, where)]


def tables(path):
    """Names of the tables."""
    found, = _select(path, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    return [row["name"] for row in found]


def table(path, name, where=None, columns=("system", "model", "hardware", "context", "batch")):
    """Rows of a table. If the table has a column `run`, each row begins with these columns of its run, and `where`
    keeps the rows of the runs that runs() would return."""
    if isinstance(columns, str) or not hasattr(columns, "__iter__"):
        raise Error(f"'columns' is a {type(columns).__name__}", 2, expected="a list of columns of runs")
    known = tables(path)
    if name not in known:
        raise Error(f"{name!r} is no table of {path}", 2, expected=", ".join(known))
    rows, of_runs = _select(path, f'SELECT * FROM "{name}"', _RUNS)
    if name == "runs" or not rows or "run" not in rows[0]:
        return [row for row in rows if _keeps(row, where)]
    of = {row["run"]: {key: _column(row, key) for key in columns} for row in of_runs if _keeps(row, where)}
    place = {run: index for index, run in enumerate(of)}
    kept = [{**of[row["run"]], **row} for row in rows if row["run"] in of]
    return sorted(kept, key=lambda row: place[row["run"]])


def sweep(path, *columns, where=None):
    """One row per run: the keys in which the runs differ, and these columns (by default status, rate, step, hit ratio and
    attention mass)."""
    columns = columns or ("status", "decode_tokens_per_s", "step_us", "hit_ratio", "mass_recall")
    rows = runs(path, where)
    flat = [_scenario(row) for row in rows]
    of_all = list(dict.fromkeys(key for one in flat for key in one))
    by_system = {row.get("system"): None for row in rows}

    def differs(key):
        # A system has mechanisms of its own: a mechanism is swept only if runs of one system differ in it.
        groups = by_system if key.startswith("mechanisms.") else [None]
        for system in groups:
            values = {repr(one.get(key)) for row, one in zip(rows, flat) if system in (None, row.get("system"))}
            if len(values) > 1:
                return True
        return False

    swept = ["system"] + [key for key in of_all if key != "system" and differs(key)]
    return [{**{key: one.get(key) for key in swept}, **{key: _column(row, key) for key in columns}}
            for row, one in zip(rows, flat)]


def curves(path):
    """One row per point of a miss curve (from `spillway curve --db`): the curve, the size, and the hit ratio there."""
    rows, = _select(path, "SELECT * FROM curves JOIN curve_points USING (curve) ORDER BY policy, curve, size")
    return [{**row, "hit_ratio": 1 - row["misses"] / row["accesses"] if row["accesses"] else None} for row in rows]


def to_pandas(rows):
    """The same rows as a pandas.DataFrame; needs pandas."""
    import pandas  # the only import outside of the standard library
    return pandas.DataFrame(rows)
