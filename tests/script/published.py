"""What rows of published figures come to (python/spillway/papers.py), on made runs whose figures are worked out by hand.

A layer takes 100 us and 8 ns a token, twice as long with half of `gpu.hbm_bandwidth` and half as long with twice; two
layers and 40 us make a step. More than 1000 sequences do not fit."""

import math
import os
import random
import sys
import tempfile
import traceback

sys.path.insert(0, "python")
from spillway import error_model, papers, published  # noqa: E402

SCRATCH = tempfile.mkdtemp()
BASE = {"context": "1000", "batch": "1", "system": "slow", "class": "bandwidth-bound", "on": "m"}


def made(layers, folder=None, number=0, options=()):
    """The run of a scenario: its last value of each key counts."""
    given = dict(BASE)
    for layer in layers:
        given.update(layer)
    layer = 100e3 + 8 * int(given["context"])
    fits = int(given["batch"]) <= 1000
    run = {"system": given["system"], "status": "ok" if fits else "out-of-memory", "budget_bytes": 600,
           "dram_kv_bytes": 2400 * int(given["context"]), "limited_by": None, "hit_ratio": 0.9,
           "d2h_bytes_per_step": 0, "kv_blocks": 100, **times(layer if fits else None, given),
           "notes": [{"text": "HBM: needs more"}], "trace_source": "made"}
    half = {"figure": "gpu.hbm_bandwidth", "basis": "datasheet"}
    ends = [{**half, "share": 0.5, "changes": times(2 * layer, given)},
            {**half, "share": 2, "changes": times(layer / 2, given)}]
    return {**run, "explain": {"class": given["class"], "system": given["system"], "profile": given["on"],
                               "layers": 2, "ends": ends if fits else []}}


def times(layer, given):
    if layer is None:
        return {"step_us": None, "layer_us": None, "decode_tokens_per_s": None, "parts_us": None, "ttft_ms": None,
                "tpot_ms": None}
    step = 2 * layer + 40e3
    return {"step_us": step / 1e3, "layer_us": layer / 1e3, "decode_tokens_per_s": 1e9 * int(given["batch"]) / step,
            "parts_us": {"compute": layer / 1e3, "launch": 40}, "ttft_ms": 100, "tpot_ms": step / 1e6}


published._ask = made


def judged(*rows, **top):
    """The judges of a file with these rows, written as YAML flow maps."""
    path = os.path.join(SCRATCH, "paper.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(f"{key}: {value}\n" for key, value in {"paper": "a", "figure": "f", **top}.items()))
        file.write("rows:\n" + "".join(f"  - {{what: it, {row}}}\n" for row in rows))
    paper = published.Paper(path)
    runs = published.predict([paper], 1, lambda done, all: None)
    return [papers.Judge(row, runs) for row in paper.rows]


def near(found, wanted):
    assert math.isclose(found, wanted, rel_tol=1e-9, abs_tol=1e-9), (found, wanted)


def rows_come_to_what_is_worked_out():
    for row, predicted, error, verdict in [
            ("take: layer_us, published: 108us", 108e3, 0, "met"),
            ("take: layer_us, published: 100us", 108e3, 0.08, "met"),
            ("take: layer_us, published: 90us", 108e3, 0.2, "missed"),
            ("take: layer_us, published: 90us..120us", 108e3, 0, "met"),
            ("take: layer_us, published: 54us..60us", 108e3, 0.8, "missed"),
            ("take: layer_us, published: 90us, not_comparable: so it is", 108e3, 0.2, "not comparable"),
            ("take: layer_us, published: 1x, set: {context: 2000}, against: {context: 1000}", 116 / 108, 8 / 108, "met"),
            ("take: layer_us, published: 8us, set: {context: 2000}, minus: {context: 1000}", 8e3, 0, "met"),
            ("take: [layer_us, layer_us], over: layers, published: 108us", 108e3, 0, "met"),
            ("take: parts.compute, over: step_us, published: 54%", 108 / 256, 108 / 256 / 0.54 - 1, "missed"),
            ("take: dram_kv_bytes, published: 2400000B", 2400000, 0, "met"),
            ("take: dram_kv_bytes, published: 2400001B", 2400000, 2400000 / 2400001 - 1, "missed"),
            ("take: dram_kv_bytes, over: step_us, published: 9.375GB/s", 2400000 / 256e3 * 1e9, 0, "met"),
            ("take: hit_ratio, published: 94%", 0.9, 0.9 / 0.94 - 1, "met"),
            ("take: kv_blocks, published: 106", 100, 100 / 106 - 1, "missed")]:
        judge, = judged(row)
        near(judge.predicted, predicted)
        near(judge.error, error)
        assert judge.verdict == verdict, (row, judge.verdict)


def a_busy_share_of_a_run_counts_its_prompts():
    """A second of prompts, then 10 more tokens of 100 ms, of two sequences: 11 tokens a second. Idle are .8 of the half."""
    run = {"gpu_busy_share": 0.2, "prefill_ms": 1000, "step_us": 100e3, "e2e_tokens_per_s": 11, "batch": 2}
    near(papers.value_of("run_busy_share", run), 0.6)


def a_server_fits_without_a_step():
    assert papers.fits({"status": "ok", "step_us": None}) and not papers.fits({"status": "out-of-memory"})


def a_sweep_makes_a_row_for_each_value():
    first, second, other, same = judged("take: layer_us, sweep: {context: [1000, 2000]}, published: [108us, 116us]",
                                        "take: layer_us, published: 108us", "take: step_us, published: 256us")
    assert (second.row.title, first.verdict, second.verdict) == ("it, context 2000", "met", "met")
    assert other.run is same.run, "rows share runs"


def figures_of_a_server_are_rows():
    ttft, tpot = judged("set: {class: dense server}, served: {ttft_ms: 50ms, tpot_ms: 0.256ms}")
    assert (ttft.kind, ttft.row.title, ttft.verdict) == ("dense server TTFT", "it, TTFT, mean", "missed")
    assert (tpot.kind, tpot.verdict) == ("dense server TPOT", "met")
    queued, = judged("set: {class: saturated MoE server}, served: {tpot_ms: 0.23ms}")
    assert (queued.kind, queued.tolerance, queued.verdict) == ("saturated MoE server TPOT", 0.15, "met")


def a_rank_is_met_where_every_run_is_faster_than_the_next():
    verdicts = [judge.verdict for judge in judged(
        "rank: [{context: 10}, {context: 1000}, {context: 2000}]", "rank: [{context: 1000}, {context: 10}]",
        "rank: [{context: 10}, {context: 10}]", "rank: [{context: 10}, {batch: 2000}]")]
    assert verdicts == ["met", "missed", "missed", "met"], verdicts


def a_run_of_a_rank_may_have_a_rival_of_its_own():
    # layers of 1000, 2000 and 4000 tokens take 108, 116 and 132 us: 116/108 is less than 132/116
    first, second = "{context: 2000, against: {context: 1000}}", "{context: 4000, against: {context: 2000}}"
    verdicts = [judge.verdict for judge in judged(f"take: layer_us, rank: [{second}, {first}]",
                                                  f"take: layer_us, rank: [{first}, {second}]")]
    assert verdicts == ["met", "missed"], verdicts


def a_rank_of_ratios_puts_the_largest_first_unless_the_row_says_least():
    # A layer of 2000 tokens takes 116/108 of one of 1000, of 4000 tokens 132/108; beside 3000, 116/124 and
    # 132/124.
    larger, smaller = "{context: 4000}", "{context: 2000}"
    verdicts = [judge.verdict for judge in judged(
        f"take: layer_us, against: {{context: 1000}}, rank: [{larger}, {smaller}]",
        f"take: layer_us, against: {{context: 1000}}, rank: [{smaller}, {larger}]",
        f"take: layer_us, against: {{context: 1000}}, first: least, rank: [{smaller}, {larger}]",
        "take: dram_kv_bytes, first: least, rank: [{context: 1}, {context: 2}]")]
    assert verdicts == ["met", "missed", "met", "met"], verdicts
    judge, = judged("take: layer_us, rank: [{context: 9, system: slow}, {context: 8, system: slow, batch: 2}]")
    orders = [papers.order_of(judge, predicted) for predicted in (False, True)]
    assert orders == ["context 9 slow, context 8 slow batch 2", "context 8 slow batch 2, context 9 slow"], orders
    judge, = judged("take: layer_us, rank: [{what: short, context: 8}, {what: long, context: 9}]")
    assert papers.order_of(judge, True) == "short, long", papers.order_of(judge, True)


def a_row_may_state_its_class():
    judge, = judged("take: hit_ratio, published: 80%, class: cpu-managed")
    assert (judge.kind, judge.verdict) == ("cpu-managed", "met"), judge.kind


def ends_across_cases_are_found():
    for row, predicted, at in [
            ("published: {least: 100us}", 108e3, (0, None)),
            ("published: {most: 100us}", 116e3, (1, None)),
            ("published: {most: 1x}, against: {context: 1000}", 116 / 108, (1, "against 0")),
            ("published: {most: 1x}, against: [{context: 4000}, {context: 1000}]", 116 / 108, (1, "against 1")),
            ("published: {most: 1x}, against: [{batch: 2000}, {context: 1000}]", 116 / 108, (1, "against 1")),
            ("published: {mean: 100us}", 112e3, (0, None)),
            ("published: {mean: 1x}, against: {context: 500}", math.sqrt(108 * 116) / 104, (0, None)),
            ("published: {least: 1us}, minus: {context: 500}", 4e3, (0, None))]:
        judge, = judged(f"take: layer_us, across: [{{context: 1000}}, {{context: 2000}}, {{batch: 2000}}], {row}")
        near(judge.predicted, predicted)
        assert judge.at == at, (row, judge.at)
    judge, = judged("take: decode_tokens_per_s, across: [{context: 1000}], published: {least: 1x},"
                    " against: [{context: 3000}, {context: 500}]")
    near(judge.predicted, (2 * 104 + 40) / (2 * 108 + 40))
    assert judge.at == (0, "against 1"), "of rates, the fastest is the greatest"


def what_does_not_fit_is_missed():
    for row in ("set: {batch: 2000}, published: 1us", "across: [{batch: 2000}, {batch: 3000}], published: {least: 1us}"):
        judge, = judged(f"take: layer_us, {row}")
        assert (judge.verdict, judge.error) == ("missed", -1)


def a_miss_names_the_figure_whose_range_reaches_it():
    """Half the bandwidth is 216 us; 162 us lie half of the way from 108, a quarter of it away from the whole."""
    judge, = judged("take: layer_us, published: 162us")
    near(judge.least["error"], 54 / 162 - 1)
    near(judge.most["error"], 216 / 162 - 1)
    assert judge.suspect["name"] == "gpu.hbm_bandwidth" and judge.suspect["error"] == 0
    near(judge.suspect["share"], 0.75)
    far, = judged("take: layer_us, published: 864us")
    near(far.suspect["error"], -0.75)
    ratio, = judged("take: layer_us, published: 2x, against: {batch: 1}")
    assert ratio.suspect["name"] is None, "both runs of a ratio move"


def keys_that_are_assumed_move_as_well():
    judge, = judged("take: layer_us, published: 1ms, assumed: {context: [1000, 113000]}")
    near(judge.most["error"], 1.004 / 1 - 1)
    assert (judge.suspect["name"], judge.suspect["value"]) == ("context", "113000")


def invalid_files_are_one_message():
    for rows, wanted in [(["take: layer_us, published: wide"], "paper.yaml:4: 'wide' is not a published figure"),
                         (["take: layer_us, published: 2us..1us"], "is not a published figure"),
                         (["take: layer_us, published: 1us, taken: 2"], "unknown key 'taken'"),
                         (["published: 1us"], "'take' is missing here"),
                         (["take: nothing, published: 1us"], "'nothing' is not a figure of a result"),
                         (["served: {nothing: 1us}"], "'nothing' is not a figure of 'served'"),
                         (["take: layer_us, sweep: {context: [1, 2]}, published: [1us]"], "a figure for each of 2"),
                         (["take: layer_us, take: step_us, published: 1us"], "the key 'take' comes twice"),
                         (["["], "paper.yaml:")]:
        try:
            judged(*rows)
        except published.Fault as why:
            assert wanted in str(why), (rows, str(why))
        else:
            raise AssertionError(rows)


def a_range_is_the_mean_and_spread_of_logarithms():
    """Of -0.1, 0.1 and 0.3 of two sources: 0.1 and 1.2816 x 0.2 x sqrt(1 + 1/2)."""
    figures = [error_model.Figure("TPOT", "MoE server", *one) for one in (("a", -0.1), ("a", 0.1), ("b", 0.3))]
    least, most = error_model.Model(figures).ends(("TPOT", "other"))
    near(math.log(least), 0.1 - 1.2815515655446004 * 0.2 * math.sqrt(1.5))
    near(math.log(most), 0.1 + 1.2815515655446004 * 0.2 * math.sqrt(1.5))
    near(error_model.interval_score(0.5, 2, math.log(4)), 2 * math.log(2) + 10 * math.log(2))


def eight_of_ten_figures_of_a_new_source_lie_inside():
    """Of 60 sources, in two classes of which one errs by four times as much: better than one range for both."""
    drawn, figures = random.Random(1), []
    for source in range(60):
        kind, spread = ("dense server", 0.05) if source % 2 else ("MoE server", 0.2)
        offset = drawn.gauss(0, spread)
        figures += [error_model.Figure("TPOT", kind, source, offset + drawn.gauss(0, spread)) for _ in range(5)]
    model, (inside, score, plain) = error_model.Model(figures), error_model.left_out(figures)
    narrow, wide = (math.log(most / least) for least, most in (model.ends(("TPOT", name)) for name in ("dense", "other")))
    assert 3 < wide / narrow < 5 and score < plain
    assert 0.7 < sum(one for one, _ in inside.values()) / sum(all for _, all in inside.values()) < 0.9


def nobody_judges_a_source_that_stands_alone():
    """A file of one's own has often a single server."""
    figures = [error_model.Figure(metric, "dense server", ("a", "server"), 0.1) for metric in ("TTFT", "TPOT")]
    assert error_model.left_out(figures)[0] == {} and error_model.one_known(figures) is None
    assert error_model.alike(figures) == 0


def a_known_run_narrows_the_range_of_its_server():
    """Of 40 sources with a server each, drawn by a model with a correlation of one half."""
    drawn, figures = random.Random(2), []
    for source in range(40):
        offset = drawn.gauss(0, 0.1)
        figures += [error_model.Figure("TPOT", "x", (source, "server"), offset + drawn.gauss(0, 0.1)) for _ in range(5)]
    inside, before, width = error_model.one_known(figures)
    assert 0.4 < error_model.alike(figures) < 0.6
    assert 0.75 < inside < 0.85 and 0.75 < before < 0.85 and 0.8 < width < 0.92  # sqrt(3) / 2
    least, most = error_model.known(0.5, 2, 2, 0.6)  # a mean of ln 2 / 0 by 0.6, and 0.8 times as wide
    near(math.log(least), (0.6 - 0.8) * math.log(2))
    near(math.log(most), (0.6 + 0.8) * math.log(2))


def errors_are_of_measured_over_predicted():
    """A step of 256 us: 128 us make the rate twice as high as predicted; a TPOT of 0.512 ms is twice as long."""
    step, = judged("take: step_us, published: 128us")
    served, = judged("served: {tpot_ms: 0.512ms}, set: {class: dense server}")
    short, = judged("served: {ttft_ms: 50ms}, set: {class: saturated dense server}")
    older, = judged("take: step_us, published: 128us", older="yes")
    found = papers.figures_of([step, served, short, older])
    assert [one[:3] for one in found] == [("step", "bandwidth-bound", "a"), ("TPOT", "dense server", "a")]
    near(found[0].y, math.log(2))
    near(found[1].y, math.log(2))


def errors_name_their_figures_sources_and_systems():
    lines = papers.Errors(judged("take: step_us, published: 128us", "take: step_us, published: 200us")).lines()
    assert 'system: {figures: 2, sources: 1, least: ' in lines and 'systems: "slow"}' in lines, lines


def main():
    cases = [case for name, case in globals().items() if callable(case) and getattr(case, "__module__", "") == __name__
             and name not in ("made", "times", "judged", "near", "main")]
    print(f"1..{len(cases)}")
    failed = 0
    for number, case in enumerate(cases, 1):
        try:
            case()
            print(f"ok {number} - {case.__name__}")
        except Exception:
            print(f"not ok {number} - {case.__name__}", *traceback.format_exc().splitlines(), sep="\n# ")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
