#!/usr/bin/env python3
"""What the Python module answers is what the command line answers.

    python.py [--count 300] [--seed 1] [--only N,N,...] [--jobs 2] [PROGRAM]

Each question is drawn from the seed and its number alone: a command, keys of a scenario with values of many kinds (a
text, a number, a list that is a sweep, a generator, a map, a path), and options; one of three is wrong somewhere. It is
asked twice. The command line is written here, by its own rules: every second time the scenario is a file. Rows, whether
something meets what was asked for, and each part of an error must be the same; and the command that Python says a shell
would be told must print the same again.

Prints TAP."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
import spillway

SYSTEMS = ["vllm", "fullattn", "retroinfer", "litecache", "quest", "infinigen", "h2o", "sglang", "vllm-offload", "clo"]
WRONG = ["null", "~", "", "no such", "*a", "a: b", "[1", "{x}", "%", "-1", "--json", "'", '"', "\\", "é", "vllm #", -7, 1e300,
         float("nan"), True, None, {"a": 1}, [], {}]
WRONG_KEYS = ["modl", "systems", "", "sweep", "--db", "mechanisms.budgt", "hardware.link", "a.b.c", "é", "context."]


def draw_keys(dice):
    """Keys of a scenario of decode steps, or of a server."""
    keys = {"model": dice.choice(["llama-3-8b", "smollm2-135m", "qwen2.5-7b", "llama-3.1-70b"]),
            "hardware": dice.choice(["a40", "h100-sxm", "rtx-4090"]), "system": dice.choice(SYSTEMS), "steps": 2,
            "trace": dice.choice(["smollm2-135m", "assumed:hit=90%"])}
    if dice.random() < 0.25:
        contexts = {dice.choice(["2K", "4096"]): dice.choice([1, 2]), "8K": 1}
        keys["contexts"] = dice.choice([contexts, list(contexts)])
    else:
        keys["context"] = dice.choice([4096, "8K", "32K", 3840])
        keys["batch"] = dice.choice([1, 2, "max", 4096])
    if dice.random() < 0.3:
        for key in ("context", "contexts", "batch", "steps"):
            keys.pop(key, None)
        keys.update(system=dice.choice(["vllm", "sglang"]), rate=dice.choice([0.5, 2]),
                    workload=f"synthetic:prompt={dice.choice([200, 2000])},output=20,requests={dice.choice([4, 20])}")
    more = {"seed": dice.choice([2, "3"]), "mechanisms": {"prefill_chunk": "4096tok"}, "warmup": 2,
            "dtype.kv": "fp8", "dtype": {"kv": "fp8"}, "tensor_parallel": 2, "hardware.link": "pcie5-x16",
            "drafts": {"method": "ngram", "count": 2, "acceptance": 0.5}, "hbm_usable": 0.85,
            "mechanisms.sinks": "8tok", "output": 16, "prompt": "2K"}
    for key in dice.sample(sorted(more), dice.choice([0, 0, 1, 2])):
        keys[key] = more[key]
    return keys


def sweep(dice, keys):
    """Some keys with several values."""
    values = {"system": dice.sample(SYSTEMS, 2), "batch": [1, 2], "hardware": ["a40", "h100-sxm"], "seed": [1, 2],
              "mechanisms.operators": [30, "40"], "model": ["smollm2-135m", "llama-3-8b"],
              "drafts": ["none", {"method": "ngram", "count": 2, "acceptance": 0.5}]}
    for key in dice.sample(sorted(values), dice.choice([0, 0, 1, 1, 2])):
        keys[key] = values[key]


def spoil(dice, keys, options):
    """Something wrong."""
    what = dice.randrange(4)
    if what == 0:
        keys[dice.choice(WRONG_KEYS)] = 1
    elif what == 1:
        keys[dice.choice(sorted(keys))] = dice.choice(WRONG)
    elif what == 2:
        keys.pop(dice.choice(sorted(keys)))
    else:
        options[dice.choice(["jobs", "db"])] = dice.choice([0, "x", "/nothing/x.db", "-5", ""])


class Question:
    def __init__(self, number, seed, folder):
        dice = self.dice = random.Random(f"{seed}/{number}")
        self.number, self.folder = number, folder
        self.command = dice.choices(["simulate", "whatif", "plan", "advise", "curve"], [5, 2, 1, 0.3, 2])[0]
        self.options, self.operands, self.keys = {}, [], {}
        self.in_file = number % 2 == 1 and self.command in ("simulate", "whatif", "plan")
        getattr(self, self.command)(dice)
        if dice.random() < 1 / 3 and self.keys:
            spoil(dice, self.keys, self.options)
        # Arguments come in the order of the function, and then what `keys` has.
        order = ["model", "hardware", "system", "context", "batch", "trace", "workload"]
        self.plain = sorted((key for key, value in self.keys.items() if key.isidentifier() and value is not None),
                            key=lambda key: order.index(key) if key in order else len(order))
        self.keys = {key: self.keys[key] for key in [*self.plain, *self.keys]}

    def simulate(self, dice):
        self.keys = draw_keys(dice)
        sweep(dice, self.keys)
        if dice.random() < 0.1:
            self.options["replications"] = 3

    def whatif(self, dice):
        self.keys = draw_keys(dice)
        self.options = {"over": dice.choice(["seed=1:2", {"batch": [1, 2]}, "link", ["batch=1:2", "tensor_parallel=1:2"],
                                             {"mechanisms.sinks": ["4tok", "8tok"], "hardware": ["a40", "l4"]}, "no_such", {"system": SYSTEMS[:3]}])}
        if isinstance(self.options["over"], str) and self.options["over"] != "link":
            self.options["points"] = dice.choice([2, 3, 3, 1])

    def plan(self, dice):
        self.keys = draw_keys(dice)
        del self.keys["system"]
        self.options = {"hardware": self.keys.pop("hardware"), "target": dice.choice([["tpot_ms<=1"], ["tpot_ms<=60"], "tpot_ms<=90", "tpot<=50"]),
                        dice.choice(["maximise", "minimise"]): "batch", "system": dice.sample(SYSTEMS[:3], 2)}
        self.keys.pop("batch", None)

    def advise(self, dice):
        self.operands = [dice.choice(["llama-3-8b", "smollm2-135m", "llama-3.1-70b"]), dice.choice(["a40", "l4", "a4"])]
        self.options = {"context": dice.choice(["4K", 8192]), "tpot": dice.choice(["50ms", "1ms", None])}

    def curve(self, dice):
        self.operands = [dice.choice(["smollm2-135m", "smollm2-135m", [dice.randrange(20) for _ in range(200)]])]
        self.options = {"policy": dice.choice(["lru", ["lru", "fifo"], {"name": "lecar"}, ["arc", "lrx"], ["s3fifo", "opt"]]),
                        "sizes": dice.choice([["20%", "50%"], ["10%", "30%"], ["60%"], ["x"]]), "layers": dice.choice([[3], [3, 4]])}
        if isinstance(self.operands[0], list):
            del self.options["layers"]

    # ---- asked of the module ----

    def disguised(self, value):
        """The same value in another type."""
        if isinstance(value, list) and self.dice.random() < 0.7:
            return self.dice.choice([tuple, iter, lambda values: (one for one in values)])(value)
        return value

    def ask(self):
        """Rows and whether they meet what was asked for, or the parts of an error; and the command."""
        own = {key: self.disguised(value) for key, value in self.keys.items()}
        plain = {key: own.pop(key) for key in self.plain}
        options = {key: self.disguised(value) if key != "over" else value for key, value in self.options.items()}
        operands = [self.disguised(one) for one in self.operands]
        try:
            rows = getattr(spillway, self.command)(*operands, **({"keys": own} if own else {}), **plain, **options)
        except spillway.Error as why:
            return {key: value for key, value in vars(why).items() if value is not None}, None
        verdict = [{"verdict": rows.verdict}] if self.command == "advise" else []
        return {"rows": verdict + list(rows), "met": rows.met}, rows.command

    # ---- asked of the program ----

    def words(self):
        keys = self.keys
        if self.in_file:
            keys = {key: value for key, value in keys.items() if not self.is_whole(key)}
            self.write_file({key: value for key, value in self.keys.items() if self.is_whole(key)})
        words = [f"{'sweep.' if self.is_swept(key) else ''}{key}={json.dumps(value, ensure_ascii=False)}"
                 for key, value in keys.items()]
        return [self.command, "--json", *self.option_words(), *(word for one in words for word in ("--set", one)), "--",
                *self.operand_words(), *([self.path("yaml")] if self.in_file else [])]

    def is_swept(self, key):
        return isinstance(self.keys[key], list) and key != "contexts"

    def is_whole(self, key):
        """Is it a key that a file can have as it is?"""
        return key.isidentifier() and not self.is_swept(key)

    def path(self, kind):
        return f"{self.folder}/{self.number}.{kind}"

    def write_file(self, keys):
        pathlib.Path(self.path("yaml")).write_text(json.dumps(keys, ensure_ascii=False), encoding="utf-8")

    def option_words(self):
        words = []
        for name, value in self.options.items():
            if name == "over" and isinstance(value, dict):
                value = [f"{key}={json.dumps(values)}" for key, values in value.items()]
            for one in value if isinstance(value, list) else [value]:
                one = json.dumps(one) if isinstance(one, dict) else one
                words += [f"--{name.replace('_', '-')}={one}"] if one is not None else []
        return words

    def operand_words(self):
        if self.command == "curve" and isinstance(self.operands[0], list):
            ids = self.operands[0]
            pathlib.Path(self.path("u32")).write_bytes(struct.pack(f"<{len(ids)}I", *ids))
            return [self.path("u32")]
        return self.operands


def answer(done, command):
    """What the program answered, as Question.ask() has it."""
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    for row in rows:
        for key, value in row.pop("swept", {}).items():
            row.setdefault(key, value)
        if command == "curve":
            row["hit_ratio"] = 1 - row["misses"] / row["accesses"] if row["accesses"] else None
    why = next((one for one in map(json.loads, done.stderr.splitlines()) if "error" in one), {"unmet": True})
    if not why.pop("unmet", False):
        del why["error"]
        return {**why, "rows": rows}
    return {"rows": rows, "met": done.returncode == 0}


def run(words):
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8")


def differences(mine, program):
    """Where two answers differ."""
    rows = list(zip(mine.get("rows", []), program.get("rows", [])))
    found = [f"row {at}: {key}: {a.get(key)!r}, {b.get(key)!r}" for at, (a, b) in enumerate(rows)
             for key in {**a, **b} if a.get(key, "absent") != b.get(key, "absent")]
    return found or [f"{key}: {mine.get(key)!r}, {program.get(key)!r}" for key in {**mine, **program}
                     if mine.get(key) != program.get(key)]


def check(question):
    """What is wrong, or None; and the answer's kind."""
    mine, command = question.ask()
    words = question.words()
    program = answer(run([spillway.program(), *words]), question.command)
    kind = "error" if "met" not in mine else "answer" if mine["met"] else "unmet"
    if question.in_file and kind == "error" and "met" not in program:  # a file's errors have other places and hints
        mine, program = {"rows": mine["rows"]}, {"rows": program["rows"]}
    wrong = differences(mine, program)
    if not wrong and command is not None:
        again = command.replace(f"spillway {question.command}", f"'{spillway.program()}' {question.command} --json", 1)
        wrong = [f"the command: {one}" for one in differences(mine, answer(run(["sh", "-c", again]), question.command))]
    return "\n".join([" ".join(words), *wrong[:5]]) if wrong else None, kind


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--count", type=int, default=300)
    arguments.add_argument("--only", help="numbers of questions, instead of the first --count")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("program", nargs="?", default="build/spillway")
    asked = arguments.parse_args()
    os.environ["SPILLWAY_PROGRAM"] = os.path.abspath(asked.program)
    numbers = [int(one) for one in asked.only.split(",")] if asked.only else range(asked.count)
    kinds, failed = {}, 0
    print(f"1..{len(numbers)}")
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        os.chdir(folder)
        questions = [Question(number, asked.seed, folder) for number in numbers]
        for count, (question, (wrong, kind)) in enumerate(zip(questions, pool.map(check, questions)), 1):
            kinds[kind] = kinds.get(kind, 0) + 1
            failed += wrong is not None
            print(f"{'not ok' if wrong else 'ok'} {count} - {question.number}: {question.command}, {kind}", flush=True)
            if wrong:
                print("# " + wrong.replace("\n", "\n# "))
    print("# " + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
