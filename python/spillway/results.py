"""Read the results that `spillway ... --db results.db` stores, for use in notebooks.

Only Python's standard library is needed, and pandas for to_pandas(). Rows are dicts, numbers are numbers, and a column
that holds JSON is decoded. sim/result/columns.def says what each column means.

>>> import spillway
>>> for row in spillway.runs("results.db", where={"batch": 1}):
...     print(row["system"], row["status"], row["parts_us"]["compute"] > 0)
fullattn ok True
retroinfer ok True

In tables with a row for each part, layer, step or request of a run, each row has columns of its run:

>>> stalls = spillway.table("results.db", "stalls", where={"system": "retroinfer", "batch": 4})
>>> max(stalls, key=lambda row: row["us"])["name"]
'handoff'

sweep() shows swept keys beside results; keys of a scenario can be selected by their paths:

>>> spillway.sweep("results.db", "cache_bytes", where={"mechanisms.policy": "lru"})
[{'system': 'retroinfer', 'batch': 1, 'cache_bytes': 26542080}, {'system': 'retroinfer', 'batch': 4, 'cache_bytes': 106168320}]
"""

import json
import pathlib
import re
import sqlite3

APPLICATION = 0x53706C77  # the mark of a results file


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
    for kind, name in database.execute("SELECT type, name FROM sqlite_master WHERE type IN ('view', 'trigger')"):
        database.close()
        raise ValueError(f"{path}: holds the {kind} {name!r}, which spillway did not make")
    return database


def _value(value):
    """Decode a text that is a JSON object or list."""
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
    """Decode a number, which a scenario holds as text, in JSON's spelling; inf, 1_000 and the like are names."""
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
    """Rows of a table. If the table has a column `run`, each row begins with these columns of its run, and `where`
    keeps the rows of the runs that runs() would return."""
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
    """One row per run: the keys in which the runs differ, and these columns (by default status, rate, step, hit ratio and
    attention mass)."""
    columns = columns or ("status", "decode_tokens_per_s", "step_us", "hit_ratio", "mass_recall")
    rows = runs(path, where)
    flat = [keys(row["scenario"]) for row in rows]
    of_all = list(dict.fromkeys(key for one in flat for key in one))
    by_system = {row["system"]: None for row in rows}

    def differs(key):
        # A system has mechanisms of its own: a mechanism is swept only if runs of one system differ in it.
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
    """One row per point of a miss curve (from `spillway curve --db`): the curve, the size, and the hit ratio there."""
    rows = _select(path, "SELECT * FROM curves JOIN curve_points USING (curve) ORDER BY policy, curve, size")
    return [{**row, "hit_ratio": 1 - row["misses"] / row["accesses"] if row["accesses"] else None} for row in rows]


def to_pandas(rows):
    """The same rows as a pandas.DataFrame; needs pandas."""
    import pandas  # the only import outside of the standard library
    return pandas.DataFrame(rows)
