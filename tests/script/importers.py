"""The scripts of hwprofiles/import on made-up rows, whose figures are known, and on invalid input."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import traceback

try:
    import pyarrow
    import pyarrow.parquet
except ImportError:
    pyarrow = None

SCRATCH = tempfile.mkdtemp()
CHECKOUT = os.path.join(SCRATCH, "checkout")
IMPORT = os.path.join(SCRATCH, "hwprofiles", "import")
LLAMA = "profiler/perf/RTX4090/meta-llama/Llama-3.1-8B/bf16/tp1/"
VIDUR = "data/profiling/compute/a40/owner/model/mlp.csv"
PARQUET = ("aic-core/src/aiconfigurator_core/systems/data/h100_sxm/attention/sglang/0.5.14/"
           "generation_attention_perf.parquet")


def write(path, text):
    whole = os.path.join(CHECKOUT, path)
    os.makedirs(os.path.dirname(whole), exist_ok=True)
    with open(whole, "w", encoding="utf-8") as file:
        file.write(text)


def read(path):
    with open(os.path.join(CHECKOUT, path), encoding="utf-8") as file:
        return file.read()


def profile(name):
    with open(os.path.join(SCRATCH, "hwprofiles", "gpus", name + ".yaml"), encoding="utf-8") as file:
        return file.read()


def run(script, *arguments):
    """Exit status and standard error."""
    done = subprocess.run([sys.executable, "-B", os.path.join(IMPORT, script), *arguments], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stderr


def product(m, n, k, fixed, share, peak, flops):
    """Seconds: bytes at a share of the peak bandwidth, or FLOPs at half of theirs."""
    moved = 2 * (n * k + m * k + m * n)
    return fixed + max(moved / (share * peak), 2 * m * n * k / (0.5 * flops))


def prompts(rows, start, decodes, context):
    """Seconds of attention of a prompt beside decodes, 32 heads of 128 values: 8 us, half of the peak, 100 tokens a
    row, 30 ns a token of a block of 64 rows and 3 ns an empty block."""
    blocks = -(-rows // 64)
    tokens = rows * start + rows * rows / 2 + 64 * decodes * context + 100 * (rows + 64 * decodes)
    mean = (blocks * (start + rows / 2) + decodes * context) / (blocks + decodes)
    busy = max(32 * 512 * tokens / (0.5 * 165.2e12), 30e-9 * mean)
    last = 30e-9 * (max(start + rows, context if decodes else 0) - mean)
    return 8e-6 + busy + last + 3e-9 * 32 * ((1 + decodes) * blocks - blocks - decodes)


ROWS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048)


def make_llmservingsim():
    """An RTX 4090 that reads at 80 % after 6 us, and KV at 90 % after 10 us and 20 ns a pair, while it writes the logits
    of the call before, up to four tenths of its L2. Activations move at 2 TB/s after 2.5 us."""
    def lines(layers, head):
        return "%s,time_us\n" % head + "".join(
            "%s,%d,%.9g\n" % (layer, m, 1e6 * product(m, n, k, 6e-6, 0.8, 1008e9, 165.2e12))
            for layer, (n, k) in layers.items() for m in ROWS)
    layers = {"qkv_proj": (6144, 4096), "o_proj": (4096, 4096), "gate_up_proj": (28672, 4096),
              "down_proj": (4096, 14336)}
    moved = "".join("act_fn,%d,%.9g\n" % (m, 2.5 + 2e-6 * 3 * 14336 * m / 2) for m in ROWS)
    write(LLAMA + "dense.csv", lines(layers, "layer,tokens") + moved)
    write(LLAMA + "per_sequence.csv", lines({"lm_head": (128256, 4096)}, "layer,sequences"))
    text = "prefill_chunk,kv_prefill,n_decode,kv_decode,time_us\n"
    for n in (1, 4, 16, 64, 256):
        for kv in (16, 256, 1024, 4096, 16384):
            logits = min(4 * n * 128256, 0.4 * (72 << 20), 4096 * n * kv)
            time = 10e-6 + 20e-9 * 8 * n + (4096 * n * kv + logits) / (0.9 * 1008e9)
            text += "0,0,%d,%d,%.9g\n" % (n, kv, 1e6 * time)
    for rows in (16, 64, 128, 256, 512, 1024, 2048):
        for start in (0, 256, 1024, 4096, 16384):
            for decodes in (0, 16, 128):
                text += "%d,%d,%d,32,%.9g\n" % (rows, start, decodes, 1e6 * prompts(rows, start, decodes, 32))
    write(LLAMA + "attention.csv", text)


def make_vidur():
    """An A40 that reads at 70 % after 4 us."""
    operators = {"attn_pre_proj": (6144, 4096), "attn_post_proj": (4096, 4096), "mlp_up_proj": (28672, 4096),
                 "mlp_down_proj": (4096, 14336)}
    text = ",".join("time_stats.%s.median" % name for name in operators)
    text += ",n_head,n_kv_head,n_embd,n_expanded_embd,use_gated_mlp,num_tokens,num_tensor_parallel_workers\n"
    for m in ROWS:
        times = ["%.9g" % (1e3 * product(m, n, k, 4e-6, 0.7, 696e9, 149.7e12)) for n, k in operators.values()]
        text += ",".join(times) + ",32,8,4096,14336,True,%d,1\n" % m
    write(VIDUR, text)


def make_aiconfigurator(**other):
    columns = {"head_dim": [128], "kv_cache_dtype": ["bfloat16"], "kernel_source": ["x"], "batch_size": [1],
               "num_key_value_heads": [8], "isl": [1], "step": [1], "latency": [0.1], **other}
    whole = os.path.join(CHECKOUT, PARQUET)
    os.makedirs(os.path.dirname(whole), exist_ok=True)
    pyarrow.parquet.write_table(pyarrow.table({name: values for name, values in columns.items() if values}), whole)


def value(text, figure):
    return re.search(r"^  %s:\n    value: (\S+)$" % figure, text, re.M).group(1)


def figures_are_found_again():
    make_llmservingsim()
    assert run("llmservingsim.py", CHECKOUT, "rtx-4090") == (0, "")
    text = profile("rtx-4090")
    found = [value(text, figure) for figure in (
        "product_fixed", "product_share", "attention_fixed", "attention_share", "attention_pair")]
    # The shortest attention, which is the least that the fixed time may be, takes 10.3 us.
    assert found == ["6us", "80%", "10.3us", "90%", "19.9ns"], found
    found = [value(text, "prompt_" + figure) for figure in ("fixed", "share", "extra", "token", "block")]
    assert found == ["8us", "50%", "100", "30ns", "3ns"], found
    assert re.search(r"\[2048, 50%\]\]$", text, re.M)
    move = re.search(r"^  move:\n    points: (.*)$", text, re.M).group(1)
    assert move == "[[1B, 2.54us], [64KiB, 2.54us], [128MiB, 69.6us]]", move
    make_vidur()
    assert run("vidur.py", CHECKOUT) == (0, "")
    text = profile("a40")
    found = [value(text, figure) for figure in ("product_fixed", "product_share")]
    assert found == ["4us", "70%"], found


def the_same_rows_write_the_same_bytes():
    before = profile("rtx-4090"), profile("a40")
    assert run("llmservingsim.py", CHECKOUT, "rtx-4090") == (0, "") and run("vidur.py", CHECKOUT) == (0, "")
    assert before == (profile("rtx-4090"), profile("a40"))


def impossible_rows_are_dropped_and_counted():
    good = read(LLAMA + "per_sequence.csv")
    write(LLAMA + "per_sequence.csv", good + "lm_head,1,0\nlm_head,1,20\n")  # 53 TB/s
    assert run("llmservingsim.py", CHECKOUT, "rtx-4090") == (0, "")
    write(LLAMA + "per_sequence.csv", good)
    text = re.sub(r"\s+", " ", profile("rtx-4090"))
    assert "per_sequence.csv: 25 rows, up to 16 rows; median |error| 0.0 %; dropped: 2" in text, text


def fails(status, message, script, *arguments):
    before = profile("rtx-4090"), profile("a40"), profile("h100-sxm")
    found = run(script, *arguments)
    assert found[0] == status and re.fullmatch(re.escape(script) + ": " + message + "\n", found[1]), found
    assert before == (profile("rtx-4090"), profile("a40"), profile("h100-sxm"))


def an_invalid_command_line_is_2():
    for script in ("llmservingsim.py", "vidur.py", *(["aiconfigurator.py"] if pyarrow else [])):
        fails(2, "no checkout is named\n  expected: .*", script)
        fails(2, "unknown profile 'rtx-4091'\n  expected: .*", script, CHECKOUT, "rtx-4091")
    if pyarrow:
        fails(2, "three checkouts are expected: .*", "carried.py", CHECKOUT)


def a_missing_folder_is_one_message():
    fails(1, "/nowhere/profiler/.*: no such file", "llmservingsim.py", "/nowhere")
    fails(1, "/nowhere/data/.*: no such folder", "vidur.py", "/nowhere")
    if pyarrow:
        fails(1, "/nowhere/aic-core/.*: no such file", "aiconfigurator.py", "/nowhere")
        fails(1, "/nowhere/.*: no such file", "carried.py", *["/nowhere"] * 3)


def changed(path, old, new, message, script, *arguments):
    good = read(path)
    assert old in good
    write(path, good.replace(old, new, 1))
    fails(1, message, script, CHECKOUT, *arguments)
    write(path, good)


def invalid_rows_are_one_message():
    for path, script, time in ((LLAMA + "attention.csv", "llmservingsim.py", "time_us"),
                               (VIDUR, "vidur.py", "time_stats.attn_pre_proj.median")):
        name = [] if script == "vidur.py" else ["rtx-4090"]
        first = read(path).splitlines()[1]
        number = first.split(",")[-1 if name else 0]
        bad = first[:-len(number)] if name else ""
        rest = "" if name else first[len(number):]
        changed(path, time, "nothing", ".*: no column '%s'" % time, script, *name)
        changed(path, first, bad + "-3" + rest, ".*: column '%s' holds -.*, which is no time" % time, script, *name)
        changed(path, first, bad + "nan" + rest, ".*: column '%s' holds nan, which is no time" % time, script, *name)
        changed(path, first, bad + "soon" + rest, ".*: column '%s': could not convert .*" % time, script, *name)
        changed(path, first, first + ",1", r".*\.csv:2: \d+ columns where the first line has \d+", script, *name)
        good = read(path)
        write(path, good.splitlines()[0] + "\n")
        fails(1, ".*: no rows", script, CHECKOUT, *name)
        write(path, "")
        fails(1, ".*: no rows", script, CHECKOUT, *name)
        with open(os.path.join(CHECKOUT, path), "wb") as file:
            file.write(b"\x1f\x8b\x08\x00")
        fails(1, r".*: not a table\n  expected: lines of text in UTF-8, not compressed", script, CHECKOUT, *name)
        write(path, good)


def rows_fill_their_tile():
    """Experts of four bits of 1 to 128 rows, and the tiles that SGLang takes for them."""
    code = ("import numpy as np, marlin, fitting\n"
            "table = fitting.Table('', {'rows': np.array([1, 7, 8, 14, 15, 40, 44, 64, 128.]), 'flops': np.ones(9)})\n"
            "marlin.fill_tiles(table)\n"
            "print(*table['rows'], *table['flops'][:3])")
    done = subprocess.run([sys.executable, "-B", "-c", code], cwd=IMPORT, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    assert done.stdout.split() == ["8.0", "8.0", "16.0", "16.0", "32.0", "48.0", "64.0", "64.0", "128.0", "8.0",
                                   "%r" % (8 / 7), "2.0"], (done.stdout, done.stderr)


def uneven_batches_say_their_share():
    """Ten batches of 108 us, 4 % of the way from 100 to 300."""
    head = "regime,t_mean_us,t_max_us,t_skew_us\n"
    for gpu in "RTX4090", "RTXPRO6000":
        write("profiler/perf/%s/owner/model/bf16/tp1/skew.csv" % gpu,
              head + "pure,100,300,108\n" * 10 + "mixed,100,300,300\n")
    done = subprocess.run([sys.executable, "-B", os.path.join(IMPORT, "uneven.py"), CHECKOUT], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert "| RTX 4090 | 10 | 0 % | 7.4 | 7.4 | 7.4 |\n| RTX 4090 | 10 | 4 % | 0.0 | 0.0 | 0.0 |" in done.stdout
    fails(1, "/nowhere/profiler/perf/RTX4090: no skew.csv", "uneven.py", "/nowhere")


def times_without_a_bandwidth_are_one_message():
    good = read(VIDUR)
    head, *rows = good.splitlines()
    write(VIDUR, "\n".join([head] + [",".join(["0.1"] * 4 + row.split(",")[4:]) for row in rows]) + "\n")
    fails(1, ".*: the times do not grow with the bytes that are read", "vidur.py", CHECKOUT)
    write(VIDUR, good)


def invalid_parquet_is_one_message():
    write(PARQUET, "text\n")
    fails(1, ".*: not a Parquet file", "aiconfigurator.py", CHECKOUT, "h100-sxm")
    make_aiconfigurator(latency=[])
    fails(1, ".*: no column 'latency'", "aiconfigurator.py", CHECKOUT, "h100-sxm")
    make_aiconfigurator(head_dim=[])
    fails(1, ".*: no column 'head_dim'", "aiconfigurator.py", CHECKOUT, "h100-sxm")
    make_aiconfigurator(latency=[-0.1])
    fails(1, ".*: column 'latency' holds -0.1, which is no time", "aiconfigurator.py", CHECKOUT, "h100-sxm")
    make_aiconfigurator(head_dim=[64])
    fails(1, ".*: no row that can be used", "aiconfigurator.py", CHECKOUT, "h100-sxm")


def main():
    cases = [figures_are_found_again, the_same_rows_write_the_same_bytes, impossible_rows_are_dropped_and_counted,
             an_invalid_command_line_is_2, a_missing_folder_is_one_message, invalid_rows_are_one_message,
             uneven_batches_say_their_share, times_without_a_bandwidth_are_one_message]
    cases += [rows_fill_their_tile, invalid_parquet_is_one_message] if pyarrow else []
    print("1..%d" % len(cases))
    shutil.copytree("hwprofiles", os.path.join(SCRATCH, "hwprofiles"))
    failed = 0
    for number, case in enumerate(cases, 1):
        try:
            case()
            print("ok %d - %s" % (number, case.__name__))
        except Exception:
            print("not ok %d - %s\n# %s" % (number, case.__name__, traceback.format_exc().replace("\n", "\n# ")))
            failed = 1
    shutil.rmtree(SCRATCH)
    return failed


if __name__ == "__main__":
    sys.exit(main())
