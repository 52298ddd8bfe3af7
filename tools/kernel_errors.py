#!/usr/bin/env python3
"""How far is a machine's profile from kernels that were measured?

    tools/kernel_errors.py MACHINE FILE.csv [SPILLWAY]

The file's first line names its columns, in any order; others are ignored, and a field is empty where it means nothing:

    op,dtype,batch,context,q_heads,kv_heads,head_dim,m,n,k,us
    attention,fp8,8,65536,32,8,128,,,,312.5
    product,bf16,,,,,,16,4096,4096,14.1

Prints a row for each op and size: how many kernels, the median error (predicted over measured, less 1), the median
and the 90th percentile of its absolute value, and the worst error with its line. Attention is warm if its KV is smaller
than twice the GPU's L2, cold otherwise, and of unknown size if the profile has no gpu.l2; products have few rows (up
to 128) or many."""
import csv
import json
import math
import re
import statistics
import subprocess
import sys

SIZES = {"attention": {"batch": "--batch", "context": "--context", "head_dim": "--dim"},
         "product": {"m": "--m", "n": "--n", "k": "--k"}}
UNITS = {"KiB": 2 ** 10, "MiB": 2 ** 20}


def ask(program, *words):
    done = subprocess.run([program, *words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr.strip())
    return done.stdout


def predicted(program, machine, row):
    words = [word for key, option in SIZES[row["op"]].items() for word in (option, row[key])]
    if row["op"] == "attention":
        words += ["--heads", f"{row['q_heads']}/{row['kv_heads']}"]
    return json.loads(ask(program, "kernels", machine, "--op", row["op"], "--dtype", row["dtype"], *words, "--json"))["us"]


def size_class(row, l2):
    if row["op"] == "product":
        return "few" if float(row["m"]) <= 128 else "many"
    width = 1 if row["dtype"] == "fp8" else 2
    kv = 2 * width * math.prod(float(row[key]) for key in ("batch", "context", "kv_heads", "head_dim"))
    return "" if l2 is None else "warm" if kv < 2 * l2 else "cold"


def main(machine, path, program="build/spillway"):
    found = re.search(r"^gpu\.l2 +([\d.]+) (KiB|MiB)", ask(program, "list", "hardware", machine), re.MULTILINE)
    l2 = float(found[1]) * UNITS[found[2]] if found else None
    classes = {}
    with open(path, newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file)
        for row in rows:
            if row.get("op") not in SIZES:
                sys.exit(f"{path}:{rows.line_num}: the op is {row.get('op')!r}\n  expected: {', '.join(SIZES)}")
            try:
                error = predicted(program, machine, row) / float(row["us"]) - 1
                classes.setdefault((row["op"], size_class(row, l2)), []).append((error, rows.line_num))
            except (KeyError, TypeError, ValueError, ZeroDivisionError) as why:
                sys.exit(f"{path}:{rows.line_num}: not a measured kernel: {why!r}")
    print(f"{'op':10} {'size':5} {'rows':>5} {'median':>8} {'|median|':>8} {'|90 %|':>8} {'worst':>8}  on line")
    for (op, size), errors in sorted(classes.items()):
        signed = [error for error, _ in errors]
        beyond = sorted(abs(error) for error in signed)
        worst, line = max(errors, key=lambda each: abs(each[0]))
        tenth = statistics.quantiles(beyond, n=10, method="inclusive")[8] if len(beyond) > 1 else beyond[0]
        print(f"{op:10} {size:5} {len(errors):5} {statistics.median(signed):+8.1%} {statistics.median(beyond):8.1%} "
              f"{tenth:8.1%} {worst:+8.1%}  {line}")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
