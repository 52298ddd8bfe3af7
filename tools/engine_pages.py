#!/usr/bin/env python3
"""Two pages about serving engines, from the rows of engines/: docs/options.md says what each option of a
server's command sets, or why it is not read; docs/versions.md what changed with which version.

    tools/engine_pages.py            write both
    tools/engine_pages.py --check    fail if either is not what it would be
"""
import sys
import textwrap
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
NAMES = ["vllm", "sglang", "tensorrt-llm"]
TOLD = ["extends", "summary", "source", "earlier"]
MADE = "<!-- tools/engine_pages.py writes this page. -->"


def load(path):
    """Words stay as they are typed: 'no' is no boolean here."""
    return yaml.load((ROOT / path).read_text(), yaml.BaseLoader)


def code(names):
    return ", ".join(f"`{name}`" for name in names)


def word_sets(key, sets):
    """What a word of an option sets: a value of the option's key, or keys of its own."""
    if isinstance(sets, str):
        sets = {key: sets} if sets not in ("", "null", "~") else {}
    told = sets.get("ignored", sets.get("told"))
    if told is not None:
        return f"nothing, {told}"
    return code(f"{k}={v}" for k, v in sets.items()) or "nothing to set"


def sets_of(row):
    """What an option sets, in words."""
    kind, key = row.get("as", ""), row.get("sets")
    if kind == "word":
        return "; ".join(
            f"`{word}`: " + word_sets(key, sets) for word, sets in row["words"].items()
        )
    if kind == "json":
        return f"each key is an option `{key}.KEY`"
    if kind == "two-bytes":
        return "only checked: types of two bytes"
    if key is None:
        return "nothing"
    fixed = [f"{key}={row[way]}" for way in ("yes", "no") if way in row]
    return code(fixed or [key]) + (f", of `{row['of']}`" if "of" in row else "")


def options_page():
    lines = [
        "# Options of servers",
        "",
        MADE,
        "",
        "`--from` reads these options in a command, a manifest or a log. Each sets a key of a scenario (or a fact that",
        "becomes one: [engines](../engines/README.md)), changes nothing, or is refused. `*` stands for any letters.",
    ]
    for name in NAMES:
        program = load(f"engines/commands/{name}.yaml")
        lines += ["", f"## {program['name']}", "", "| option | sets |", "|---|---|"]
        for option, row in program["options"].items():
            if "as" in row:
                lines.append(f"| {code([option] + row.get('also', []))} | {sets_of(row)} |")
        for title, part in (("refused, because", "refused"), ("change nothing:", "ignored"), ("told:", "unknown")):
            lines += ["", f"| {title} | options |", "|---|---|"]
            for reason, names in program.get(part, {}).items():
                lines.append(f"| {reason} | {code(option.split('=')[0] for option in names)} |")
    return "\n".join(lines) + "\n"


def changes(row, path=""):
    """The leaves of a row, as 'key value'."""
    for key, value in row.items():
        at = f"{path}.{key}" if path else key
        if path == "" and key in TOLD or key == "source":
            continue
        if isinstance(value, dict):
            yield from changes(value, at)
        elif isinstance(value, list):
            yield f"`{at}`"
        else:
            yield f"`{at}` {value}"


def sources(row):
    for key, value in row.items():
        if key == "source":
            yield value
        elif isinstance(value, dict):
            yield from sources(value)


def item(text):
    """A line of a list, wrapped as pages are."""
    return textwrap.fill(f"- {text}", 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def versions_page():
    lines = [
        "# What changed with which version of an engine",
        "",
        MADE,
        "",
        "Each row of `engines/NAME.yaml` is a version that behaves differently from the one before it; a version between",
        "two rows behaves as the earlier one. The keys are those of [engines](../engines/README.md); the source is the",
        "release, or the thread, that shows the change. A version before the first row is computed as that row, and a note",
        "says how it may differ.",
    ]
    for name in NAMES:
        title = load(f"engines/commands/{name}.yaml")["name"]
        for number, row in load(f"engines/{name}.yaml")["versions"].items():
            lines += ["", f"## {title} {number}", ""]
            lines.append(f"{row['summary'][0].upper()}{row['summary'][1:]}.")
            lines.append("")
            if "earlier" in row:
                lines.append(item(f"Before it: {row['earlier']}."))
            if "extends" in row:
                what = ", ".join(changes(row)) or "nothing that is computed"
                lines.append(item(f"Differs from {row['extends']} in: {what}."))
            lines += [item(f"Source: {source}.") for source in dict.fromkeys(sources(row))]
    return "\n".join(lines) + "\n"


def main():
    check, stale = sys.argv[1:] == ["--check"], 0
    for path, text in (("docs/options.md", options_page()), ("docs/versions.md", versions_page())):
        file = ROOT / path
        if not check:
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            print(f"{path} is not what tools/engine_pages.py writes")
            stale = 1
    return stale


sys.exit(main())
