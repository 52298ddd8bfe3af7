#!/usr/bin/env python3
"""What Python costs: importing the module, and a call beside the bare start of the program that it makes.

Medians of ROUNDS, in turns, so that what else the machine does disturbs all alike.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
os.environ.setdefault("SPILLWAY_PROGRAM", str(ROOT / "build/spillway"))
os.environ["XDG_CACHE_HOME"] = "/dev/null"
import spillway

ROUNDS = 40
QUESTION = dict(model="llama-3-8b", hardware="a40", system="vllm", context="8K", steps=1)
SETTINGS = [word for key, value in QUESTION.items() for word in ("--set", f"{key}={value}")]
WORDS = [spillway.program(), "simulate", *SETTINGS, "--json"]


def bare_start():
    """The program alone, its output to a file that nobody reads."""
    child = os.posix_spawn(WORDS[0], WORDS, os.environ,
                           file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
    os.waitpid(child, 0)


def call():
    spillway.simulate(**QUESTION)


def python(*statements):
    subprocess.run([sys.executable, "-c", "; ".join(statements)], check=True,
                   env={**os.environ, "PYTHONPATH": str(ROOT / "python")})


def milliseconds(*functions):
    """The median of each."""
    taken = [[] for _ in functions]
    for _ in range(ROUNDS):
        for function, times in zip(functions, taken):
            began = time.perf_counter()
            function()
            times.append(1e3 * (time.perf_counter() - began))
    return map(statistics.median, taken)


def main():
    bare, called = milliseconds(bare_start, call)
    print(f"call   {called:6.1f} ms, {called - bare:.1f} more than the program alone ({bare:.1f})")
    empty, imported = milliseconds(lambda: python("pass"), lambda: python("import spillway"))
    print(f"import {imported - empty:6.1f} ms, beside {empty:.1f} of Python alone")


if __name__ == "__main__":
    main()
