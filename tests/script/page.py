"""The page of `spillway report` in a headless Chromium: page.py PROGRAM FOLDER. What it shows is what its database has."""

import json
import math
import os
import sqlite3
import subprocess
import sys

from browser import Browser

PROGRAM, FOLDER = sys.argv[1:3]
failed = 0


def check(good, what, *more):
    global failed
    failed += not good
    for line in more if not good else ():
        print(f"# {str(line)[:600]}")
    print(f"{'ok' if good else 'not ok'} - {what}")


def short(value):
    """A figure as the page writes it: three digits, none behind the point from 1000 on."""
    if value == 0:
        return 0.0
    return float(math.floor(value + 0.5)) if abs(value) >= 1000 else float(f"{value:.3g}")


def near(a, b, share=1e-14):
    return a == b or abs(a - b) <= share * max(abs(a), abs(b))


database, page = f"{FOLDER}/study.db", f"{FOLDER}/study.html"
store = sqlite3.connect(database)
store.row_factory = sqlite3.Row
runs = {row["run"]: row for row in store.execute("SELECT * FROM runs")}
at = {
    run: (
        json.loads(row["scenario"])["batch"],
        json.loads(row["scenario"])["context"],
        json.loads(row["scenario"])["hardware"]["link"]["extends"],
    )
    for run, row in runs.items()
}
browser = Browser()
browser.size(1000, 1400)
browser.open(page)
check(browser.complaints == [], "the page loads without a complaint", *browser.complaints)
check(len(browser.requests) == 1, "nothing but the page itself is asked for", *browser.requests)

# ---- every point of every slider, and every number there

SET = """(name, place) => { const input = document.querySelector(`#axes [aria-label="${name}"]`);
    input.value = place; input.dispatchEvent(new Event("input")); }"""
ROWS = """(id) => [...document.querySelectorAll(id + " tbody tr")].map((row) => [row.dataset.run,
    [...row.querySelectorAll("[data-key]")].map((cell) => [cell.dataset.key, Number(cell.dataset.value), cell.textContent])])"""
SCALES = {"step_us": 1000, "hit_ratio": 0.01, "mass_recall": 0.01, "hbm_bytes": 2**30, "dram_bytes": 2**30}


def rows(table):
    return browser.run(f"({ROWS})('{table}')")


def wrong_of(shown):
    """The cells that differ from the database's."""
    return [
        (run, key, value, text)
        for run, cells in shown
        for key, value, text in cells
        if not near(value, runs[run][key]) or not near(float(text), short(value / SCALES.get(key, 1)), 1e-9)
    ]


axes = browser.run("""Object.fromEntries([...document.querySelectorAll("#axes input")].map((input) =>
    [input.getAttribute("aria-label"), Number(input.max) + 1]))""")
check(
    sorted(axes.items()) == [("batch", 2), ("context", 3), ("hardware.link", 2)],
    "each swept key has a slider",
    axes,
)
seen, wrong, placed, count = set(), [], True, 0
for batch in range(axes.get("batch", 0)):
    for context in range(axes.get("context", 0)):
        for link in range(axes.get("hardware.link", 0)):
            for name, place in (("batch", batch), ("context", context), ("hardware.link", link)):
                browser.run(f"({SET})('{name}', {place})")
            shown = rows("#here")
            keys = (("1", "4")[batch], ("512", "1024", "3840")[context], ("pcie3-x16", "pcie5-x16")[link])
            placed = placed and {run for run, _ in shown} == {run for run, key in at.items() if key == keys}
            wrong += wrong_of(shown)
            count += sum(len(cells) for _, cells in shown)
            seen |= {run for run, _ in shown}
check(placed and seen == set(runs), "each place of the sliders shows the runs that the database has there")
check(
    wrong == [] and count >= 7 * len(runs),
    f"every number there is the database's ({count} of them)",
    *wrong[:5],
)
browser.run("document.querySelector('#all').open = true")
browser.run("new Promise((done) => setTimeout(done, 50))")
shown = rows("#all")
check(
    len(shown) == len(runs) and wrong_of(shown) == [],
    "so is every number in the table of all runs",
    *wrong_of(shown)[:5],
)
static = browser.run(
    """[...document.querySelectorAll("main table")].filter((table) => table.caption.textContent === "Runs of decode steps")
    .flatMap((table) => { const names = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
        return [...table.tBodies[0].rows].map((row) => Object.fromEntries(names.map((name, i) => [name, row.cells[i].textContent]))); })"""
)
other = [
    row
    for row in static
    if not near(float(row["tokens/s"]), float(f"{runs[row['run']]['decode_tokens_per_s']:.3g}"), 6e-3)
    or not near(float(row["step (ms)"]), runs[row["run"]]["step_us"] / 1000, 6e-3)
]
check(len(static) == len(runs) and other == [], "so are those of the table that needs no script", *other[:5])
parts = browser.run(
    "JSON.parse(document.getElementById('data').textContent).runs.map((run) => [run[0], run[6]])"
)
check(
    all(
        near(value, json.loads(runs[run]["parts_us"])[name])
        for run, each in parts
        for name, value in each.items()
    ),
    "so are the parts of the steps",
)

# ---- the chart

browser.run(f"({SET})('context', 0)")
browser.run(
    "document.getElementById('measure').value = 'step_us'; document.getElementById('measure').dispatchEvent(new Event('change'))"
)
browser.run(
    "document.getElementById('over').value = [...document.getElementById('over').options].findIndex(o => o.text === 'context');"
    "document.getElementById('over').dispatchEvent(new Event('change'))"
)
marks = browser.run(
    """[...document.querySelectorAll("#curve path[data-run]")].map((mark) => [mark.dataset.run, mark.getBBox().y])"""
)
ordered = sorted(marks, key=lambda mark: -mark[1])
steps = [runs[run]["step_us"] for run, _ in ordered]
check(
    len(marks) == 9 and all(a <= b * 1.02 for a, b in zip(steps, steps[1:])),
    "a mark is drawn for each run on the lines, higher for more",
    marks,
)
browser.run("document.querySelector('#curve svg').focus()")
browser.key("ArrowRight", 39)
told = browser.run("document.getElementById('tip').textContent")
check(told.startswith("fullattn, ") and "step (ms)" in told, "a key reads the values of a mark", told)
browser.key("Escape", 27)

# ---- keyboard, address, limits, sorting

browser.run("document.querySelector('#axes [aria-label=context]').focus()")
browser.key("ArrowRight", 39)
address = browser.run("location.hash")
check(
    "context=1K" in address and "show=step_us" in address,
    "an arrow key moves a slider, and the address keeps it",
    address,
)
limit = sorted(runs[run]["step_us"] for run, _ in rows("#here"))[1] / 1000
browser.run(
    f"""(() => {{ const input = document.querySelector('[data-limit=step_us]'); input.value = '{limit * 1.0001}';
    input.dispatchEvent(new Event('input')); }})()"""
)
verdicts = dict(
    browser.run(
        """[...document.querySelectorAll("#here tbody tr")].map((row) => [row.dataset.run, row.cells[1].textContent])"""
    )
)
expect = {run: "passes" if runs[run]["step_us"] / 1000 <= limit * 1.0001 else "fails: step" for run in verdicts}
check(verdicts == expect and len(set(expect.values())) == 2, "runs pass or fail a limit", verdicts)
browser.run(
    "[...document.querySelectorAll('#here th')].find((head) => head.textContent === 'step (ms)').firstChild.click()"
)
order = [runs[run]["step_us"] for run, _ in rows("#here")]
check(order == sorted(order, reverse=True) or order == sorted(order), "a click sorts a table", order)
address, before = browser.run("location.hash"), browser.run("document.getElementById('explore').innerText")
browser.open(page, address)
check(
    browser.run("document.getElementById('explore').innerText").splitlines()[:30] == before.splitlines()[:30],
    "the address brings all of it back",
)

# ---- narrow, dark, readable

for dark in False, True:
    browser.size(400, 900, dark)
    browser.open(page)
    wide = browser.run("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    check(wide[0] <= wide[1], f"nothing is cut off at 400 pixels{', dark' if dark else ''}", wide)
    colors = browser.run(
        """(() => { const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true }), style = getComputedStyle(document.documentElement);
        return Object.fromEntries(["--ground", "--text", "--muted", "--accent", "--good", "--bad", ...[...Array(12)].map((_, i) => "--series" + i)].map((name) => {
            canvas.fillStyle = style.getPropertyValue(name); canvas.fillRect(0, 0, 1, 1); return [name, [...canvas.getImageData(0, 0, 1, 1).data]]; })); })()"""
    )

    def light(color):
        parts = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in color[:3]]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    def contrast(name):
        a, b = sorted((light(colors[name]), light(colors["--ground"])))
        return (b + 0.05) / (a + 0.05)

    low = [name for name in colors if name != "--ground" and contrast(name) < (3 if "series" in name else 4.5)]
    check(low == [], f"marks and text stand out{', dark' if dark else ''}", low)
# ---- a grid with a hole, and names that would run

store.execute(
    "DELETE FROM runs WHERE json_extract(scenario, '$.batch') = '4' AND json_extract(scenario, '$.context') = '3840'"
)
store.execute(
    """UPDATE runs SET system = '</script><script>document.title = "run"</script>' WHERE system = 'clo'"""
)
store.commit()
subprocess.run([PROGRAM, "report", database, "-o", f"{FOLDER}/hole.html"], check=True)
browser.size(1000, 1400)
browser.open(f"{FOLDER}/hole.html", "#batch=4&context=1K")
browser.run(f"({SET})('context', 2)")
check(
    len(rows("#here")) == 3 and {at[run][:2] for run, _ in rows("#here")} == {("1", "3840")},
    "a slider stops at computed points alone",
    rows("#here"),
)
check(
    browser.run("document.title") != "run"
    and "<script>document" in browser.run("document.getElementById('here').textContent"),
    "a name stays a name",
)
# ---- the page of an advice, whose title is a long question

browser.size(400, 900)
browser.open(f"{FOLDER}/advice.html")
wide = browser.run("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
title = browser.run("(() => { const h = document.querySelector('h1'); return [h.scrollWidth, h.clientWidth]; })()")
check(wide[0] <= wide[1] and title[0] <= title[1], "an advice is not cut off at 400 pixels", wide, title)

check(browser.complaints == [], "nothing was complained about", *browser.complaints)
browser.close()

size = os.path.getsize(page)
data = open(page, encoding="utf-8").read().split('id="data"')[1].split("</script>")[0]
check(
    size + 1000 * len(data) / len(runs) < 3e6,
    f"a thousand points would fit in 3 MB ({len(data) / len(runs):.0f} bytes each, and {size})",
)
sys.exit(failed > 0)
