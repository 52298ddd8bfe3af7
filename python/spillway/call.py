"""Run the program `spillway`: its answers are rows, its complaints exceptions, its progress is passed on.

A call starts the program and reads the JSON that it prints, which takes some milliseconds more than the answer. The
program is the one beside this package: in bin/ or build/ of a folder above it, else on the PATH. $SPILLWAY_PROGRAM
names another one.
"""

import functools
import json
import os
import pathlib
import re
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile

# The exit status by which a search says that nothing meets what was asked for: there is an answer all the same.
UNMET = 1


class Error(Exception):
    """What the program complained of, in its own words.

    place     the file and line, or the option, where it was found: "a.yaml:12", "--set"; None
    found     what was found
    key       the key or option to blame, where the message names one; else None
    expected  what was expected, or None
    nearest   the valid name nearest to a wrong one, or None
    status    the program's exit status: 2 for an invalid request, 1 for a failure

    >>> import spillway
    >>> try:
    ...     spillway.simulate(model="llama-3-8", hardware="a40", system="vllm", context="8K")
    ... except spillway.Error as why:
    ...     print(why.found, "->", why.nearest)
    unknown model 'llama-3-8' -> llama-3-8b
    """

    def __init__(self, message, status):
        super().__init__(message)
        self.status = status
        first, *rest = message.split("\n")
        place = re.match(r"(--[a-z-]+|[^ ]+:[0-9]+|[^ ]*[/.][^ ]*): ", first)
        self.place = place[1] if place else None
        self.found = first[place.end():] if place else first
        hint = rest[-1] if rest else ""
        nearest = re.search(r"nearest: '([^']*)'", hint)
        expected = re.search(r"expected: (.*)", hint)
        self.nearest = nearest[1] if nearest else None
        self.expected = expected[1] if expected else None
        key = (re.search(r"(?:unknown|invalid) (?:key|option|override) '([^']*)'", self.found)
               or re.search(r"'([^']*)' is missing", self.found) or re.search(r"^unknown ([a-z]+) '", self.found)
               or re.search(r"^'([a-z_.]+)'", self.found))
        self.key = key[1] if key else None


class ProgramNotFound(Error):
    """The program itself is missing."""


@functools.lru_cache(maxsize=None)
def _beside(folder):
    for above in pathlib.Path(folder).parents:
        for place in ("bin", "build"):
            path = above / place / "spillway"
            if path.is_file() and os.access(path, os.X_OK):
                return str(path)
    return shutil.which("spillway")


def program():
    """The path of the program that calls start."""
    path = os.environ.get("SPILLWAY_PROGRAM") or _beside(os.path.abspath(__file__))
    if path is None:
        raise ProgramNotFound("the program 'spillway' is not beside the Python module, and not on the PATH\n"
                              "  expected: pip install spillway-sim, or its path in $SPILLWAY_PROGRAM", 1)
    return path


# ---- progress --------------------------------------------------------------------------------------------------------

def _is_watched():
    """Does somebody watch: is this a notebook or a terminal?"""
    return "ipykernel" in sys.modules or sys.stderr is not None and sys.stderr.isatty()


def _terminal():
    """A terminal for the program's standard error: there it shows its progress. None: it shows none."""
    if not _is_watched():
        return None
    try:
        return os.openpty()
    except OSError:
        return None


class _Messages:
    """Standard error of the program, through a terminal: progress is passed on at once, and the rest kept."""

    def __init__(self):
        self.kept = b""

    def take(self, data):
        self.kept += data
        for line in re.findall(rb"\r([^\r\n]*)\033\[K", data):
            text = line.decode(errors="replace")
            sys.stderr.write(f"\r{text}\033[K" if sys.stderr.isatty() else f"\r{text:<78}")
        sys.stderr.flush()

    def text(self):
        """What was said besides progress."""
        text = self.kept.decode(errors="replace").replace("\r\n", "\n")
        return re.sub(r"\r[^\r\n]*\033\[K", "", text)


def _read_all(process, master):
    """Standard output, and standard error without progress."""
    out, messages = b"", _Messages()
    with selectors.DefaultSelector() as waiting:
        waiting.register(process.stdout, selectors.EVENT_READ)
        waiting.register(master, selectors.EVENT_READ)
        while waiting.get_map():
            for key, _ in waiting.select():
                try:
                    data = os.read(key.fd, 1 << 16)
                except OSError:  # the other end of a terminal is closed
                    data = b""
                if not data:
                    waiting.unregister(key.fileobj)
                elif key.fd == master:
                    messages.take(data)
                else:
                    out += data
    process.wait()
    return out, messages.text()


def _watch(process, master, slave):
    os.close(slave)
    try:
        return _read_all(process, master)
    finally:
        os.close(master)


# ---- a call ----------------------------------------------------------------------------------------------------------

def _start(words, out, said, environment=None, keep=()):
    return subprocess.Popen([program(), *words], stdin=subprocess.DEVNULL, stdout=out, stderr=said, pass_fds=keep,
                            env={**os.environ, **environment} if environment else None)


def _stop(process):
    """End the program as Ctrl-C does: it stores what is complete."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        process.wait()


def _run(words):
    """Run it; returns what it printed, what it said besides, and its status."""
    terminal = _terminal()
    process = _start(words, subprocess.PIPE, terminal[1] if terminal else subprocess.PIPE)
    try:
        if terminal:
            out, said = _watch(process, *terminal)
        else:
            out, said = process.communicate()
            said = said.decode(errors="replace")
    finally:
        _stop(process)
    return out, said, process.returncode


def _run_served(words, serve, environment, keep):
    """The same, while `serve` answers it, which returns when the program is done."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as said:
        process = _start(words, out, said, environment, keep)
        try:
            serve()
            process.wait()
        finally:
            _stop(process)
        out.seek(0)
        said.seek(0)
        return out.read(), said.read().decode(errors="replace"), process.returncode


def ask(words, may_be_unmet=False, served=None):
    """Run the program with these words, which ask for JSON lines. Returns the objects, and whether it was content.

    may_be_unmet  the command says by UNMET that nothing meets what was asked for, which is an answer
    served        arguments of _run_served(), for a program that asks back (policy.py)
    """
    out, said, status = _run_served(words, **served) if served else _run(words)
    if status != 0 and not (may_be_unmet and status == UNMET and out):
        complaint = re.search(r"^spillway: (.*)", said, re.M | re.S)
        message = complaint[1].strip("\n") if complaint else f"the program ended with status {status}: {said}"
        raise Error(message, status)
    return [json.loads(line) for line in out.decode().splitlines()], status == 0
