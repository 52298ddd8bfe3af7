"""What spillway_py.sh made, read by python/spillway/results.py. Prints TAP."""

import doctest
import json
import pathlib
import random
import shutil
import sqlite3
import sys

import spillway

count = failures = 0


def check(good, claim):
    global count, failures
    count += 1
    failures += not good
    print("ok" if good else "not ok", count, "-", claim)


def raises(kind, call, *arguments, **keywords):
    try:
        call(*arguments, **keywords)
    except kind:
        return True
    return False


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


examples = doctest.testmod(spillway.results)
check(examples.attempted >= 5 and examples.failed == 0, f"{examples.attempted} examples work")

rows, printed = spillway.runs("results.db"), lines("runs.json")
check(len(rows) == len(printed) == 4, "a row a run")
columns = [key for key in printed[0] if key not in ("seal", "swept")]  # which no column keeps
check(all(row[key] == run[key] for row, run in zip(rows, printed) for key in columns),
      f"{len(columns)} columns hold what --json prints, numbers as numbers")
check(all(abs(sum(row["parts_us"].values()) - row["step_us"]) < 0.002 for row in rows), "parts add up")

for name in spillway.tables("results.db"):
    with sqlite3.connect("results.db") as database:
        held = database.execute(f'SELECT COUNT(*) FROM "{name}"').fetchone()[0]
    check(len(spillway.table("results.db", name)) == held, f"table {name}: {held} rows")
parts = spillway.table("results.db", "parts", where={"system": "fullattn", "batch": [4]})
check({row["run"] for row in parts} == {rows[2]["run"]}, "where keeps the parts of one run")
check({(row["system"], row["batch"]) for row in parts} == {("fullattn", 4)}, "and each says which")

points = spillway.curves("results.db")
check([(row["size"], row["misses"]) for row in points] == [(row["size"], row["misses"]) for row in lines("curve.json")],
      "points of a curve are those that --json prints")

with open("other.txt", "w", encoding="utf-8") as file:
    file.write("not a database, though it is longer than a hundred characters " * 3)
check(raises(spillway.Error, spillway.runs, "nothing.db"), "no file is said so")
check(raises(spillway.Error, spillway.runs, "."), "a directory is refused")
texts = {"inf": "inf", "nan": "nan", "1_000": "1_000", " 1": " 1", "0x10": "0x10", "007": "007", "1e3": 1000.0,
         "-2": -2, "0.5": 0.5, "30%": "30%"}
check(all(repr(spillway.keys({"k": text})["k"]) == repr(value) for text, value in texts.items()),
      "numbers of a scenario are those of JSON, other texts names")
check(raises(spillway.Error, spillway.runs, "other.txt"), "another file is refused")
for made in ("VIEW stalls AS SELECT 1 AS run", "VIRTUAL TABLE stalls USING fts5(run)",
             "TRIGGER stalls AFTER INSERT ON runs BEGIN SELECT 1; END"):
    shutil.copy("results.db", "made.db")
    with sqlite3.connect("made.db") as database:
        database.execute("DROP TABLE stalls")
        database.execute(f"CREATE {made}")
    check(raises(spillway.Error, spillway.table, "made.db", "runs"), f"a file with a {made.split(' stalls')[0]} is refused")
check(raises(spillway.Error, spillway.runs, "results.db", {"bacth": 1}), "a where that is no column is refused")
check(raises(spillway.Error, spillway.runs, "results.db", 5), "a where that is no dict is refused")
check(raises(spillway.Error, spillway.table, "results.db", "parts", columns=5), "and columns that are no list")
check(raises(spillway.Error, spillway.table, "results.db", "part"), "a table that is none is refused")
check(raises(spillway.Error, spillway.table, "results.db", "parts", columns=["bacth"]), "nor a column that is none")
check(raises(spillway.Error, spillway.sweep, "results.db", "bacth"), "in sweep(), too")

link = {"hardware": {"extends": "a40", "link": {"extends": "pcie5-x16", "h2d": "40GB/s"}}, "policy": {"name": "lru"}}
check(spillway.keys(link) == {"hardware": "a40", "hardware.link": "pcie5-x16", "hardware.link.h2d": "40GB/s",
                              "policy": "lru"}, "what a key extends is its value, and no key of its own")


def reads(path):
    """Every reader of a database."""
    spillway.sweep(path)
    spillway.curves(path)
    for name in spillway.tables(path):
        spillway.table(path, name)


whole, dice, wrong, refused = pathlib.Path("results.db").read_bytes(), random.Random(1), [], 0
for number in range(300):
    data = bytearray(whole[:dice.choice([len(whole), dice.randrange(len(whole))])])
    for _ in range(dice.choice([1, 8, 64, 512]) if data else 0):
        data[dice.randrange(min(len(data), dice.choice([100, 4096, len(data)])))] = dice.randrange(256)
    pathlib.Path("damaged.db").write_bytes(data)
    try:
        reads("damaged.db")
    except spillway.Error:
        refused += 1
    except Exception as why:  # any other is the fault that is looked for
        wrong.append(f"{number}: {type(why).__name__}: {why}")
check(refused > 100 and not wrong, f"damaged files are read or refused: {refused} of 300 refused; {wrong[:3]}")
for column, value in (("scenario", "[1]"), ("scenario", "[" * 100000), ("scenario", '{"seed": "' + "9" * 9999 + '"}'),
                      ("system", None), ("batch", b"\xff")):
    shutil.copy("results.db", "odd.db")
    with sqlite3.connect("odd.db") as database:
        database.execute(f"UPDATE runs SET {column} = ?", (value,))
    reads("odd.db")

print(f"1..{count}")
sys.exit(failures > 0)
