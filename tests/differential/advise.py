#!/usr/bin/env python3
"""What 'advise' answers must hold in 'simulate'.

    advise.py [--count 300] [--seed 1] [--only N,N,...] [--small] [--jobs 2] [PROGRAM]

Each question is a model, a machine, requests and limits, drawn from the seed and its number alone.

1. The rate or the servers that are advised meet the limits when 'simulate' serves the same requests.
2. They are the most: 'simulate' misses at 1.3 times the rate, or at the rate that the answer names
   as the next that misses; with a rate asked for, it misses with as many servers as the answer names.
3. Where nothing is advised, requests that each have the server alone miss a limit, too.

--small draws few requests and short answers: some tenths of a second a question. Prints TAP, and the
command of each question that fails."""
import argparse
import concurrent.futures
import json
import random
import subprocess
import sys
import tempfile

MODELS = ["llama-3.1-8b", "qwen2.5-7b", "qwen2.5-14b", "qwen2.5-32b", "qwen2.5-32b-awq",
          "llama-3.1-70b", "llama-3.1-70b-fp8", "mistral-7b-v0.3", "qwen3-30b-a3b", "gemma-3-12b"]
MACHINES = ["h100-sxm", "h200", "l40s", "a100-sxm-80gb", "a40", "l4", "rtx-4090"]
ALONE = 1e-5  # requests a second: none meets another


def draw(number, seed, small):
    """The words of a question, what it limits, and its fixed parts."""
    dice = random.Random(f"{seed}/{number}")
    most = 3e4 if small else 1e5
    prompt = int(10 ** dice.uniform(2.5, len(str(int(most))) - 1 + 0.3))
    output = int(10 ** dice.uniform(1.3, 1.9 if small else 2.7))
    requests = 60 if small else 200
    text = f"synthetic:prompt={prompt},output={output},requests={requests}"
    if dice.random() < 0.3:
        text += f",prefix={int(prompt * dice.uniform(0.3, 0.95))},prefixes={dice.choice([1, 4, 20])}"
    if dice.random() < 0.3:
        text += f",prompt_spread={dice.choice([20, 50, 100])}%"
    limits = {}
    for name, least, largest in (("ttft", 0.05, 20), ("tpot", 0.01, 0.2)):
        if dice.random() < 0.6:
            share = dice.choice(["p99", "p99", "p90", "p50", "mean"])
            limits[name] = (share, round(10 ** dice.uniform(*map(log10, (least, largest))), 4))
    words = [dice.choice(MODELS), dice.choice(MACHINES), "--workload", text]
    for name, (share, bound) in limits.items():
        words += [f"--{name}", f"{share}:{bound}s"]
    gpus = dice.choice([1, 1, 2, 4])
    rate = None
    if dice.random() < 0.4:
        rate = round(10 ** dice.uniform(-2, 0.7), 3)
        words += ["--rate", str(rate), "--gpus", str(4 * gpus)]
    elif gpus > 1:
        words += ["--gpus", str(gpus)]
    return words, limits, gpus, rate


def log10(number):
    from math import log10 as log
    return log(number)


class Checker:
    def __init__(self, program):
        self.program = program

    def run(self, *words):
        return subprocess.run([self.program, *words], capture_output=True, text=True)

    def simulate(self, scenario, *sets):
        """The run of a scenario's text with some keys changed; None if it cannot be."""
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(scenario)
            file.flush()
            words = [word for one in sets for word in ("--set", one)]
            done = self.run("simulate", file.name, *words, "--json")
        return json.loads(done.stdout) if done.returncode == 0 and done.stdout else None

    def misses(self, run, limits):
        """What a run misses; [] if it meets all."""
        if run is None or run["status"] != "ok":
            return ["cannot run"]
        missed = ["queue"] if run["queue_grows"] else []
        for name, (share, bound) in limits.items():
            key = f"{name}_ms" if share == "mean" else f"{name}_{share}_ms"
            if run[key] is not None and run[key] > bound * 1000:
                missed.append(f"{key} {run[key]:.4g}")
        return missed

    def check_rate(self, row, limits):
        """A highest rate: it holds, and the next does not."""
        scenario, rate, named = row["scenario"], row["rate"], row["misses_at"]
        missed = self.misses(self.simulate(scenario), limits)
        if missed:
            return f"{rate}/s is advised and misses {missed}"
        if self.misses(self.simulate(scenario, f"rate={1.3 * rate:.9g}"), limits):
            return None
        if named is None:
            return f"{rate}/s is advised, and {1.3 * rate}/s meets the limits"
        if not self.misses(self.simulate(scenario, f"rate={named:.9g}"), limits):
            return f"{named}/s is named as a rate that misses, and meets the limits"
        return None

    def check_hire(self, row, limits):
        """A number of servers: it holds, and fewer do not."""
        missed = self.misses(self.simulate(row["scenario"]), limits)
        if missed:
            return f"{row['servers']} servers are advised and miss {missed}"
        if row["servers"] > 1 and row["fewer"] != row["servers"] - 1:
            return f"{row['servers']} servers are advised, and one less was not tried"
        if row["fewer"] and not self.misses(
                self.simulate(row["scenario"], f"replicas={row['fewer']}"), limits):
            return f"{row['fewer']} servers meet the limits, too"
        return None

    def check_nothing(self, words, limits, forms, rate):
        """Nothing is advised: requests alone miss a limit in every form; with a rate and a number of
        GPUs, as many servers as there may be miss one."""
        model, machine, _, workload = words[:4]
        for gpus, servers in forms:
            sets = [f"model={model}", f"hardware={machine}", "system=vllm",
                    f"workload={workload}", f"tensor_parallel={gpus}"]
            sets += [f"replicas={servers}"] if servers > 1 else []
            sets += [f"rate={ALONE if rate is None else rate}"]
            missed = self.misses(self.simulate("{}", *sets), limits)
            if not missed:
                return f"nothing is advised, and {gpus} GPUs x {servers} meet the limits"
        return None

    def check(self, number, seed, small):
        words, limits, gpus, rate = draw(number, seed, small)
        done = self.run("advise", *words, "--json")
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        advised = [row for row in rows if row.get("advised")]
        if done.returncode not in (0, 1) or (done.returncode == 0) != bool(advised):
            wrong = "status %d: %s" % (done.returncode, done.stderr.strip())
        elif advised:
            wrong = (self.check_rate if rate is None else self.check_hire)(advised[0], limits)
        else:
            most = gpus if rate is None else 4 * gpus
            forms = [(one, most // one) for one in (1, 2, 4, 8) if one <= most]
            wrong = self.check_nothing(words, limits, forms, rate)
        return number, " ".join(words), bool(advised), wrong


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
    print(f"1..{len(numbers)}")
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        for count, (number, words, advised, wrong) in enumerate(pool.map(
                lambda number: checker.check(number, asked.seed, asked.small), numbers), 1):
            answered += advised
            failed += wrong is not None
            print(f"{'not ok' if wrong else 'ok'} {count} - {number}: {words}", flush=True)
            if wrong:
                print(f"# {wrong}")
    print(f"# {answered} of {len(numbers)} have an answer, {failed} are wrong")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
