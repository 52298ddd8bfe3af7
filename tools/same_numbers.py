#!/usr/bin/env python3
"""Did only words change? Compares the numbers of two trees of texts, file by file.

    tools/same_numbers.py OLD NEW

OLD and NEW are folders, or a commit and a folder of the checkout: `tools/same_numbers.py main tests/cli`. The numbers
of a file are compared as a multiset: how often each occurs, wherever it stands. Prints each file that differs, with
the numbers that it lost (-) and gained (+); the exit status is 1 if there is one."""
import collections
import os
import re
import subprocess
import sys

NUMBER = re.compile(rb"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


def folder(path):
    names = [os.path.join(at, name) for at, _, all_names in os.walk(path) for name in all_names]
    return {os.path.relpath(name, path): open(name, "rb").read() for name in names}


def commit(name, path):
    git = lambda *arguments: subprocess.run(["git", *arguments], check=True, capture_output=True).stdout
    names = git("ls-tree", "-r", "-z", "--name-only", name, "--", path).decode().split("\0")[:-1]
    return {os.path.relpath(each, path): git("show", f"{name}:./{each}") for each in names}


def numbers(text):
    return collections.Counter(NUMBER.findall(text))


def listed(sign, counter):
    return "".join(f" {sign}{number.decode()}" + (f" x{count}" if count > 1 else "")
                   for number, count in sorted(counter.items()))


if len(sys.argv) != 3:
    sys.exit(__doc__)
old = folder(sys.argv[1]) if os.path.isdir(sys.argv[1]) else commit(*sys.argv[1:])
new, differing = folder(sys.argv[2]), 0
for name in sorted(old.keys() | new.keys()):
    before, after = numbers(old.get(name, b"")), numbers(new.get(name, b""))
    if before != after:
        differing += 1
        print(f"{name}:{listed('-', before - after)}{listed('+', after - before)}")
print(f"{len(old.keys() | new.keys())} files, {differing} with other numbers")
sys.exit(differing > 0)
