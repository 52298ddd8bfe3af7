"""Read what `spillway ... --db results.db` keeps, for those who live in notebooks.

Only Python's standard library is needed; pandas where it is there and asked for. Rows are dicts, numbers are
numbers, and a column that holds JSON is what it says. What each column means stands in sim/result/columns.def.

>>> import spillway
>>> for row in spillway.runs("results.db", where={"batch": 1}):
...     print(row["system"], row["status"], row["parts_us"]["compute"] > 0)
fullattn ok True
retroinfer ok True

Of tables with a row for each part, layer, step or request of a run, each row says which run it is of:

>>> stalls = spillway.table("results.db", "stalls", where={"system": "retroinfer", "batch": 4})
>>> max(stalls, key=lambda row: row["us"])["name"]
'manager'

What was swept stands beside what came out; keys of a scenario may be asked for by their paths:

>>> spillway.sweep("results.db", "cache_bytes", where={"mechanisms.policy": "lru"})
[{'system': 'retroinfer', 'batch': 1, 'cache_bytes': 26542080}, {'system': 'retroinfer', 'batch': 4, 'cache_bytes': 106168320}]
"""

import json
import pathlib
import re
import sqlite3

APPLICATION = 0x53706C77  # what a results file is marked with


def _open(path):
    path = pathlib.Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path}: is a directory, not a results file")
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such file")
    database = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    database.row_factory = sqlite3.Row
    try:
        mark = database.execute("PRAGMA application_id").fetchone()[0]
    except sqlite3.DatabaseError:
        mark = 0
    if mark != APPLICATION:
        database.close()
        raise ValueError(f"{path}: is no results file of spillway")
    return database


def _value(value):
    """A text that is a JSON object or list, decoded."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            pass
    return value


def _select(path, statement):
    database = _open(path)
    try:
        return [{key: _value(row[key]) for key in row.keys()} for row in database.execute(statement)]
    finally:
        database.close()


def _number(value):
    """A scenario writes numbers as texts, as JSON does; inf, 1_000 and the like are names."""
    if isinstance(value, str) and re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?", value, re.ASCII):
        return json.loads(value)
    return value


def keys(scenario, path=""):
    """A scenario as a flat dict: {"mechanisms.budget": "30%", "batch": 4, ...}."""
    flat = {}
    for key, value in scenario.items():
        key = f"{path}{key}"
        if isinstance(value, dict):
            flat.update(keys(value, f"{key}."))
            if "name" in value or "extends" in value:
                flat[key] = value.get("name", value.get("extends"))
        else:
            flat[key] = _number(value)
    return flat


def _keeps(row, where):
    flat = None
    for key, wanted in (where or {}).items():
        if key in row:
            value = row[key]
        else:
            flat = keys(row["scenario"]) if flat is None else flat
            if key not in flat:
                raise KeyError(f"{key!r} is no column, and no key of this run's scenario")
            value = flat[key]
        if value not in (wanted if isinstance(wanted, (list, tuple, set)) else (wanted,)):
            return False
    return True


def runs(path, where=None):
    """Rows of table `runs`, in the order in which they were run. `where` maps columns, or paths of keys of the
    scenario, to the value to keep, or a list of them."""
    return [row for row in _select(path, "SELECT * FROM runs ORDER BY rowid") if _keeps(row, where)]


def tables(path):
    """Names of the tables."""
    found = _select(path, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    return [row["name"] for row in found]


def table(path, name, where=None, columns=("system", "model", "hardware", "context", "batch")):
    """Rows of a table; each of one that has a column `run` begins with these columns of its run, and `where`
    keeps those of the runs that runs() would."""
    if name not in tables(path):
        raise KeyError(f"{name!r} is no table of {path}: {', '.join(tables(path))}")
    rows = _select(path, f'SELECT * FROM "{name}"')
    if name == "runs" or not rows or "run" not in rows[0]:
        if where:
            rows = [row for row in rows if _keeps({"scenario": {}, **row}, where)]
        return rows
    of = {row["run"]: {key: row[key] for key in columns} for row in runs(path, where)}
    place = {run: index for index, run in enumerate(of)}
    kept = [{**of[row["run"]], **row} for row in rows if row["run"] in of]
    return sorted(kept, key=lambda row: place[row["run"]])


def sweep(path, *columns, where=None):
    """A row a run: what the runs differ in, and these columns (without any, the rate, the step and the hits)."""
    columns = columns or ("status", "decode_tokens_per_s", "step_us", "hit_ratio", "mass_recall")
    rows = runs(path, where)
    flat = [keys(row["scenario"]) for row in rows]
    of_all = list(dict.fromkeys(key for one in flat for key in one))
    by_system = {row["system"]: None for row in rows}

    def differs(key):
        # A system brings mechanisms of its own: these differ where runs of one system do.
        groups = by_system if key.startswith("mechanisms.") else [None]
        for system in groups:
            values = {repr(one.get(key)) for row, one in zip(rows, flat) if system in (None, row["system"])}
            if len(values) > 1:
                return True
        return False

    swept = ["system"] + [key for key in of_all if key != "system" and differs(key)]
    return [{**{key: one.get(key) for key in swept}, **{key: row[key] for key in columns}}
            for row, one in zip(rows, flat)]


def curves(path):
    """A row a point of a miss curve (of `spillway curve --db`): which curve, the size, and the hit ratio there."""
    rows = _select(path, "SELECT * FROM curves JOIN curve_points USING (curve) ORDER BY policy, curve, size")
    return [{**row, "hit_ratio": 1 - row["misses"] / row["accesses"] if row["accesses"] else None} for row in rows]


def to_pandas(rows):
    """The same rows as a pandas.DataFrame; needs pandas."""
    import pandas  # the one thing here that is not of the standard library
    return pandas.DataFrame(rows)
