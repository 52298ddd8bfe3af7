#!/usr/bin/env python3
"""What 'advise' answers must hold in 'simulate', and be what 'plan' finds.

    advise.py [--count 300] [--seed 1] [--only N,N,...] [--small] [--jobs 2] [PROGRAM]

Each question is a model, a machine, requests without end and limits, drawn from the seed and its number
alone. In two of five a rate is asked for; every fifth is one of several machines with prices, and of
several types of weights. Three of ten workloads are sessions. A capacity is known to CAPACITY of it, and a
time to TIME: nothing that differs by less disagrees.

1. The rate or the servers that are advised meet the limits in 'simulate'.
2. They are the most: 'simulate' misses at 1.3 times the rate, and a tenth above the rate that the answer
   names as the next that misses. With a rate asked for no form is cheaper: with as many servers as cost less than
   what is advised, 'simulate' misses in every form, in one of three draws at least.
3. 'plan --maximise rate' finds the rate for the advised scenario; and 'plan --maximise clients' a number
   that 'simulate' holds, while it misses at 1.1 or 1.3 times as many: clients beyond --max-num-seqs, who
   leave the lockstep of equal outputs, may get their first tokens sooner than fewer do.
4. Where nothing is advised, requests that each have the server alone miss a limit, too; with a rate
   asked for, as many servers as there may be miss one in every form.
5. Where a question is refused because its requests are longer than the model knows, 'simulate' refuses every
   form of it in the same words.

--small draws short prompts and answers: a second a question. Prints TAP, and the
command of each question that fails; and at the end how many capacities lie in an interval of more than NARROW to
each side, and how many p99 of TTFT are known less well than TIME, with how many of these no note tells."""
import argparse
import concurrent.futures
import json
import math
import random
import re
import subprocess
import sys
import tempfile

MODELS = ["llama-3.1-8b", "qwen2.5-7b", "qwen2.5-14b", "qwen2.5-32b", "qwen2.5-32b-awq",
          "llama-3.1-70b", "llama-3.1-70b-fp8", "mistral-7b-v0.3", "qwen3-30b-a3b", "gemma-3-12b"]
MACHINES = ["h100-sxm", "h200", "l40s", "a100-sxm-80gb", "a40", "l4", "rtx-4090"]
BF16 = [model for model in MODELS if not model.endswith(("-awq", "-fp8"))]
AWQ = [model for model in MODELS if model.startswith(("llama-3.1", "qwen2.5")) and model in BF16]
MOST_CLIENTS = 1000
SEEDS = (1, 2, 3)  # an answer has to hold in all
CAPACITY, TIME = 0.1, 0.1  # 'advise' looks for a capacity to a tenth
NARROW = 0.05


def without_rate(scenario):
    return json.dumps({key: value for key, value in json.loads(scenario).items() if key != "rate"})


class Question:
    """The words of a question, what it limits, and its parts."""

    def __init__(self, number, seed, small):
        dice = random.Random(f"{seed}/{number}")
        self.number = number
        self.several = number % 5 == 4
        prompt = int(10 ** dice.uniform(2.5, math.log10(6e3 if small else 3e4)))
        output = int(10 ** dice.uniform(1.3, 1.9 if small else 2.7))
        self.workload = f"synthetic:prompt={prompt},output={output}"
        self.shared = dice.random() < 0.3
        if self.shared:
            prefix = int(prompt * dice.uniform(0.3, 0.95))
            self.workload += f",prefix={prefix},prefixes={dice.choice([1, 4, 20])}"
        if dice.random() < 0.3:
            self.workload += f",prompt_spread={dice.choice([20, 50, 100])}%"
        self.sessions = dice.random() < 0.3
        if self.sessions:
            self.workload += f",turns={dice.choice([2, 4, 8])},think={dice.choice([1, 5, 30])}s"
        self.limits = {}
        for name, least, largest in (("ttft", 0.05, 20), ("tpot", 0.01, 0.2)):
            if dice.random() < 0.6:
                share = dice.choice(["p99", "p95", "p90", "p50", "mean"])
                bound = 10 ** dice.uniform(math.log10(least), math.log10(largest))
                self.limits[name] = (share, round(bound, 4))
        self.model = dice.choice(MODELS)
        self.machines = dice.sample(MACHINES, dice.choice([2, 3]) if self.several else 1)
        self.words = [self.model, ",".join(self.machines), "--workload", self.workload]
        for name, (share, bound) in self.limits.items():
            self.words += [f"--{name}", f"{share}:{bound}s"]
        self.draw_size(dice)

    def name(self):
        return f"{self.number}: {' '.join(self.words)}"

    def draw_size(self, dice):
        """GPUs, a rate, prices and weights."""
        gpus = dice.choice([1, 1, 2, 4])
        asks = dice.random() < 0.4 or self.several
        self.rate = round(10 ** dice.uniform(-2, 0.7), 3) if asks else None
        self.gpus = 4 * gpus if asks else gpus
        self.prices = {machine: 1 for machine in self.machines}
        self.weights = ["own"]
        if asks:
            self.words += ["--rate", str(self.rate), "--gpus", str(self.gpus)]
        elif gpus > 1:
            self.words += ["--gpus", str(gpus)]
        if self.several:
            self.prices = {machine: round(dice.uniform(0.3, 5), 2) for machine in self.machines}
            self.words += ["--price", ",".join(f"{m}={p}" for m, p in self.prices.items())]
        if self.several and self.model in BF16 and dice.random() < 0.6:
            self.weights = ["bf16", "fp8"] + ["int4"] * dice.choice([0, 1])
            self.words += ["--weights", ",".join(self.weights)]

    def forms(self):
        """The keys of each server that may be, its GPUs, and its price an hour."""
        for machine in self.machines:
            for weights in self.weights:
                for system in ["vllm"] + ["vllm-offload"] * (self.shared and self.rate is not None):
                    for gpus in (one for one in (1, 2, 4, 8) if one <= self.gpus):
                        keys = [f"model={self.model}", f"hardware={machine}", f"system={system}",
                                f"workload={self.workload}", f"tensor_parallel={gpus}"]
                        if weights == "int4" and self.model in AWQ:
                            keys[0] += "-awq"
                        elif weights in ("fp8", "int4"):
                            keys.append(f"dtype.weights={weights}")
                        yield keys, gpus, gpus * self.prices[machine]


class Checker:
    def __init__(self, program):
        self.program = program
        self.widths, self.tails, self.untold = [], [], 0

    def run(self, *words):
        return subprocess.run([self.program, *words], capture_output=True, text=True)

    def simulate(self, scenario, *sets, rates=None):
        """The runs of a scenario's text with some keys changed, one for each rate; [] if it cannot
        be."""
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(scenario)
            file.flush()
            if rates is not None:
                sets += ("sweep={rate: [%s]}" % ", ".join(f"{rate:.9g}" for rate in rates),)
            words = [word for one in sets for word in ("--set", one)]
            done = self.run("simulate", file.name, *words, "--json")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def misses(self, run, limits, sure=True):
        """What a run misses by more than is unknown; with sure=False also what it meets by less. [] if
        it meets all."""
        if run["status"] != "ok":
            return ["cannot run"]
        slack = 1 if sure else -1
        asked, answered = run["requests_in_per_s"], run["requests_out_per_s"]
        behind = answered < asked * (1 - slack * CAPACITY / 2)
        missed = ["queue"] if run["queue_grows"] and behind else []
        if run["requests_left_out"]:
            missed.append(f"{run['requests_left_out']} requests left out")
        for name, (share, bound) in limits.items():
            key = f"{name}_ms" if share == "mean" else f"{name}_{share}_ms"
            if run[key] is not None and run[key] > bound * 1000 * (1 + slack * TIME):
                missed.append(f"{key} {run[key]:.4g}")
        return missed

    def all_miss(self, runs, limits):
        return all(self.misses(run, limits, sure=False) for run in runs)

    def plan(self, row, limits, axis):
        """The value that 'plan' finds for the scenario of a row, and its scenario; None: none."""
        targets = ",".join(f"{name}_ms<={bound * 1000:.9g}" if share == "mean" else
                           f"{name}_{share}_ms<={bound * 1000:.9g}"
                           for name, (share, bound) in limits.items()) or "queue_grows<=0"
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(without_rate(row["scenario"]))
            file.flush()
            done = self.run("plan", file.name, "--maximise", axis, "--target", targets, "--json")
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        won = [one for one in rows if one.get("winner")]
        return won[0] if won else None

    def check_plan(self, question, row):
        found = self.plan(row, question.limits, "rate")
        if found is None:
            return f"{row['rate']}/s is advised, and plan finds none"
        rate = float(found["value"])
        if not 1 / (1 + 1.5 * CAPACITY) <= row["rate"] / rate <= 1 + 1.5 * CAPACITY:
            return f"{row['rate']}/s is advised, and plan finds {rate}"
        return self.check_clients(question, row) if question.limits else None

    def check_clients(self, question, row):
        least = json.loads(row["scenario"]).get("replicas", 1)
        found = self.plan(row, question.limits, f"clients={least}:{MOST_CLIENTS}")
        if found is None:  # turns of few clients meet on one server, where a rate's would rarely
            runs = self.simulate(without_rate(row["scenario"]), f"clients={least}")
            held = not runs or not self.misses(runs[0], question.limits, sure=False)
            return "plan finds no number of clients" if held else None
        clients = int(found["value"])
        runs = [self.simulate(without_rate(row["scenario"]), f"clients={number}")
                for number in (clients, math.ceil(1.1 * clients + 1), math.ceil(1.3 * clients + 1))]
        if not runs[0] or self.misses(runs[0][0], question.limits):
            return f"{clients} clients are planned, and miss a limit"
        if clients < MOST_CLIENTS and not (self.all_miss(runs[1], question.limits) or
                                           self.all_miss(runs[2], question.limits)):
            return f"{clients} clients are planned, and more hold, too"
        return None

    def note_intervals(self, row):
        """How wide the answer's intervals are, as shares of the figures to each side."""
        if row["misses_at"] is not None:
            self.widths.append((row["misses_at"] - row["rate"]) / (row["misses_at"] + row["rate"]))
        run = row["run"]
        if run["ttft_p99_half_ms"] is not None and run["ttft_p99_ms"]:
            self.tails.append(run["ttft_p99_half_ms"] / run["ttft_p99_ms"])
            told = any(note["note"] == "not_known" for note in run["notes"])
            self.untold += self.tails[-1] > TIME * 1.001 and not told

    def check_rate(self, question, row):
        """A highest rate: it holds, and the next does not."""
        rate, named = row["rate"], row["misses_at"]
        self.note_intervals(row)
        above = [named * (1 + CAPACITY)] if named is not None else []
        rates = [rate / (1 + CAPACITY), 1.3 * rate] + above
        runs = self.simulate(row["scenario"], rates=rates)
        missed = [self.misses(run, question.limits) for run in runs]
        if len(runs) < len(rates) or missed[0]:
            return f"{rate}/s is advised and misses {missed}"
        if named is None and not self.misses(runs[1], question.limits, sure=False):
            return f"{rate}/s is advised, and {1.3 * rate}/s meets the limits"
        if named is not None and not self.misses(runs[2], question.limits, sure=False):
            return f"{named}/s is named as a rate that misses, and meets the limits"
        return self.check_plan(question, row)

    def check_fleet(self, question, row):
        """A number of servers: it holds, and nothing cheaper does."""
        runs = self.simulate(row["scenario"])
        if not runs or self.misses(runs[0], question.limits):
            return f"{row['servers']} servers are advised, and miss a limit"
        cost = row["servers"] * row["gpus"] * question.prices[row["hardware"]]
        return self.check_forms(question, lambda price: math.ceil(cost / price - 1e-9) - 1)

    def check_forms(self, question, servers_at):
        """In no form do as many servers as these (at most as there may be) hold the rate; without a
        rate, each request alone misses a limit."""
        for keys, gpus, price in question.forms():
            servers = min(servers_at(price), question.gpus // gpus)
            keys = keys + ([f"replicas={servers}"] if servers > 1 else [])
            load = "clients=1" if question.rate is None else f"rate={question.rate}"
            if servers > 0 and not any(
                    self.all_miss(self.simulate("{}", *keys, load, f"seed={seed}"), question.limits)
                    for seed in SEEDS):
                return f"{' '.join(keys)} meet the limits"
        return None

    def check_refused(self, question, why):
        for keys, _, _ in question.forms():
            words = [word for key in (*keys, "rate=1") for word in ("--set", key)]
            done = self.run("simulate", *words, "--json")
            if why not in done.stderr:
                return f"refused ({why}), and {' '.join(keys)} is not: {done.stderr.strip()}"
        return None

    def check(self, question):
        done = self.run("advise", *question.words, "--json")
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        advised = [row for row in rows if row.get("advised")]
        answered = bool(rows) or "no server is possible" in done.stderr
        refused = re.search(r"requests have up to \d+ tokens, and", done.stderr)
        if done.returncode == 2 and refused:
            wrong = self.check_refused(question, refused[0])
        elif not answered or done.returncode not in (0, 1) or (done.returncode == 0) != bool(advised):
            wrong = "status %d: %s" % (done.returncode, done.stderr.strip())
        elif advised:
            wrong = (self.check_rate if question.rate is None else self.check_fleet)(
                question, advised[0])
        else:
            wrong = self.check_forms(question, lambda price: question.gpus)
        return question, bool(advised), wrong


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--count", type=int, default=300)
    arguments.add_argument("--only", help="numbers of questions, instead of the first --count")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("--small", action="store_true")
    arguments.add_argument("program", nargs="?", default="build/spillway")
    asked = arguments.parse_args()
    checker = Checker(asked.program)
    failed = answered = 0
    numbers = [int(one) for one in asked.only.split(",")] if asked.only else range(asked.count)
    questions = [Question(number, asked.seed, asked.small) for number in numbers]
    print(f"1..{len(numbers)}")
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        for count, (question, advised, wrong) in enumerate(pool.map(checker.check, questions), 1):
            answered += advised
            failed += wrong is not None
            print(f"{'not ok' if wrong else 'ok'} {count} - {question.name()}", flush=True)
            if wrong:
                print(f"# {wrong}")
    print(f"# {answered} of {len(numbers)} have an answer, {failed} are wrong")
    wide = sum(width > NARROW * 1.01 for width in checker.widths)
    print(f"# {wide} of {len(checker.widths)} capacities lie in more than {NARROW:.0%} to each side")
    wide = sum(tail > TIME * 1.001 for tail in checker.tails)
    print(f"# {wide} of {len(checker.tails)} p99 of TTFT are known to more than {TIME:.0%}, {checker.untold} untold")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
