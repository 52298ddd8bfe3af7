#!/usr/bin/env python3
"""Make a wheel of an installation: what `make wheel` installed below ROOT becomes OUT/spillway_sim-VERSION-*.whl.

    tools/wheel.py ROOT OUT

A wheel is a zip archive of files with their hashes; Python's standard library makes it. The program is in bin/ of the
environment, its data in lib/spillway, and the Python package on Python's path. The tag names the oldest C library that
the programs run with, read from the programs themselves.

Of the recordings the wheel has those that answers need by default (`trace: ensemble`). The others are named in
traces/ELSEWHERE, so that the program can say where they are.

The same commit gives the same bytes: modes and times are those of the wheel, not of the folder.
"""

import base64
import hashlib
import os
import pathlib
import re
import stat
import struct
import subprocess
import sys
import time
import zipfile

NAME = "spillway_sim"
MOST_BYTES = 25_000_000
RECORDINGS = ("smollm2-135m.swt", "qwen2.5-coder-0.5b.swt", "gemma-3-270m.swt")
# Debian's packages with the libraries that are linked in, and their licences.
LIBRARIES = {"libgsl-dev": "GPL-3.0-or-later", "libsqlite3-dev": "blessing", "libcsv-dev": "LGPL-2.1-or-later",
             "libyaml-dev": "MIT", "libjansson-dev": "MIT", "libzstd-dev": "BSD-3-Clause",
             "libxxhash-dev": "BSD-2-Clause", "liburing-dev": "MIT"}
SHARED = {"libc", "libm", "ld-linux-x86-64", "ld-linux-aarch64"}
MACHINES = {62: "x86_64", 183: "aarch64"}  # of ELF
PACKAGE = "share/spillway/python/spillway"
# Below lib/, which every environment has: pip removes files, and leaves folders that hold only folders.
PLACES = {"share/spillway": "lib/spillway", "lib/spillway": "lib/spillway", "include": "lib/spillway/include"}

METADATA = """\
Metadata-Version: 2.4
Name: spillway-sim
Version: {version}
Summary: Predicts how fast a language model decodes once its KV cache no longer fits the GPU
License-Expression: {licence}
{licence_files}
Keywords: llm,kv-cache,offloading,simulation,capacity-planning
Classifier: Development Status :: 4 - Beta
Classifier: Environment :: Console
Classifier: Operating System :: POSIX :: Linux
Classifier: Topic :: Scientific/Engineering
Requires-Python: >=3.9
Provides-Extra: pandas
Requires-Dist: pandas; extra == "pandas"
Description-Content-Type: text/markdown

{description}"""

WHEEL = """\
Wheel-Version: 1.0
Generator: tools/wheel.py
Root-Is-Purelib: false
Tag: {tag}
"""


def said(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def version_of(top):
    header = (top / "sim/core/version.h").read_text(encoding="utf-8")
    return re.search(r'SPILLWAY_VERSION "([^"]*)"', header)[1]


def binaries_of(root):
    return sorted(path for path in [*root.glob("bin/*"), *root.glob("lib/spillway/*.so")] if path.is_file())


def glibc_of(binaries):
    """The C library that the programs need: (2, 34). They must need no other library."""
    needed = (0, 0)
    for path in binaries:
        dump = said("readelf", "--dynamic", "--version-info", "--wide", str(path))
        others = {name.split(".")[0] for name in re.findall(r"\(NEEDED\).*\[(\S+)\]", dump)} - SHARED
        if others:
            sys.exit(f"{path}: needs {', '.join(sorted(others))}, which the wheel does not hold")
        needed = max([needed, *(tuple(map(int, pair)) for pair in re.findall(r"GLIBC_(\d+)\.(\d+)", dump))])
    return needed


def tag_of(binaries):
    machine, = struct.unpack("<H", binaries[0].read_bytes()[18:20])
    return "py3-none-manylinux_{}_{}_{}".format(*glibc_of(binaries), MACHINES[machine])


# ---- what goes where -------------------------------------------------------------------------------------------------

def placed(root, version):
    """Pairs of a path in the wheel and a file."""
    data = f"{NAME}-{version}.data"
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        place = path.relative_to(root).as_posix()
        if place.startswith("bin/"):
            yield f"{data}/scripts/{place[len('bin/'):]}", path
        elif place.startswith(PACKAGE):
            yield f"spillway{place[len(PACKAGE):]}", path
        else:
            for old, new in PLACES.items():
                if place.startswith(f"{old}/"):
                    yield f"{data}/data/{new}{place[len(old):]}", path


def leave_out(root):
    """Remove the recordings that the wheel does not hold; leave a list of them."""
    traces = root / "share/spillway/traces"
    lines = []
    for path in sorted(traces.glob("*.swt")):
        if path.name not in RECORDINGS:
            lines.append(f"{path.stem} {path.stat().st_size}\n")
            path.unlink()
    (traces / "ELSEWHERE").write_text("".join(lines), encoding="utf-8")


def licences(top, version):
    """Licence files by their names: Spillway's, and those of the libraries that are linked in."""
    files = {"LICENSE": (top / "LICENSE").read_bytes()}
    table = ["The programs hold these libraries, from Debian, which has their sources:\n\n"]
    for package, licence in LIBRARIES.items():
        files[f"{package}.copyright"] = pathlib.Path(f"/usr/share/doc/{package}/copyright").read_bytes()
        table.append(f"{package} {said('dpkg-query', '-W', '-f=${Version}', package)}: {licence}\n")
    files["LIBRARIES"] = "".join(table).encode()
    return {f"{NAME}-{version}.dist-info/licenses/{name}": data for name, data in files.items()}


def described(top):
    """The page of the package: the README without its pictures and relative links."""
    text = (top / "README.md").read_text(encoding="utf-8")
    text = re.sub(r"^!\[[^]]*\]\([^)]*\)\n", "", text, flags=re.M)
    return re.sub(r"\[([^]]*)\]\((?!https?:)[^)]*\)", r"\1", text)


# ---- the archive -----------------------------------------------------------------------------------------------------

class Wheel:
    """The archive, and the hash of each file in it."""

    def __init__(self, path, moment):
        self.archive, self.record, self.moment = zipfile.ZipFile(path, "w"), [], moment

    def add(self, place, data, mode=0o644):
        info = zipfile.ZipInfo(place, self.moment)
        info.external_attr = (stat.S_IFREG | mode) << 16
        info.compress_type = zipfile.ZIP_STORED if place.endswith(".swt") else zipfile.ZIP_DEFLATED
        self.archive.writestr(info, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{place},sha256={digest},{len(data)}\n")

    def close(self, info):
        self.add(f"{info}/RECORD", "".join([*self.record, f"{info}/RECORD,,\n"]).encode())
        self.archive.close()


def committed(top):
    """The time of the commit, or of now."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if not given:
        log = subprocess.run(["git", "-C", top, "log", "-1", "--format=%ct"], check=False, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True)
        given = log.stdout.strip() or time.time()
    return time.gmtime(int(given))[:6]


def make(root, out):
    top = pathlib.Path(__file__).resolve().parent.parent
    version = version_of(top)
    tag, info = tag_of(binaries_of(root)), f"{NAME}-{version}.dist-info"
    leave_out(root)
    path = out / f"{NAME}-{version}-{tag}.whl"
    wheel, notices = Wheel(path, committed(top)), licences(top, version)
    for place, file in placed(root, version):
        wheel.add(place, file.read_bytes(), 0o755 if os.access(file, os.X_OK) else 0o644)
    for place, data in notices.items():
        wheel.add(place, data)
    wheel.add(f"{info}/METADATA", METADATA.format(
        version=version, description=described(top),
        licence=" AND ".join(dict.fromkeys(["Apache-2.0", *LIBRARIES.values()])),
        licence_files="\n".join(f"License-File: {place.split('/', 2)[2]}" for place in notices)).encode())
    wheel.add(f"{info}/WHEEL", WHEEL.format(tag=tag).encode())
    wheel.close(info)
    return path


def main():
    root, out = map(pathlib.Path, sys.argv[1:])
    path = make(root, out)
    size = path.stat().st_size
    print(f"{path} ({size / 1e6:.1f} MB): pip install {path}")
    if size > MOST_BYTES:
        sys.exit(f"{path}: takes more than {MOST_BYTES / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
