"""What spillway_py.sh made, read by python/spillway/results.py. Prints TAP."""

import doctest
import json
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
columns = [key for key in printed[0] if key != "seal"]  # hashes of inputs, which no column keeps
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
check(raises(FileNotFoundError, spillway.runs, "nothing.db"), "no file is said so")
check(raises(IsADirectoryError, spillway.runs, "."), "a directory is called one")
texts = {"inf": "inf", "nan": "nan", "1_000": "1_000", " 1": " 1", "0x10": "0x10", "007": "007", "1e3": 1000.0,
         "-2": -2, "0.5": 0.5, "30%": "30%"}
check(all(repr(spillway.keys({"k": text})["k"]) == repr(value) for text, value in texts.items()),
      "numbers of a scenario are those of JSON, other texts names")
check(raises(ValueError, spillway.runs, "other.txt"), "another file is refused")
shutil.copy("results.db", "view.db")
with sqlite3.connect("view.db") as database:
    database.execute("DROP TABLE stalls")
    database.execute("CREATE VIEW stalls AS SELECT 1 AS run")
check(raises(ValueError, spillway.table, "view.db", "runs"), "a file with a view is refused")
check(raises(KeyError, spillway.runs, "results.db", {"bacth": 1}), "a where that is no column is refused")
check(raises(KeyError, spillway.table, "results.db", "part"), "a table that is none is refused")

print(f"1..{count}")
sys.exit(failures > 0)
