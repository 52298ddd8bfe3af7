"""What --deploy writes: commands whose flags are documented, and manifests of the form that Docker and Kubernetes ask for.
deploy.py FOLDER..."""

import fnmatch
import json
import os
import re
import shlex
import subprocess
import sys

try:
    import yaml
except ImportError:
    print("ok - # SKIP manifests: python3 has no PyYAML (apt-get install python3-yaml)")
    yaml = None
failed = 0
# vllm/benchmarks/serve.py (docs.vllm.ai/en/latest/cli/bench/serve)
BENCH = """backend endpoint base-url model dataset-name dataset-path random-input-len random-output-len
    timed-trace-chunk-hash-size timed-trace-sec-multiplier timed-trace-label-timestamp self-timed num-prompts ignore-eos
    max-concurrency percentile-metrics metric-percentiles save-result save-detailed result-filename"""
# What each program's command starts with, and its options, as engines/commands/ has them.
FLAGS, WRITES = {"vllm bench serve": BENCH.split()}, {}
# docs.lmcache.ai, multi-process mode
FLAGS["lmcache server"] = ["chunk-size", "l1-size-gb", "eviction-policy"]
for name in os.listdir("engines/commands") if yaml else ():
    program = yaml.safe_load(open(f"engines/commands/{name}", encoding="utf-8"))
    rows = program["options"]
    flags = list(rows) + [alias for row in rows.values() for alias in row.get("also", ())] + ["host", "port"]
    names = [name for part in ("refused", "ignored") for row in program.get(part, {}).values() for name in row]
    flags += [name.split("=")[0] for name in names]  # without the values that change nothing
    for start in program["starts"]:
        FLAGS[start] = [flag.lstrip("-") for flag in flags]
        WRITES[start] = " ".join(flag for flag, row in rows.items() if "writes" in row)


def check(good, what, *more):
    global failed
    failed += not good
    for line in more if not good else ():
        print(f"# {str(line)[:400]}")
    print(f"{'ok' if good else 'not ok'} - {what}")


def unknown(command):
    """The flags of a command that its programs do not have; all of them for an unknown program."""
    wrong = []
    for part in command.split(" & ") if yaml else ():
        program = next((name for name in FLAGS if name in part), "")
        words = shlex.split(part.replace("{options}", WRITES.get(program, "")).replace('"$@"', ""))
        flags = [word for word in words if re.match(r"--[a-z]", word)]
        known = FLAGS.get(program, ())
        wrong += [word for word in flags if not any(fnmatch.fnmatch(word.split("=")[0][2:], flag) for flag in known)]
    return wrong


# Every preset, with all parts of its command.
wrong = {}
for name in sorted(os.listdir("scenarios/systems")):
    text = open(f"scenarios/systems/{name}", encoding="utf-8").read()
    command = re.search(r"^command: >-\n((?:  .*\n)+)", text, re.M)
    if command:
        asked = re.sub(r"\{\?\w+\}", "", command[1])
        wrong[name] = unknown(asked.replace("[", "").replace("]", "").replace("\n", " "))
check(
    len(wrong) > 5 and not any(wrong.values()),
    "flags of all presets' commands are those of their programs",
    {name: flags for name, flags in wrong.items() if flags},
)

# ---- the forms, as schemas: compose-spec/compose-spec.json and Kubernetes' apps/v1 and v1, as far as they are used here


def fits(value, form, where=""):
    """The places where a value has another form. A key that ends in ? may be missing; a list has one form for all."""
    if isinstance(form, dict):
        if not isinstance(value, dict):
            return [f"{where}: not a map"]
        known = {key.rstrip("?"): key for key in form}
        bad = [
            f"{where}.{key}: missing"
            for key in form
            if not key.endswith("?") and key != "*" and key not in value
        ]
        bad += [f"{where}.{key}: unknown" for key in value if key not in known and "*" not in known]
        for key in value:
            if key in known or "*" in known:
                bad += fits(value[key], form[known.get(key, known.get("*"))], f"{where}.{key}")
        return bad
    if isinstance(form, list):
        return (
            [f"{where}: no list"]
            if not isinstance(value, list) or not value
            else [bad for i, item in enumerate(value) for bad in fits(item, form[0], f"{where}[{i}]")]
        )
    return (
        []
        if isinstance(value, form) and not (form is int and isinstance(value, bool))
        else [f"{where}: {value!r} is no {form.__name__}"]
    )


COMPOSE = {
    "services": {
        "*": {
            "image": str,
            "entrypoint": [str],
            "command": [str],
            "environment": {"*": str},
            "ports": [str],
            "ipc": str,
            "volumes": [str],
            "healthcheck": {"test": [str], "interval": str, "start_period": str},
            "deploy": {
                "resources": {
                    "reservations": {"memory?": str, "devices": [{"driver": str, "count": int, "capabilities": [str]}]}
                }
            },
        }
    },
    "volumes": {"*": dict},
}
LABELS, PROBE = {"*": str}, {
    "httpGet": {"path": str, "port": int},
    "periodSeconds": int,
    "failureThreshold?": int,
}
DEPLOYMENT = {
    "apiVersion": str,
    "kind": str,
    "metadata": {"name": str, "labels": LABELS},
    "spec": {
        "replicas": int,
        "selector": {"matchLabels": LABELS},
        "template": {
            "metadata": {"labels": LABELS},
            "spec": {
                "containers": [
                    {
                        "name": str,
                        "image": str,
                        "command": [str],
                        "args": [str],
                        "env": [
                            {
                                "name": str,
                                "valueFrom": {"secretKeyRef": {"name": str, "key": str, "optional": bool}},
                            }
                        ],
                        "ports": [{"containerPort": int}],
                        "resources": {"limits": {"nvidia.com/gpu": int}, "requests?": {"memory": str}},
                        "readinessProbe": PROBE,
                        "startupProbe": PROBE,
                        "volumeMounts": [{"name": str, "mountPath": str}],
                    }
                ],
                "volumes": [{"name": str, "emptyDir": dict}],
            },
        },
    },
}
SERVICE = {
    "apiVersion": str,
    "kind": str,
    "metadata": {"name": str},
    "spec": {"selector": LABELS, "ports": [{"port": int, "targetPort": int}]},
}


def commands_of(path):
    """Lines of a script that start something with flags."""
    text = open(path, encoding="utf-8").read().replace("\\\n", " ")
    lines = [
        line
        for line in text.splitlines()
        if re.search(r" --[a-z]", line) and not line.startswith(("#", "spillway"))
    ]
    calls = [line.removeprefix("client ") for line in lines if line.startswith("client ")]
    return [lines[0].replace('"$@"', call) for call in calls] or lines


for folder in sys.argv[1:]:
    name = os.path.basename(folder)
    files = sorted(os.listdir(folder))
    scripts = [file for file in files if file.endswith(".sh")]
    commands = {file: commands_of(f"{folder}/{file}") for file in scripts}
    sends = commands.pop("benchmark.sh")
    warms = name == "sessions"
    check(
        all(len(each) == 1 for each in commands.values()) and len(sends) == 1 + warms,
        f"{name}: a command in each script, and one that warms what is watched in its steady state",
        commands,
        sends,
    )
    commands["benchmark.sh"] = sends
    wrong = {file: unknown(line) for file, each in commands.items() for line in each if unknown(line)}
    check(not wrong, f"{name}: their flags are those of their programs", wrong)
    check(
        all(subprocess.run(["sh", "-n", f"{folder}/{file}"]).returncode == 0 for file in scripts),
        f"{name}: a shell reads them",
    )
    text = "".join(open(f"{folder}/{file}", encoding="utf-8").read() for file in files)
    check(
        "{{" not in text and "not known" in text.lower(),
        f"{name}: each value is filled in, or said not to be known",
    )
    lacking = [file for file in scripts if "but not in this command" in open(f"{folder}/{file}", encoding="utf-8").read()]
    drafting = [file for file in scripts if "speculative" in commands[file][0]]
    check(
        name != "drafts" or lacking or drafting,
        f"{name}: the engine drafts, or its file says that it does not",
        lacking,
        drafting,
    )
    sent, option = f"{folder}/requests.jsonl", dict(re.findall(r"--(\S+) (\d+)", sends[-1]))
    warm = int(re.search(r"--num-prompts (\d+)", sends[0])[1]) if warms else 0
    rows = [json.loads(line) for line in open(sent, encoding="utf-8")] if os.path.exists(sent) else []
    hashes = int(option.get("timed-trace-chunk-hash-size", 0))
    check(
        not (bool(rows) == (name in ("batch", "drafts")))
        and all(len(row["hash_ids"]) == -(-row["input_length"] // hashes) for row in rows)
        and (not rows or len(rows) == warm + int(option["num-prompts"]))
        and all(("since_warm" in row) == warms for row in rows),
        f"{name}: the client makes each prompt as long as it is, of its hashes",
        rows[:1],
    )
    client = re.search(r"The client is .*?vLLM(?: (0\.\d+))?", text)
    check(
        client is not None and client[1] == ("0.23" if name == "router" else "0.25" if rows else None),
        f"{name}: the client sends what its server takes: a router takes no token ids",
        client,
    )
    heads = {row["hash_ids"][0] for row in rows}
    alike = len(heads) < len(rows)
    check(
        alike == (name in ("prefixes", "sessions")) and (name != "prefixes" or len(heads) == 4),
        f"{name}: the benchmark's prompts begin alike if those of the workload do",
        heads,
    )
    check(
        name != "drafts" or all("meta-llama/Llama-3.1-70B-Instruct " in each[0] for each in commands.values()),
        f"{name}: the model is the one that was asked for",
    )
    if yaml is None:
        continue
    scenario = yaml.safe_load(open(f"{folder}/scenario.yaml", encoding="utf-8"))
    check({"model", "hardware", "system"} <= set(scenario), f"{name}: the scenario is there", scenario)
    compose = yaml.safe_load(open(f"{folder}/compose.yaml", encoding="utf-8"))
    bad = fits(compose, COMPOSE)
    check(not bad, f"{name}: compose.yaml has the form that Compose asks for", *bad)
    deployment, service, *router = yaml.safe_load_all(open(f"{folder}/kubernetes.yaml", encoding="utf-8"))
    front = router[-1] if router else deployment
    check(
        [each["kind"] for each in router]
        == {
            "router": ["ServiceAccount", "Role", "RoleBinding", "Deployment"],
            "balancer": ["Service", "Deployment"],
        }.get(name, []),
        f"{name}: kubernetes.yaml starts a router if the answer stands behind one that it can start",
        router,
    )
    bad = fits(deployment, DEPLOYMENT) + fits(service, SERVICE)
    check(
        not bad
        and (deployment["apiVersion"], deployment["kind"], service["apiVersion"], service["kind"])
        == ("apps/v1", "Deployment", "v1", "Service"),
        f"{name}: kubernetes.yaml has the form of a Deployment and a Service",
        *bad,
    )
    labels, spec = deployment["spec"]["template"]["metadata"]["labels"], deployment["spec"]["template"]["spec"]
    check(
        deployment["spec"]["selector"]["matchLabels"] == labels
        and service["spec"]["selector"] == front["spec"]["template"]["metadata"]["labels"]
        and {mount["name"] for mount in spec["containers"][0]["volumeMounts"]}
        == {volume["name"] for volume in spec["volumes"]},
        f"{name}: its labels and volumes belong together",
    )
    engine = deployment["metadata"]["name"]
    hosts = re.search("LOCAL_CPU_SIZE|kv-offloading|enable-hierarchical-cache", commands[f"{engine}.sh"][0]) is not None
    reserved = compose["services"]["server"]["deploy"]["resources"]["reservations"]
    asked = spec["containers"][0]["resources"].get("requests", {})
    check(
        (int(reserved.get("memory", "0G")[:-1]) > 0) == (int(asked.get("memory", "0Gi")[:-2]) > 0) == hosts,
        f"{name}: manifests ask for the host memory that KV takes, if it takes some",
        reserved,
        asked,
    )
    served = commands[f"{engine}.sh"][0].replace(' "$@"', "")
    inside = [compose["services"]["server"]["command"][0], spec["containers"][0]["args"][0]]
    check(
        all(each == "exec env " + served for each in inside),
        f"{name}: all start the same server",
        served,
        *inside,
    )
sys.exit(failed > 0)
