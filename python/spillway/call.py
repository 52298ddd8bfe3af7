"""Run the program `spillway` with --json: its answers are rows, its complaints exceptions, its progress is shown.

A call starts the program and reads the JSON that it prints, which takes some milliseconds more than the answer. The
program is the one beside this package: in bin/ or build/ of a folder above it, else on the PATH. $SPILLWAY_PROGRAM
names another one.
"""

import functools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading


class Error(Exception):
    """What the program complained of, in its own words, or this module. Processes can pass it on.

    found       what was found
    expected    what was expected, or None
    nearest     the valid name nearest to a wrong one, or None
    key         the key to blame, or None
    file, line  where it was found: a file, or an option such as "--set"; None. `place` has both: "a.yaml:12"
    status      the program's exit status: 2 for an invalid request, 1 for a failure
    rows        what was answered before, as of a sweep some of whose points cannot run

    >>> import spillway
    >>> try:
    ...     spillway.simulate(model="llama-3-8", hardware="a40", system="vllm", context="8K")
    ... except spillway.Error as why:
    ...     print(why.found, "->", why.nearest)
    unknown model 'llama-3-8' -> llama-3-8b
    """

    def __init__(self, error, status=1, found=None, expected=None, nearest=None, key=None, file=None, line=None, rows=()):
        super().__init__(error)
        self.status, self.found, self.expected, self.nearest = status, found or error, expected, nearest
        self.key, self.file, self.line, self.rows = key, file, line, rows

    @property
    def place(self):
        return f"{self.file}:{self.line}" if self.line else self.file


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
    if path is None or not os.path.isfile(path):
        raise ProgramNotFound(f"there is no program '{path or 'spillway'}'",
                              expected="pip install spillway-sim, or its path in $SPILLWAY_PROGRAM")
    return path


# ---- what the program says -------------------------------------------------------------------------------------------

def _is_watched():
    """Does somebody watch: is this a notebook or a terminal?"""
    return "ipykernel" in sys.modules or sys.stderr is not None and sys.stderr.isatty()


def _show(line):
    """Show a line in place of the one before, in a terminal or a notebook."""
    line = line[:shutil.get_terminal_size().columns - 1]
    sys.stderr.write(f"\r{line}\033[K" if sys.stderr.isatty() else f"\r{line:<78}")
    sys.stderr.flush()


def _listen(lines, said):
    """Keep the objects that standard error holds, a line each; show progress. What a crash leaves there is no JSON."""
    shows, shown = _is_watched(), False
    for line in lines:
        try:
            one = json.loads(line)
            progress = one.get("progress")
        except (ValueError, AttributeError):
            one, progress = {"text": line.decode(errors="replace")}, None
        if progress is None:
            said.append(one)
        elif shows:
            _show(progress)
            shown = True
    if shown:
        _show("")


# ---- a call ----------------------------------------------------------------------------------------------------------

def _start(words, out, environment, keep):
    try:
        return subprocess.Popen([program(), *words], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE,
                                pass_fds=keep, env={**os.environ, **environment})
    except (OSError, ValueError) as why:  # too many words, a zero byte in one, a file that is no program
        raise Error(f"the program cannot be started: {why}", 2) from why


def _run(words, serve, environment, keep):
    """Run it; returns what it printed, the objects that it said besides, and its status."""
    said = []
    with tempfile.TemporaryFile() as out:
        process = _start(words, out, environment, keep)
        listener = threading.Thread(target=_listen, args=(process.stderr, said))
        listener.start()
        try:
            serve()
            process.wait()
        finally:  # an interrupt ends the program as Ctrl-C does: it stores what is complete
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                process.wait()
            listener.join()
            process.stderr.close()
        out.seek(0)
        return out.read(), said, process.returncode


def ask(words, serve=lambda: None, environment=None, keep=()):
    """Run the program with these words, which ask for JSON lines. Returns rows, with the values to which their keys are
    swept where no column has them, and what Rows() needs besides.

    serve, environment, keep  answers a program that asks back (policy.py); returns when it is done
    """
    out, said, status = _run(words, serve, environment or {}, keep)
    rows = [json.loads(line) for line in out.split(b"\n")[:-1]]
    swept = [row.pop("swept", {}) for row in rows]
    rows = [{**{key: value for key, value in keys.items() if key not in row}, **row} for keys, row in zip(swept, rows)]
    complaint = next((one for one in said if "error" in one), {"unmet": status == 0})
    if not complaint.pop("unmet", False):
        text = "".join(one.get("text", "") for one in said).strip()
        raise Error(**{"error": text or f"the program ended with status {status}", "status": status, **complaint}, rows=rows)
    return rows, {"met": status == 0, "varied": list(swept[0]) if swept else []}
