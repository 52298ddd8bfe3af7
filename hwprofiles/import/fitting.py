"""What the importers of public measurements share: reading tables, fits, and writing of profiles.

An importer reads rows (Table), fits figures to them (attention_figures, product_figures) and writes them
between two comments of hwprofiles/gpus/PROFILE.yaml (write_block); the errors that report() prints also stand in the
table of hwprofiles/README.md (write_table). Run again on the same rows, all write the same bytes.

    attention   fixed + pairs * pair + bytes / (share * peak)
    products    fixed + max(bytes / (share * peak), FLOPs / (flops_share(rows) * FLOPs peak))

The sum of |predicted / measured - 1| is least. Input that cannot be is one message (Failure) and exit
status 1; a wrong command line is 2.
"""
import csv
import os
import re
import sys
import textwrap

import numpy as np

PROFILES = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GPUS = os.path.join(PROFILES, "gpus")
FROM = "  # hwprofiles/import/%s writes from here\n"
TO = "  # to here\n"
ROWS = "aiconfigurator.py", "llmservingsim.py", "vidur.py"  # the importers that fit figures to rows

KINDS = "bf16", "fp8", "int4", "fp4", "mxfp4", "mxfp4_fp8"  # of values

LEAST_ROWS = 64           # beyond, only multiples of it are fitted
THIN = 0.04               # a point is left out if the line between others is that near
LEAST_WEIGHTS = 16 << 20  # n * k of the products whose share of the FLOPs counts
FEW = 16                  # rows up to which a product is bound by its bytes: the rows of one tile


# ---- command line ----

class Failure(Exception):
    """The input is wrong; the text says where and how."""


def run(main):
    """Run an importer's main(); a Failure is its one message and exit status 1."""
    try:
        main()
    except Failure as why:
        sys.exit("%s: %s" % (os.path.basename(sys.argv[0]), why))


def usage(text):
    """End with exit status 2 and the text after the program's name."""
    print("%s: %s" % (os.path.basename(sys.argv[0]), text), file=sys.stderr)
    sys.exit(2)


def arguments(profiles):
    """The checkout and the profiles of the command line, by default all of `profiles`."""
    if len(sys.argv) < 2:
        usage("no checkout is named\n  expected: CHECKOUT [PROFILE]...")
    for name in sys.argv[2:]:
        if name not in profiles:
            usage("unknown profile '%s'\n  expected: %s" % (name, ", ".join(profiles)))
    return sys.argv[1], sys.argv[2:] or list(profiles)


# ---- rows ----

class Table:
    """Columns of a file as arrays, and in `seconds` the times; rows that cannot be are dropped and counted.
    `origin` names the file and whose it is."""

    def __init__(self, origin, columns):
        self.origin, self.columns, self.dropped = origin, columns, 0

    def __getitem__(self, name):
        if name not in self.columns:
            raise Failure("%s: no column '%s'" % (self.origin, name))
        return self.columns[name]

    def numbers(self, name):
        try:
            return self[name].astype(float)
        except ValueError as why:
            raise Failure("%s: column '%s': %s" % (self.origin, name, why)) from None

    def time(self, name, per_second):
        """Take a column of times, in units that a second has `per_second` of; a time of 0 was not measured."""
        seconds = self.numbers(name) / per_second
        if not (seconds >= 0).all():
            raise Failure("%s: column '%s' holds %g, which is no time" % (
                self.origin, name, self[name][~(seconds >= 0)][0]))
        self.columns["seconds"] = seconds
        self.drop(seconds == 0)

    def keep(self, rows):
        self.columns = {name: column[rows] for name, column in self.columns.items()}
        if not len(self["seconds"]):
            raise Failure("%s: no row that can be used" % self.origin)

    def drop(self, rows):
        self.dropped += int(rows.sum())
        self.keep(~rows)

    def drop_faster(self, size, l2, peak):
        """Drop rows that read four times the L2 or more at over 105 % of the peak."""
        self.drop((size >= 4 * l2) & (size / self["seconds"] > 1.05 * peak))

    def source(self, what, rows, error):
        return "%s: %d rows, %s; median |error| %.1f %%; dropped: %d" % (
            self.origin, rows, what, 100 * np.median(abs(error)), self.dropped)


def read_csv(checkout, path):
    """A table of a CSV file whose first line names the columns: numbers, else text."""
    whole = os.path.join(checkout, path)
    if not os.path.isfile(whole):
        raise Failure("%s: no such file" % whole)
    try:
        with open(whole, encoding="utf-8", newline="") as file:
            lines = list(csv.reader(file))
    except (UnicodeDecodeError, csv.Error):
        raise Failure("%s: not a table\n  expected: lines of text in UTF-8, not compressed" % whole)
    for number, line in enumerate(lines, 1):
        if len(line) != len(lines[0]):
            raise Failure("%s:%d: %d columns where the first line has %d" % (
                whole, number, len(line), len(lines[0])))
    if len(lines) < 2:
        raise Failure("%s: no rows" % whole)
    columns = {}
    for name, *values in zip(*lines):
        try:
            columns[name] = np.array(values, float)
        except ValueError:
            columns[name] = np.array(values)
    return Table(path, columns)


def join(origin, tables):
    """One table of the rows of several that have the same columns, all of `origin`."""
    columns = {name: np.concatenate([table[name] for table in tables]) for name in tables[0].columns}
    whole = Table(origin + " and ".join(table.origin for table in tables), columns)
    whole.dropped = sum(table.dropped for table in tables)
    return whole


def set_products(table, n, k):
    """Make a table with the columns m and seconds one of products with 16-bit weights of n columns, k rows.
    Beyond LEAST_ROWS rows of activations, multiples of it stay."""
    m = table["m"]
    columns = {"m": m, "n": n, "k": k, "weights": 2 * n * k, "bytes": 2 * (n * k + m * k + m * n),
               "flops": 2 * m * n * k, "seconds": table["seconds"]}
    table.columns = columns
    table.keep((m <= LEAST_ROWS) | (m % LEAST_ROWS == 0))


# ---- figures as text ----

def percent(value):
    return ("%.3g%%" if value < 9.995 else "%.0f%%") % (100 * value)


def microseconds(seconds):
    return "%.3gms" % (1e3 * seconds) if seconds >= 1e-3 else "%.3gus" % (1e6 * seconds)


def nanoseconds(seconds):
    return "%.3gns" % (1e9 * seconds)


def amount_text(figure, amount):
    """A value of a figure in the unit that its name tells."""
    if figure.endswith("share"):
        return percent(amount)
    return nanoseconds(amount) if figure.endswith(("pair", "token", "block")) else microseconds(amount)


def points_text(points, text):
    """Points whose values `text` writes."""
    return "[" + ", ".join("[%d, %s]" % (at, text(value)) for at, value in points) + "]"


def bytes_text(count):
    for unit, each in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= each:
            return "%.0f%s" % (count / each, unit)
    return "%.0fB" % count


# ---- profiles ----

def profile_text(name):
    with open(os.path.join(GPUS, name + ".yaml"), encoding="utf-8") as file:
        return file.read()


def fitted_text(name):
    """The figures of a profile that were fitted to rows."""
    text = ""
    for script in ROWS:
        _, start, after = profile_text(name).partition(FROM % script)
        text += after.split(TO, 1)[0] if start else ""
    return text


def stated(name, figure):
    """The value of a figure of a profile, or of the one that it extends, in base units."""
    text = profile_text(name)
    found = re.search(r"^  %s:\s*{?value: ([\d.]+)([GT])" % figure, text, re.M)
    if found:
        return float(found.group(1)) * {"G": 1e9, "T": 1e12}[found.group(2)]
    return stated(re.search(r"^  extends: (\S+)", text, re.M).group(1), figure)


def points_of(texts, which):
    """The points of a figure in the texts of a profile, as (x, value) in base units, or None; a value has one."""
    found = re.search(r"^  %s:\n    (?:value|points): (.*?)\n    basis" % which, "".join(texts), re.M | re.S)
    if found is None:
        return None
    units = {"us": 1e-6, "ns": 1e-9, "%": 1e-2, None: 1}
    pairs = re.findall(r"\[(\d+),\s+([\d.]+)(us|ns|%)\]", found.group(1))
    if not pairs:
        pairs = [("1",) + re.match(r"([\d.]+)(us|ns|%)?", found.group(1)).groups()]
    return [(float(at), float(value) * units[unit]) for at, value, unit in pairs]


def flops_peak(name, kind):
    """The peak of products with weights of a kind: fp8 and fp4 have their own, integers of 4 bits are multiplied
    in bf16."""
    return stated(name, {"fp8": "flops_fp8", "mxfp4_fp8": "flops_fp8", "fp4": "flops_fp4"}.get(kind, "flops_bf16"))


def suffix(kind):
    """What the names of the figures of a kind of values end in."""
    return "" if kind == "bf16" else "_" + kind


def spread(ratio):
    """The range of a figure that is `ratio` times as large on single rows."""
    low, high = np.quantile(ratio, (0.1, 0.9))
    return "[%s, %s]" % (percent(min(1, low)), percent(max(1, high)))


def wrapped(key, text):
    lines = textwrap.wrap(key + ": " + text, 110, break_long_words=False, break_on_hyphens=False)
    return "".join("    " + ("  " if i > 0 else "") + line + "\n" for i, line in enumerate(lines))


def figure_text(name, value, band, source, basis="published"):
    """A figure as a profile states it; `band` is its range, or None for what is not known alone."""
    text = "  %s:\n" % name + wrapped("points" if value.startswith("[[") else "value", value)
    text += "    basis: %s\n" % basis + ("    range: %s\n" % band if band else "")
    return text + wrapped("source", '"%s"' % source)


def write_block(name, figures, script):
    """Replace the figures that `script` wrote into a profile, or append them."""
    before, start, after = profile_text(name).partition(FROM % script)
    if not figures and not start:
        return
    if start:
        after = after.split(TO, 1)[1]
    with open(os.path.join(GPUS, name + ".yaml"), "w", encoding="utf-8") as file:
        file.write(before + FROM % script + "".join(figures) + TO + after)


# ---- fits ----

def fit(columns, seconds, least, most=np.inf):
    """Factors of the columns, none below its `least` or above its `most`, of least relative errors."""
    columns, least = np.stack(columns, 1) / seconds[:, None], np.array(least, float)
    held = np.zeros(len(least), bool)
    factors = least.copy()
    for _ in least:
        rest = 1 - columns[:, held] @ factors[held]
        weight = np.ones(len(seconds))
        for _ in range(300):
            free = np.linalg.lstsq(columns[:, ~held] * weight[:, None], rest * weight, rcond=None)[0]
            apart = abs(columns[:, ~held] @ free - rest)
            weight = 1 / np.sqrt(np.maximum(apart, 1e-4))
        factors[~held] = free
        beyond = (factors < least) | (factors > most)
        if not beyond.any():
            break
        held |= beyond
        factors = np.clip(factors, least, most)
    return factors


def share_of(table, byte, peak):
    """The share of the peak bandwidth at so many seconds a byte."""
    if byte * peak < 0.5:
        raise Failure("%s: the times do not grow with the bytes that are read" % table.origin)
    return 1 / (byte * peak)


def moved(table):
    """Bytes that a call of attention moves: its KV, and what the call before left in the L2 to be written."""
    return table["bytes"] + table.columns.get("left", 0)


def attention_figures(name, kind, table, l2, most=np.inf, least_pair=0):
    """Fit decode attention to a table with columns pairs (of a sequence and a KV head), bytes (of KV) and perhaps
    left (moved()). KV below twice the L2 is warm and fits nothing. The fixed time is not below the shortest time
    measured nor above `most`, in seconds, the time of a pair not below `least_pair`. Returns the figures as texts."""
    peak, seconds, pairs, size = stated(name, "hbm_bandwidth"), table["seconds"], table["pairs"], table["bytes"]
    cold, every = size >= 2 * l2, moved(table)
    fixed, pair, byte = fit([np.ones(cold.sum()), pairs[cold], every[cold]], seconds[cold],
                            (seconds.min(), least_pair, 0), (most, np.inf, np.inf))
    ratio = (fixed + pair * pairs + byte * every) / seconds
    warm = ~cold & (size > 1 << 20)
    report(name, "attention " + kind, ratio, {"cold": cold, "warm": warm})
    said = table.source("head size 128, KV of twice the L2 or more", cold.sum(), ratio[cold] - 1)
    return [
        figure_text("attention_fixed" + suffix(kind), microseconds(fixed), spread(1 / ratio[warm]), said),
        figure_text("attention_share" + suffix(kind), percent(share_of(table, byte, peak)), spread(ratio[cold]), said),
        figure_text("attention_pair" + suffix(kind), nanoseconds(pair), None, said),
    ]


def find_share(seconds, fixed, memory, flops):
    """The share of the FLOPs' peak at which half of the rows are predicted too long."""
    low, high = 1e-3, 1.0
    for _ in range(60):
        middle = (low * high) ** 0.5
        if np.median((fixed + np.maximum(memory, flops / middle)) / seconds) > 1:
            low = middle
        else:
            high = middle
    return low


def thin(points, near=THIN):
    """The points without those that lie near the line between the ones that stay."""
    if len(points) < 3:
        return points
    rows, shares = zip(*points)
    line = np.interp(rows, (rows[0], rows[-1]), (shares[0], shares[-1]))
    apart = abs(line / shares - 1)
    worst = int(apart.argmax())
    if apart[worst] <= near:
        return [points[0], points[-1]]
    return thin(points[:worst + 1], near)[:-1] + thin(points[worst:], near)


def rising(points):
    """Shares of the FLOPs by rows such that no product takes less time with more rows: neighbours that do share the
    mean of their times (of their logarithms)."""
    pools = []  # of the logarithm of a time and how many points have it
    for rows, share in points:
        pools.append((np.log(rows / share), 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (one, count), (two, more) = pools[-2:]
            pools[-2:] = [((count * one + more * two) / (count + more), count + more)]
    times = [time for time, count in pools for _ in range(count)]
    return [(rows, rows / np.exp(time)) for (rows, _), time in zip(points, times)]


def shares_by_rows(table, fixed, memory, flops, large):
    """Shares by rows. Up to FEW rows no bound shows, so the first share holds there, too."""
    points = []
    for rows in np.unique(table["m"][table["m"] > FEW]):
        these = large & (table["m"] == rows)
        points.append((int(rows), find_share(table["seconds"][these], fixed, memory[these], flops[these])))
    for i in reversed(range(len(points) - 1)):
        if points[i][1] > 0.99:  # bound by memory alone: no bound is seen here either
            points[i] = (points[i][0], points[i + 1][1])
    return [(1, points[0][1])] + rising(thin(points))


def product_figures(name, kind, table, cold, where):
    """Fit products to a table with columns m, n, k, bytes (that a product moves), weights (bytes of them),
    flops. `cold`: the rows of few rows of activations and of weights that the L2 does not hold, in words
    `where`. The fixed time is not above the median time of products with weights of 1 to 8 MiB and, if there
    are products of less, not below the shortest time. Returns the figures as texts."""
    peak = stated(name, "hbm_bandwidth")
    seconds, size, flops = table["seconds"], table["bytes"], table["flops"] / flops_peak(name, kind)
    few = table["m"] <= FEW
    small = few & (table["weights"] >= 1 << 20) & (table["weights"] < 8 << 20)
    least = seconds.min() if table["weights"].min() < 1 << 20 else 0
    most = np.median(seconds[small]) if small.any() else np.inf
    fixed, byte = fit([np.ones(cold.sum()), size[cold]], seconds[cold], (least, 0), (most, np.inf))
    if not small.any():
        small = few & (table["weights"] == table["weights"].min())
    memory = byte * size
    large = table["n"].astype(float) * table["k"] >= LEAST_WEIGHTS
    shares = shares_by_rows(table, fixed, memory, flops, large)
    share = np.interp(table["m"], *zip(*shares))
    ratio = (fixed + np.maximum(memory, flops / share)) / seconds
    few, many = large & (table["m"] <= 128), large & (table["m"] > 128)
    report(name, "products " + kind, ratio, {"few": few, "many": many, "small": small})
    said = table.source(where, cold.sum(), ratio[cold] - 1)
    every = table.source("n * k of 16 Mi or more, over 128 rows", many.sum(), ratio[many] - 1)
    return [
        figure_text("product_fixed" + suffix(kind), microseconds(fixed), spread(1 / ratio[small]), said),
        figure_text("product_share" + suffix(kind), percent(share_of(table, byte, peak)), spread(ratio[few]), said),
        figure_text("flops_share" + suffix(kind), points_text(shares, percent), spread(ratio[many]), every),
    ]


# ---- what a profile rests on ----

ERRORS = {}  # median and 90th percentile of |error| by (profile, kernel, type, class of rows)


def report(name, what, ratio, classes):
    for label, rows in classes.items():
        error = ratio[rows] - 1
        median, p90 = 100 * np.median(abs(error)), 100 * np.quantile(abs(error), 0.9)
        ERRORS[(name, *what.split(), label)] = median, p90
        print("%-20s %-20s %-5s %6d rows  median %+6.1f %%  |median| %5.1f %%  p90 %5.1f %%" % (
            name, what, label, rows.sum(), 100 * np.median(error), median, p90))


TABLE = "<!-- below: hwprofiles/import/fitting.py -->\n"


def errors_text(name, kernel, labels):
    parts = ["%s %.1f / %.0f" % (kind, *ERRORS[name, kernel, kind, label])
             for label in labels for kind in KINDS if (name, kernel, kind, label) in ERRORS]
    half = len(parts) // len(labels)
    return "; ".join(", ".join(parts[i:i + half]) for i in range(0, len(parts), half)) if parts else ""


# The columns of errors in the table, and which of them each holds.
COLUMNS = {
    "attention": ("attention", ["cold"]), "products, few rows": ("products", ["few"]),
    "products, many rows": ("products", ["many"]), "latents": ("latents", ["cold"]),
    "experts, few; many rows": ("experts", ["few", "many"]),
}


def joined(errors, cell):
    """Errors of this run, and of the page those of other types: two importers may share a column."""
    if not errors or ";" in errors or ";" in cell:
        return errors or cell
    found = {part.split()[0]: part for text in (cell, errors) for part in text.split(", ") if part}
    return ", ".join(found[kind] for kind in KINDS if kind in found)


def table_row(name, cells):
    """A profile, what its kernels rest on, and their errors on the rows that fitted them: `cells` of
    the page where this run fitted none."""
    text = profile_text(name)
    fitted = bool(fitted_text(name))
    donors = sorted(set(re.findall(r"carried\s+over\s+from\s+the\s+profile\s+(\S+);", text)))
    kernels = ["published: rows"] * fitted + ["assumed: carried over from " + ", ".join(donors)] * bool(donors)
    if not kernels:
        kernels = ["those of " + re.search(r"^  extends: (\S+)", text, re.M).group(1)]
    errors = [errors_text(name, *which) for which in COLUMNS.values()]
    row = [name, "; ".join(kernels)]
    row += ([joined(*pair) for pair in zip(errors, cells[2:])] if fitted else [""] * len(COLUMNS))
    return "|" + "|".join(" %s " % cell if cell else " " for cell in row) + "|\n"


def write_table():
    """Rewrite the table below its mark in the page."""
    path = os.path.join(PROFILES, "README.md")
    with open(path, encoding="utf-8") as file:
        page, below = file.read().split(TABLE)
    cells = {}
    for line in below.splitlines():
        row = [cell.strip() for cell in line.strip("|").split("|")]
        cells[row[0]] = row
    names = sorted(file[:-5] for file in os.listdir(GPUS) if file != "nvidia.yaml")
    head = ["profile", "kernels", *COLUMNS]
    table = "| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|\n"
    table += "".join(table_row(name, cells.get(name, [""] * len(head))) for name in names)
    with open(path, "w", encoding="utf-8") as file:
        file.write(page + TABLE + "\n" + table)
