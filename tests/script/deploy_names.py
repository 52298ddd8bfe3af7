"""Hostile names on their way through --deploy: a shell gets them as one word, byte for byte, and runs nothing else.
deploy_names.py PROGRAM FOLDER"""

import json
import os
import re
import subprocess
import sys

try:
    import yaml
except ImportError:
    yaml = None
program, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
FAKES = ("vllm", "python3", "trtllm-serve", "spillway", "touch", "rm")
NAMES = ("a$(touch PWNED)b", "`touch PWNED`", "it's", "'; touch PWNED; '", '"; touch PWNED; "', "new\ntouch PWNED\n#")
NAMES += ("two\n\n  lines ", "$HOME ${HF_TOKEN} $(HF_TOKEN) $$", "# a: b", " {c}: [d] & *e !f |", "-rf", "\x1b[2J\x07")
NAMES += ("tab\there", "> PWNED", "back\\slash\\", "!!", "e\u0301\u2028\u0085\ufeff", "--config=PWNED", "* ? ~")
failed = 0


def check(good, what, *more):
    global failed
    failed += not good
    for line in more if not good else ():
        print(f"# {str(line)[:2000]!r}")
    print(f"{'ok' if good else 'not ok'} - {what}")


def record(arguments):
    """The commands that ran, each as a list of its words."""
    run = os.path.join(folder, "run")
    os.makedirs(run, exist_ok=True)
    log = os.path.join(folder, "log")
    open(log, "w").close()
    environment = {"PATH": os.path.join(folder, "fakes"), "LOG": log}
    done = subprocess.run(arguments, cwd=run, env=environment, capture_output=True, timeout=60)
    made = os.listdir(run)
    commands = [entry.split(b"\0")[:-1] for entry in open(log, "rb").read().split(b"\1\0")[:-1]]
    return commands, made, done.stderr


def holds(command, model, draft):
    """The model is one word of the command, and so is the draft model, or within the JSON of one."""
    words = [os.fsdecode(word) for word in command]
    drafts = [json.loads(word).get("model") for word in words if word.startswith("{")] + words
    return model in words and (draft is None or draft in drafts)


def ran_alone(arguments, program, model, draft):
    commands, made, said = record(arguments)
    first = [os.path.basename(os.fsdecode(command[0])) for command in commands]
    good = not made and first and set(first) <= {program, "spillway"} and first[0] == program
    return bool(good and holds(commands[0], model, draft)), (commands, made, said)


os.makedirs(os.path.join(folder, "fakes"))
for fake in FAKES:
    path = os.path.join(folder, "fakes", fake)
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nprintf '%s\\0' \"$0\" \"$@\" >>\"$LOG\"\nprintf '\\1\\0' >>\"$LOG\"\n")
    os.chmod(path, 0o755)
for tool in ("env", "sh"):
    os.symlink(f"/usr/bin/{tool}" if os.path.exists(f"/usr/bin/{tool}") else f"/bin/{tool}", f"{folder}/fakes/{tool}")

os.makedirs(os.path.join(folder, "work"))
os.chdir(os.path.join(folder, "work"))
shape = open(os.path.join(os.environ["SPILLWAY_DATA"], "models/smollm2-135m.json"), encoding="utf-8").read()
PROGRAMS = {"vllm.sh": "vllm", "benchmark.sh": "vllm"}
for number, name in enumerate(NAMES):
    model, draft = f"m/{name}", f"d/{name}"
    for path in (model, draft):
        os.makedirs(path)
        with open(f"{path}/config.json", "w", encoding="utf-8") as file:
            file.write(shape)
    drafts = {"count": 2, "method": "model", "model": draft, "acceptance": "60%"}
    scenario = {"model": model, "hardware": "a40", "system": "vllm", "context": "1K", "drafts": drafts}
    with open("scenario.yaml", "w", encoding="utf-8") as file:
        json.dump(scenario, file)
    out = f"out{number}"
    asked = [program, "plan", "scenario.yaml", "--maximise", "batch=[1, 2]", "--target", "tpot_ms<=1000", "--deploy", out]
    done = subprocess.run(asked, capture_output=True, timeout=300)
    if done.returncode != 0:
        check(False, f"{name!r} is deployed", done.stdout[-500:], done.stderr)
        continue
    wrong = []
    for file in sorted(os.listdir(out)):
        if file.endswith(".sh"):
            drafted = draft if file == "vllm.sh" else None
            good, what = ran_alone(["sh", os.path.abspath(f"{out}/{file}")], PROGRAMS[file], model, drafted)
            wrong += [] if good else [(file, what)]
    check(not wrong, f"scripts: {name!r} is one word, and nothing else runs", *wrong)
    command = next((line for line in done.stdout.decode(errors="replace").split("\n") if line.startswith("vllm serve ")), "")
    good, what = ran_alone(["sh", "-c", command], "vllm", model, draft)
    hidden = re.search(r"[\x00-\x1f\x7f-\x9f\u2028]", name)
    escaped = re.escape(model.split(hidden[0])[0]) + r"\\u" if hidden else ""
    check(
        re.search(escaped, command) and not what[1] and len(what[0]) == 1 if hidden else good,
        f"what is printed: {name!r} may be pasted",
        command,
        what,
    )
    if yaml is None:
        continue
    manifests = [yaml.safe_load(open(f"{out}/compose.yaml", encoding="utf-8"))]
    manifests += list(yaml.safe_load_all(open(f"{out}/kubernetes.yaml", encoding="utf-8")))
    inside = [manifests[0]["services"]["server"]["command"]]
    inside += [manifests[1]["spec"]["template"]["spec"]["containers"][0]["args"]]
    check(
        set(manifests[0]) == {"services", "volumes"} and len(manifests) == 3 and all(len(each) == 1 for each in inside),
        f"manifests: {name!r} adds no key",
    )
    bare = [re.sub(r"\$\$", "", each[0]) for each in inside]
    check(not any("$" in each for each in bare), f"manifests: {name!r} names no variable", *inside)
    runs = [ran_alone(["sh", "-c", each[0].replace("$$", "$")], "vllm", model, draft) for each in inside]
    check(all(good for good, _ in runs), f"manifests: {name!r} is one word, and nothing else runs", *runs)
sys.exit(failed > 0)
