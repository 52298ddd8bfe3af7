#!/usr/bin/env python3
"""The memory that commands take, and how soon they end after Ctrl-C.

A million requests, and a page of 60 000 runs; then, over the shipped models and machines, at contexts of 1K and 128K, all shipped systems run at the largest
batch that fits (`simulate`), and `advise` weighs them. Each command runs once to its end, which gives its
largest memory, and once more to a random moment, at which it gets SIGINT. The commands that took most
memory, and those that ended last after SIGINT, are printed with their figures and the random numbers' seed.

usage: limits.py PROGRAM [PAIRS [SEED]]

PAIRS pairs of a model and a machine are drawn, by default as many as end within half an hour on two cores;
0 means all. No result is kept, so that nothing is read back. Exits with 1 if a goal is missed.
"""

import glob
import itertools
import os
import random
import signal
import subprocess
import sqlite3
import sys
import tempfile
import time

CONTEXTS = ["1K", "128K"]
GOAL_BYTES = 2**30
GOAL_SECONDS = 1.0
LONGEST = 600  # seconds after which a command is ended and counted as endless

# Commands beside those of pairs.
OTHERS = [
    "simulate --set model=qwen2.5-0.5b --set hardware=h200 --set system=sglang"
    " --set workload=synthetic:prompt=1000000,output=1 --set rate=1",
    "simulate --set model=qwen2.5-0.5b --set hardware=h200 --set system=vllm"
    " --set workload=synthetic:prompt=1000000,output=1 --set rate=1",
    "simulate --set model=qwen2.5-0.5b --set hardware=h200 --set system=sglang-hicache"
    " --set workload=synthetic:prompt=1000000,output=1 --set rate=1",
    "simulate --set model=qwen2.5-0.5b --set hardware=h200 --set system=vllm --set rate=50 --no-cache"
    " --set workload=synthetic:prompt=1000,output=20,prefix=200,prefixes=1000,requests=1000000",
    "simulate --set model=qwen2.5-0.5b --set hardware=h200 --set system=sglang-hicache --set timed=no --no-cache"
    " --set workload=synthetic:prompt=1000,output=20,prefix=200,prefixes=1000,requests=1000000",
    "simulate --set model=qwen2.5-0.5b --set hardware=h200 --set system=vllm --set rate=50 --no-cache"
    " --set workload=synthetic:prompt=1000,output=20,requests=10000000",
    "plan --pareto --system all --allow lossy,paper --no-cache --set model=llama-3-8b"
    " --set hardware=a40 --set context=128K",
    "plan --pareto --system all --allow lossy,paper --no-cache --set model=qwen2.5-0.5b"
    " --set hardware=h200 --set context=1K",
    "advise llama-3.1-8b a40 --context 1 --no-cache",
]


def names(folder, ending):
    found = glob.glob(f"{folder}/*.{ending}")
    return sorted(os.path.basename(name)[: -len(ending) - 1] for name in found)


def commands(pair):
    model, machine = pair
    systems = ",".join(names("scenarios/systems", "yaml"))
    for context in CONTEXTS:
        yield f"advise {model} {machine} --context {context} --no-cache"
        yield (
            f"simulate --set model={model} --set hardware={machine} --set context={context}"
            f" --set sweep.system=[{systems}] --set batch=max --no-cache"
        )


def page_of_many_runs(program, folder):
    """A command that writes a page of 60 000 runs: those of a sweep, each 600 times."""
    database = f"{folder}/runs.db"
    sweep = f"sweep={{context: [512, 1K, 2K, 4K], batch: {list(range(1, 26))}}}"
    settings = ["model=smollm2-135m", "hardware=a40", "system=fullattn", sweep]
    options = [text for setting in settings for text in ("--set", setting)]
    subprocess.run([program, "simulate", *options, "--db", database, "--no-cache"], stdout=subprocess.DEVNULL,
                   check=True)
    with sqlite3.connect(database) as runs:
        runs.executescript(f"""CREATE TABLE more AS SELECT * FROM runs,
            (SELECT value AS copy FROM json_each('{list(range(2, 601))}'));
            UPDATE more SET run = substr(run, 4) || printf('%03d', copy),
                scenario = replace(scenario, '"seed": "1"', '"seed": "' || copy || '"');
            ALTER TABLE more DROP COLUMN copy; INSERT INTO runs SELECT * FROM more; DROP TABLE more""")
    return f"report {database} -o {folder}/page.html"


class Run:
    """A command that runs, or ran to its end: its wall time in seconds and its largest memory."""

    def __init__(self, program, command):
        self.command = command
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            [program, *command.split()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.ended = False

    def wait(self, seconds):
        """Wait at most so long; returns whether it ended."""
        until = time.monotonic() + seconds
        while not self.ended and time.monotonic() < until:
            pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
            if pid == 0:
                time.sleep(0.002)
                continue
            self.ended = True
            self.process.returncode = os.waitstatus_to_exitcode(status)
            self.seconds = time.monotonic() - self.began
            self.bytes = usage.ru_maxrss * 1024
        return self.ended

    def finish(self):
        if not self.wait(LONGEST):
            os.kill(self.process.pid, signal.SIGKILL)
            self.wait(60)
        return self


def answer_to_sigint(program, command, moment):
    """Seconds from SIGINT to the end; None if it had ended by then."""
    run = Run(program, command)
    if run.wait(moment):
        return None
    raised = time.monotonic()
    os.kill(run.process.pid, signal.SIGINT)
    run.finish()
    return time.monotonic() - raised


def largest(figures, show, goal, count=5):
    for value, command in sorted(figures, reverse=True)[:count]:
        print(f"  {show(value)}{'  MISSED' if value > goal else ''}  {command}")
    return max((value for value, _ in figures), default=0) <= goal


def main():
    program = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 150
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    rng = random.Random(seed)
    pairs = list(itertools.product(names("models", "json"), names("hwprofiles", "yaml")))
    drawn = pairs if count in (0, len(pairs)) else rng.sample(pairs, count)
    memory, answers, walls, refused = [], [], [], 0
    folder = tempfile.TemporaryDirectory()
    todo = [page_of_many_runs(program, folder.name)] + OTHERS
    todo += [command for pair in drawn for command in commands(pair)]
    for number, command in enumerate(todo):
        run = Run(program, command).finish()
        refused += run.process.returncode == 2
        memory.append((run.bytes, command))
        walls.append((run.seconds, command))
        answer = answer_to_sigint(program, command, rng.uniform(0, run.seconds))
        if answer is not None:
            answers.append((answer, command))
        print(f"\r{number + 1} of {len(todo)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print(f"{len(drawn)} of {len(pairs)} pairs, {len(todo)} commands ({refused} refused), seed {seed}")
    print("largest memory:")
    good = largest(memory, lambda value: f"{value / 2**20:6.0f} MiB", GOAL_BYTES)
    print(f"slowest answers to Ctrl-C, of {len(answers)}:")
    good = largest(answers, lambda value: f"{value:6.2f} s", GOAL_SECONDS) and good
    print("longest commands:")
    largest(walls, lambda value: f"{value:6.1f} s", float("inf"))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
