"""Run the notebooks of examples/notebooks, cell by cell, and compare what they print with what they hold.

A notebook is JSON, and its cells need nothing of Jupyter: they are run here by Python alone. UPDATE=1 rewrites their
outputs; review the diff. Prints TAP.
"""

import ast
import contextlib
import io
import json
import os
import pathlib
import sys

NOTEBOOKS = sorted((pathlib.Path(__file__).parents[2] / "examples/notebooks").glob("*.ipynb"))


def lines(text):
    """A text as notebooks hold it: a list of lines with their ends."""
    return text.splitlines(keepends=True)


def run_cell(source, names):
    """Run a cell as Jupyter does: what it prints, and the value of its last expression."""
    tree, printed, value = ast.parse(source), io.StringIO(), None
    last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        if last is not None:
            value = eval(compile(last, "cell", "eval"), names)
    outputs = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines(printed.getvalue())})
    if value is not None:
        outputs.append({"data": {"text/plain": lines(repr(value))}, "metadata": {}, "output_type": "execute_result"})
    return outputs


def run_notebook(notebook):
    """Run all cells; their outputs and numbers are replaced by what came out."""
    names, count = {"__name__": "__main__"}, 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        count += 1
        cell["execution_count"] = count
        cell["outputs"] = run_cell("".join(cell["source"]), names)
        for output in cell["outputs"]:
            if output["output_type"] == "execute_result":
                output["execution_count"] = count


def main():
    print(f"1..{len(NOTEBOOKS)}")
    failures = 0
    for number, path in enumerate(NOTEBOOKS, 1):
        held = path.read_text(encoding="utf-8")
        notebook = json.loads(held)
        run_notebook(notebook)
        now = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
        if os.environ.get("UPDATE"):
            path.write_text(now, encoding="utf-8")
            held = now
        failures += held != now
        print("ok" if held == now else "not ok", number, "-", path.name)
        if held != now:
            print(*(f"# {line}" for line in now.splitlines() if line not in held.splitlines()), sep="\n")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
