"""Hold the schema against what the program takes: every scenario that ships and every example of a
key is valid, and a slip that the program refuses is not. Prints TAP; needs jsonschema and PyYAML."""

import glob
import json
import os
import re
import sqlite3
import subprocess
import sys

import jsonschema
import yaml

program, schema_path, scratch = sys.argv[1:]
with open(schema_path, encoding="utf-8") as file:
    schema = json.load(file)
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)
COMPLETE = {"model": "smollm2-135m", "hardware": "a40", "system": "retroinfer", "context": 3840}
count = failures = 0


def check(good, claim):
    global count, failures
    count += 1
    failures += not good
    print("ok" if good else "not ok", count, "-", claim)


def valid(scenario):
    # A key of a map is a text in YAML's data model of a scenario; PyYAML makes numbers of some.
    return validator.is_valid(json.loads(json.dumps(scenario)))


def refused(scenario):
    """Does the program refuse to read this scenario?"""
    text = json.dumps({**COMPLETE, **scenario}).encode()
    run = subprocess.run([program, "simulate", "/dev/stdin"], input=text, capture_output=True)
    return run.returncode != 0


def load(path):
    with open(path, encoding="utf-8") as file:
        return yaml.safe_load(file)


for path in sorted(glob.glob("scenarios/*.yaml")):
    if not path.endswith("error-bands.yaml"):
        check(valid(load(path)), f"{path} is valid")
for path in sorted(glob.glob("scenarios/papers/*.yaml") + glob.glob("scenarios/measured/*.yaml")):
    paper = load(path)
    maps = [paper.get("scenario", {})] + [row.get("set", {}) for row in paper["rows"]]
    check(all(valid(scenario) for scenario in maps), f"scenarios of {path} are valid")
systems = [load(path) for path in sorted(glob.glob("scenarios/systems/*.yaml"))]
keys = schema["properties"]["mechanisms"]["properties"]
check(all(valid({"mechanisms": {k: v for k, v in system.items() if k in keys}})
          for system in systems), f"the mechanisms of {len(systems)} systems are valid")

database = os.path.join(scratch, "stored.db")
run = [program, "simulate", "--db", database, "--set", "sweep.system=[fullattn, retroinfer, capture]"]
for key in ("model", "hardware", "context"):
    run += ["--set", f"{key}={COMPLETE[key]}"]
subprocess.run(run, capture_output=True, check=True)
with sqlite3.connect(database) as stored:
    texts = [json.loads(text) for text, in stored.execute("SELECT scenario FROM runs")]
check(len(texts) == 3 and all(valid(text) for text in texts), "what a database stores is valid")

examples = subprocess.run([program, "simulate", "--help"], capture_output=True, text=True).stdout
examples = examples[examples.index("keys of a scenario"):].split("\n\n")[0]
examples = re.sub(r"\n {19,}", " ", examples).splitlines()[1:]  # wrapped lines are whole
parsed = {line.split()[0]: yaml.safe_load(line.rsplit("; e.g. ", 1)[1]) for line in examples}
check(len(parsed) == len(schema["properties"]), f"{len(parsed)} keys of help are keys of the schema")
wrong = [key for key, value in parsed.items() if not valid({key: value})]
check(not wrong, f"the example of every key is valid {wrong or ''}")
swept = [key for key, value in parsed.items() if key != "sweep" and not valid({"sweep": {key: [value]}})]
check(not swept, f"and can be swept {swept or ''}")

GOOD = [
    {"batch": "max"}, {"context": "128K"}, {"hbm_usable": 0.9}, {"contexts": ["4K", 8192]},
    {"hardware": {"gpu": "a40", "link": {"extends": "pcie5-x16", "h2d": "50GB/s"}}},
    {"mechanisms": {"policy": {"eta": 0.5}}}, {"mechanisms": {"policy": "plugin:./mine.so"}},
    {"mechanisms": {"budget": "rest", "recent": 0.1}}, {"model": "./my-model"},
    {"sweep": {"mechanisms.policy.eta": [0.5, 0.9], "hardware.link.h2d": ["20GB/s"]}},
    {"trace": "assumed:hit=93%,spread=5%"}, {"hardware": {"extends": "a40", "price_per_hour": 2.5}},
]
for scenario in GOOD:
    check(valid(scenario), f"{json.dumps(scenario)} is valid")

NOTHING = [0, "0", "0.0"]
SERVED = {"workload": "conversations", "kv_pool_tokens": "16K", "limit": 1, "rate": 1,
          "routing": "prefix-load", "context": None}
positive = [key for key, value in schema["properties"].items()
            if {"not": {"$ref": "#/definitions/zero"}} in (value.get("allOf", []) + [
                part for one in value.get("anyOf", []) for part in one.get("allOf", [])])]
check(len(positive) >= 14, f"{len(positive)} keys may not be 0")
serving = ["rate", "burstiness", "warm_requests", "clients", "time_scale", "limit", "replicas", "max_sequences",
           "batched_tokens", "hash_tokens", "balance_abs_threshold", "balance_rel_threshold"]
for key, value in parsed.items():
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        base = SERVED if key in serving else {}
        wrong = [no for no in NOTHING if valid({key: no}) == refused({**base, key: no})]
        check(not wrong, f"'{key}' of 0 is the same to both {wrong or ''}")

SLIPS = [
    {"hbm_usable": "150%"}, {"hbm_usable": "0%"}, {"hbm_usable": "100.1%"}, {"host_memory": "0GiB"},
    {"contxt": 4096}, {"batch": "many"}, {"batch": 1.5}, {"context": "4 GiB"},
    {"context": -1}, {"hbm_reserve": 2}, {"hbm_usable": 30}, {"model": "llama-3-8"},
    {"system": "retroinver"}, {"hardware": "a41"}, {"hardware": {"gpu": "a40", "cpu": "x"}},
    {"hardware": {"extends": "a40", "link": {"h2d": "50GB"}}}, {"trace": "smollm"},
    {"hardware": {"extends": "a40", "price_per_hour": "2 dollars"}}, {"hardware": {"price_per_hour": -1}},
    {"order": "random"}, {"steps": "some"}, {"mechanisms": {"sync": "tpu"}},
    {"mechanisms": {"granularty": "16tok"}}, {"mechanisms": {"merge": "perhaps"}},
    {"mechanisms": {"policy": {"name": "qsac", "etta": 0.5}}}, {"mechanisms": {"budget": "8GB/s"}},
    {"sweep": {"batch": []}}, {"sweep": {"bacth": [1]}}, {"sweep": {"batch": 4}},
    {"sweep": {"mechanisms.sink": ["4tok"]}}, {"dtype": {"kv": "fp7"}}, {"dtype": {"k": "fp8"}},
]
for scenario in SLIPS:
    good = not valid({**COMPLETE, **scenario}) and refused(scenario)
    check(good, f"{json.dumps(scenario)} is a slip to both")

print(f"1..{count}")
sys.exit(failures > 0)
