"""Files of published figures: their rows, and the runs that predict them (scenarios/papers/rules.md has the keys)."""

import concurrent.futures
import json
import os
import re
import tempfile

from .call import ask

# ---- quantities ------------------------------------------------------------------------------------------------------

# For each unit its spellings in ascending order of scale.
UNITS = {
    "count": [("", 1)],
    "share": [("%", 0.01)],
    "times": [("x", 1)],
    "bytes": [("B", 1), ("KiB", 2**10), ("MiB", 2**20), ("GiB", 2**30), ("TiB", 2**40)],
    "ns": [("ns", 1), ("us", 1e3), ("ms", 1e6), ("s", 1e9)],
    "bytes/s": [("B/s", 1), ("kB/s", 1e3), ("MB/s", 1e6), ("GB/s", 1e9), ("TB/s", 1e12)],
}
READ = {"MB": ("bytes", 1e6), "GB": ("bytes", 1e9), "TB": ("bytes", 1e12)}
READ.update({name: (unit, scale) for unit, spellings in UNITS.items() for name, scale in spellings})


def quantity(text):
    """(value in the base unit, unit) of "1490us"; None of another text."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([A-Za-z%/]*)", text)
    if found is None or found[2] not in READ:
        return None
    unit, scale = READ[found[2]]
    return float(found[1]) * scale, unit


def written(value, unit):
    """A value with three digits, as the program prints it."""
    spellings = UNITS[unit]
    name, scale = [one for one in spellings if abs(value) >= 0.9995 * one[1] or one is spellings[0]][-1]
    shown = value / scale + 0.0
    size, blank = abs(shown), " " if name else ""
    counted = unit not in ("share", "times") and scale == 1
    if shown == 0 or counted and shown == round(shown):
        return f"{shown:.0f}{blank}{name}"
    if size < 0.9995 or size >= 1e6:
        return f"{shown:#.3g}{blank}{name}"
    return f"{shown:.{2 if size < 9.995 else 1 if size < 99.95 else 0}f}{blank}{name}"


# ---- files -----------------------------------------------------------------------------------------------------------

ROW_KEYS = {"what", "set", "sweep", "across", "take", "over", "against", "minus", "published", "served", "assumed",
            "rank", "first", "class", "not_comparable", "used", "later", "note", "ambiguous",
            "source", "cause"}
SERVED = {"ttft_ms": ("TTFT, mean", "TTFT"), "ttft_p50_ms": ("TTFT, median", "TTFT"), "tpot_ms": ("TPOT, mean", "TPOT"),
          "tpot_p50_ms": ("TPOT, median", "TPOT"), "decode_tokens_per_s": ("tokens a second", "tok/s")}


class Fault(Exception):
    """A file that cannot be read, with its place."""


def _loader(path):
    try:
        import yaml
    except ImportError:
        raise Fault("PyYAML is missing\n  expected: pip install pyyaml, or apt-get install python3-yaml") from None

    class Loader(yaml.SafeLoader):
        """All scalars stay text, and each map knows its line. A key that comes twice is refused."""

    Loader.yaml_implicit_resolvers = {}

    class Map(dict):
        line = 0

    def construct(loader, node):
        found = Map()
        found.line = node.start_mark.line + 1
        for key, value in node.value:
            key = loader.construct_object(key, deep=True)
            if key in found:
                raise Fault(f"{path}:{node.start_mark.line + 1}: the key '{key}' comes twice")
            found[key] = loader.construct_object(value, deep=True)
        return found

    Loader.add_constructor("tag:yaml.org,2002:map", construct)
    try:
        with open(path, encoding="utf-8") as file:
            return yaml.load(file, Loader)
    except (OSError, UnicodeDecodeError) as why:
        raise Fault(f"{path}: {getattr(why, 'strerror', None) or 'it is not UTF-8'}") from None
    except yaml.YAMLError as why:
        mark = getattr(why, "problem_mark", None)
        raise Fault(f"{path}:{mark.line + 1 if mark else 1}: {getattr(why, 'problem', why)}") from None


class Row:
    """A published figure: the scenarios of its runs, and later what they come to."""

    def __init__(self, paper, node, title, published=None, end=None, figure=None):
        self.paper, self.node, self.end, self.figure = paper, node, end, figure
        self.title = f"{title}, {end}" if end else title
        self.used = node.get("used")
        self.reason = node.get("not_comparable", self.used)
        if figure in node.get("ambiguous", []):
            self.reason = "the source leaves open what it measured"
        self.later = "yes" in (node.get("later"), paper.tree.get("later"))
        self.note = node.get("note")
        self.cause = node.get("cause", paper.tree.get("cause"))
        self.ranks, self.kind = "rank" in node, node.get("class")
        self.published, self.unit, self.least, self.most = published, None, 0, 0
        self.take = [figure] if figure else terms(node.get("take", "decode_tokens_per_s" if self.ranks else None))
        self.over = terms(node.get("over"))
        self.cases, self.assumed = [], []  # {role: scenario}; (key, value, {role: scenario})
        if not self.ranks:
            self.read_published()

    def read_published(self):
        """ "1490us", or "1490us..1517us"; of a row that is not comparable, any text."""
        ends = [quantity(text.strip()) for text in str(self.published).split("..")]
        if len(ends) > 2 or None in ends or ends[0][1] != ends[-1][1] or not 0 < ends[0][0] <= ends[-1][0]:
            if self.reason is None:
                raise self.paper.fault(self.node, f"'{self.published}' is not a published figure\n"
                                       "  expected: a figure with its unit, or two: 1490us..1517us")
            return
        self.unit, self.least, self.most = ends[0][1], ends[0][0], ends[-1][0]

    def runs(self):
        return [scenario for case in [*self.cases, *(case for _, _, case in self.assumed)] for scenario in case.values()]


def terms(given):
    return [] if given is None else list(given) if isinstance(given, list) else [given]


def _layers(*maps):
    return [one for one in maps if one]


def _nested(key, value):
    """{"drafts": {"overhead": value}} of the key "drafts.overhead"."""
    for part in reversed(key.split(".")):
        value = {part: value}
    return value


class Paper:
    """A file of published figures."""

    def __init__(self, path):
        self.path, tree = path, _loader(path)
        for key in ("paper", "figure", "rows"):
            if not isinstance(tree, dict) or key not in tree:
                raise Fault(f"{path}:1: '{key}' is missing here")
        self.tree, self.title, self.heading = tree, tree["paper"], f"{tree['paper']}: {tree['figure']}"
        self.rows = []
        for node in tree["rows"]:
            unknown = set(node) - ROW_KEYS
            if unknown or "what" not in node:
                raise self.fault(node, f"unknown key '{min(unknown)}' of a row" if unknown else "'what' is missing here")
            self.rows += self.read(node)
        self.older = tree.get("older") == "yes"  # its engine is older than any that the program has

    def fault(self, node, text):
        return Fault(f"{self.path}:{node.line}: {text}")

    def read(self, node):
        """The rows of a node: one, or one for each value that is swept, end that is published, or figure served."""
        title = node["what"]
        if "served" in node:
            unknown = [key for key in node["served"] if key not in SERVED]
            if unknown:
                raise self.fault(node, f"'{unknown[0]}' is not a figure of 'served'\n  expected: {', '.join(SERVED)}")
            made = [Row(self, node, f"{title}, {SERVED[key][0]}", value, figure=key)
                    for key, value in node["served"].items()]
            overlays = [[{}]] * len(made)
        elif "across" in node:
            made = [Row(self, node, title, value, end) for end, value in node["published"].items()]
            overlays = [node["across"]] * len(made)
        elif "sweep" in node:
            (key, values), = node["sweep"].items()
            published = node.get("published", [None] * len(values))
            if len(published) != len(values):
                raise self.fault(node, f"'published' needs a figure for each of {len(values)} values")
            made = [Row(self, node, f"{title}, {key} {value if isinstance(value, str) else 'as listed'}", figure)
                    for value, figure in zip(values, published)]
            overlays = [[_nested(key, value)] for value in values]
        else:
            made, overlays = [Row(self, node, title, node.get("published"))], [[{}]]
        for row, cases in zip(made, overlays):
            self.add_runs(row, cases)
        return made

    def add_runs(self, row, cases):
        node, base = row.node, [self.tree.get("scenario", {}), row.node.get("set", {})]
        rivals = [terms(node.get("against"))] * len(cases)
        if row.ranks:
            rivals = [terms(one.get("against", node.get("against"))) for one in node["rank"]]
            cases = [_layers(cases[0], {key: one[key] for key in one if key not in ("what", "against")})
                     for one in node["rank"]]
        if row.take or row.reason is None:
            if not row.take:
                raise self.fault(node, "'take' is missing here")
            shared = [("run", {}), *(("minus", one) for one in terms(node.get("minus")))]
            roles = [[*shared, *((f"against {i}", one) for i, one in enumerate(own))] for own in rivals]
            row.cases = [{role: _layers(*base, *case, own) for role, own in named}
                         for case, named in zip(map(terms, cases), roles)]
            if "across" not in node and not row.ranks:
                for key, ends in node.get("assumed", self.tree.get("assumed", {})).items():
                    row.assumed += [(key, value, {role: _layers(*base, cases[0], own, _nested(key, value))
                                                  for role, own in roles[0]}) for value in ends]


# ---- runs ------------------------------------------------------------------------------------------------------------

def _ask(layers, folder, number, options):
    """The run of a scenario whose layers are laid over each other, as the program's files are."""
    paths = []
    for i, layer in enumerate(layers):
        paths.append(os.path.join(folder, f"{number}-{i}.yaml"))
        with open(paths[-1], "w", encoding="utf-8") as file:
            json.dump(layer, file, ensure_ascii=False)
    rows, _ = ask(["simulate", *paths, "--jobs", "1", "--json", *options])
    return rows[0]


def predict(papers, jobs, report, options=("--explain",)):
    """{scenario as text: its run} of all rows; those that several rows share are run once. A row that is no order needs
    the ends of ranges, which --explain has."""
    wanted = {json.dumps(layers): layers for paper in papers for row in paper.rows for layers in row.runs()}
    done = {}
    with tempfile.TemporaryDirectory(prefix="spillway-") as folder, \
            concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(_ask, layers, folder, i, options): text for i, (text, layers) in enumerate(wanted.items())}
        try:
            for future in concurrent.futures.as_completed(futures):
                done[futures[future]] = future.result()
                report(len(done), len(wanted))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return done
