"""Prints TAP: each test is a claim about units.py, rows.py, turn.py, recorder.py, resume.py,
progress.py or cost.py in traces/capture."""

import argparse
import contextlib
import io
import os
import sys
import tempfile
import types

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..')
sys.path[:0] = [os.path.join(ROOT, 'traces'), os.path.join(ROOT, 'traces', 'capture')]
import cost
import progress
import recorder
import resume
import rows
import swt
import tap
import turn
import units


def make_header(**changes):
    header = dict(layers=1, kv_heads=1, query_heads=1, head_dim=2, context=10, unit_kind=0,
                  unit_tokens=1, units=10, sinks=1, recent=2, keep=3, sequences=1, steps=1,
                  steps_per_tile=1, flags=3, source={})
    return swt.Header(**{**header, **changes})


def made(kind, size, keys, sinks=0, recent=0):
    """Units of one layer with one head, whose keys came in two batches."""
    kind = units.KINDS[kind](size, len(keys), sinks, recent)
    keys = np.array(keys, np.float32)[:, None]
    kind.see_keys(0, keys[:2])
    kind.see_keys(0, keys[2:])
    kind.build()
    return kind


def same(found, wanted):
    assert np.allclose(found, wanted), f'{found} is not {wanted}'


# ---- claims --------------------------------------------------------------------------------------


def pages_are_ranked_by_the_best_key_that_could_be_in_them():
    """(1, -1) scores at most 3·1 + -1·-2 = 5 in page 0, 1·1 + 4·-1 = -3 in page 1, whose last token
    is missing; softmax of 5/√2 and -3/√2."""
    pages = made('page', 2, [[3, 0], [-1, -2], [1, 4]])
    assert pages.count == 2
    weights = np.exp([5 / 2 ** .5, -3 / 2 ** .5])
    same(pages.score(0, 0, np.array([[1., -1.]])), weights / weights.sum())
    units_mass, rest = pages.fold(0, 0, np.array([.1, .2, .4]))
    same(units_mass, [.3, .4])
    assert rest == 0


def pages_of_one_token_are_ranked_by_attention():
    rng = np.random.default_rng(1)
    keys, query = rng.standard_normal((20, 8)), rng.standard_normal((3, 8))
    scores = query @ keys.astype(np.float16).astype(float).T / 8 ** .5
    weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    same(made('page', 1, keys).score(0, 0, query), weights.sum(axis=0))


def keys_share_a_query_with_tokens_born_later():
    """Two query heads; the first gives most to the token born. (4, 0) scores 8 on it, 0 on the keys
    of the prefix; (0, 4) scores 0, 4, 0 on all three, times 1/√4."""
    keys = made('key', 1, [[0, 0, 0, 0], [0, 2, 0, 0]])
    keys.see_keys(0, np.array([[[4, 0, 0, 0]]], np.float32))
    first = np.exp([0., 0., 8.])
    second = np.exp([0., 4., 0.])
    wanted = first / first.sum() + second / second.sum()
    same(keys.score(0, 0, np.array([[4., 0, 0, 0], [0, 4, 0, 0]])), wanted[:2])


def clusters_gather_keys_of_one_direction():
    """Two bundles, and a sink and a recent token that are in none."""
    keys = [[9, 9], [1, .1], [2, 0], [3, 0], [0, 1], [.1, 2], [9, -9]]
    clusters = made('cluster', 2, keys, sinks=1, recent=1)
    assert clusters.count == 2
    _, labels = clusters.keys[0][0]
    same(labels, [0, 0, 0, 1, 1])
    mass, rest = clusters.fold(0, 0, np.array([.1, .2, .04, .3, .05, .11, .2]))
    same(mass, [.54, .16])
    same(rest, .3)
    query = np.array([[1., 0.], [1., 0.]])  # two query heads; the means are (2, .033), (.05, 1.5)
    weight = 1 / (1 + np.exp((2 - .05) / 2 ** .5))
    score = clusters.score(0, 0, query)
    assert np.allclose(score, [2 - 2 * weight, 2 * weight], rtol=1e-3), score  # keys are kept as f16


def segments_have_clusters_of_their_own():
    clusters = units.Clusters(16, 20000, 4, 64)
    assert list(clusters.segments()) == [(4, 8196, 512), (8196, 16388, 512), (16388, 19936, 222)]
    assert clusters.count == 1246


def an_empty_cluster_is_never_asked_for():
    clusters = made('cluster', 1, [[1, 0], [1, 0], [0, 1]])
    score = clusters.score(0, 0, np.array([[1., 0.]]))
    _, labels = clusters.keys[0][0]
    assert np.isneginf(score).tolist() == [i not in labels for i in range(3)]
    assert np.isneginf(score).sum() == 1


def codes_count_equal_bits():
    """A key has all bits in common with a query of its direction, none with the opposite one."""
    codes = made('code', 64, [[1, 2], [-1, -2], [5, 10]])
    same(codes.score(0, 0, np.array([[.5, 1.]])), [64, -64, 64])


def a_row_keeps_what_has_mass():
    """Units 0, 8, 9 are the window; of the others 5, 1 and 2 have the most, 4 as much as 2."""
    mass = np.array([.1, .2, .05, 0, .05, .3, .01, .01, .1, .1])
    row = rows.pack(mass, .08, make_header())
    assert row.count == 6 and row.born == .08
    same(row.tail, .07)
    assert swt.decode_varints(row.gaps, 6, '') == [0, 0, 0, 2, 2, 0]  # 0 1 2 5 8 9
    assert list(row.codes) == [33, 23, 43, 17, 33, 33]
    row = rows.pack(np.where(np.arange(10) == 5, .3, 0.), .7, make_header())
    assert swt.decode_varints(row.gaps, 4, '') == [0, 4, 2, 0]  # 0 5 8 9


def an_asked_row_keeps_the_order():
    """Asked for: 6, then 1, then 3; the window is not, whatever its score. Thirds of 256."""
    score = np.array([9, 5, 0, 4, 1, 2, 7, 3, 9, 9.])
    row = rows.pack_asked(score, make_header())
    assert swt.decode_varints(row.gaps, 6, '') == [0, 0, 1, 2, 1, 0]  # 0 1 3 6 8 9
    assert list(row.codes) == [0, 85, 170, 0, 0, 0]
    score[:] = units.NEVER
    assert rows.pack_asked(score, make_header()).count == 3


def turned(vectors, angles, pairs):
    """By hand: each pair of channels by its angle."""
    out = vectors.copy()
    for (i, j), angle in zip(pairs, angles):
        out[:, i] = vectors[:, i] * np.cos(angle) - vectors[:, j] * np.sin(angle)
        out[:, j] = vectors[:, j] * np.cos(angle) + vectors[:, i] * np.sin(angle)
    return out


def a_turn_is_found_whatever_the_pairs():
    rng = np.random.default_rng(1)
    angles = [2.5, -.3, 0.]
    for pairs in [(0, 1), (2, 3), (4, 5)], [(0, 3), (1, 4), (2, 5)]:
        for heads in 1, 3:
            plain, other = rng.standard_normal((2, heads, 6))
            found = turn.find_turn(plain, 1.2 * turned(plain, angles, pairs))
            assert np.abs(found(other) - 1.2 * turned(other, angles, pairs)).max() < 1e-5


def what_is_no_turn_is_not_taken_for_one():
    rng = np.random.default_rng(1)
    plain = rng.standard_normal((3, 6))
    for query in (rng.standard_normal((3, 6)), plain * [2, 2, 1, 1, 1, 1],
                  turned(plain, [1., 2., 3.], [(0, 2), (1, 3), (4, 5)])):
        assert turn.find_turn(plain, query) is None
    assert turn.find_turn(plain[:, :5], plain[:, :5]) is None


def only_chosen_layers_are_recorded():
    """Layer L of four gives all its mass to token L + 2; layers 1 and 3 are wanted."""
    geometry = recorder.common_geometry(dict.fromkeys(range(4), (1, 1, 2)), 4, [1, 3], 'm')
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'chosen.swt')
        with swt.Writer(path, make_header(layers=2, flags=swt.HAS_QUERIES)) as writer:
            tape = recorder.Recorder(writer, units.Tokens(1, 10, 1, 2), geometry.layers)
            for layer in range(4):
                weights = np.eye(1, 11, layer + 2)
                tape.see(layer, np.ones((1, 2), np.float32), weights, 1, None)
                tape.see_keys(layer, np.ones((1, 1, 2)))
            tape.finish_step(0)
        with swt.Reader(path) as trace:
            found = [(frame.layer, frame.rows[0].units) for frame in trace.frames()]
    assert found == [(0, [0, 3, 8, 9]), (1, [0, 5, 8, 9])], found
    assert list(tape.units.keys) == [1, 3]


def layers_that_never_see_the_first_token_are_told():
    """Layer 0 sees it at the second step; layer 1 sees only a window."""
    writer = argparse.Namespace(header=make_header(layers=2, steps=2, flags=0))
    tape = recorder.Recorder(writer, units.Tokens(1, 10, 1, 2), [0, 1])
    for layer, token in (0, 5), (1, 5), (0, 0), (1, 6):
        tape.see(layer, np.ones((1, 2), np.float32), np.eye(1, 11, token), 1, None)
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        recorder.say_sliding(argparse.Namespace(program='capture.py'), tape)
    assert said.getvalue().endswith('so leave them out: --layers 0\n'), said.getvalue()


def chosen_layers_must_be_there_and_alike():
    """Layer 1 shows nothing, layer 3 has other heads."""
    seen = {0: (2, 4, 8), 2: (2, 4, 8), 3: (1, 4, 8)}
    for chosen, reason in ((None, 'layer 1 of'), ([0, 1], 'layer 1 of'), ([2, 3], 'layer 3 has 1'),
                           ([0, 4], 'no layer 4')):
        try:
            recorder.common_geometry(seen, 4, chosen, 'm')
        except recorder.Refusal as why:
            assert reason in str(why), why
        else:
            raise AssertionError(f'{chosen} was not refused')
    assert recorder.common_geometry(seen, 4, [0, 2], 'm').layers == [0, 2]
    assert recorder.common_geometry(seen, 4, [3], 'm').kv_heads == 1


# ---- a recording that is stopped and goes on -----------------------------------------------------


RESUMED = dict(layers=2, steps=12, steps_per_tile=4, flags=swt.HAS_QUERIES)


def record_made_up(path, seed=1, stop=None, error=KeyboardInterrupt):
    """A recording of random attention, which is a function of the step. It is stopped before step
    `stop`. Returns the steps that were recorded."""
    seen = []
    with contextlib.redirect_stderr(io.StringIO()), \
            resume.Writer(path, make_header(**RESUMED)) as writer:
        tape = recorder.Recorder(writer, units.Tokens(1, 10, 1, 2), [0, 1], writer.first_step)
        for step in range(RESUMED['steps']):
            if step == stop:
                raise error
            if step >= tape.first_step:
                seen.append(step)
                for layer in 0, 1:
                    rng = np.random.default_rng([seed, step, layer])
                    weights = rng.random((1, 11 + step))
                    query = rng.random((1, 2), np.float32)
                    tape.see(layer, query, weights / weights.sum(), 1, None)
            tape.finish_step(step)
    return seen


def read_bytes(path):
    with open(path, 'rb') as file:
        return file.read()


def a_stopped_recording_goes_on_to_the_same_bytes():
    """Whatever was written when it was killed: a part of the header, of a frame, of the index; and
    whatever stands behind."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'x.swt')
        assert record_made_up(path) == list(range(12))
        whole, firsts = read_bytes(path), set()
        for size in *range(0, len(whole), 5), len(whole) + 9:
            os.unlink(path)
            with open(path + '.part', 'wb') as file:
                file.write((whole + 9 * b'?')[:size])
            firsts.add(record_made_up(path)[0])
            assert read_bytes(path) == whole, f'after {size} bytes of {len(whole)}'
            assert os.listdir(folder) == ['x.swt']
        assert firsts == {0, 4, 8}, firsts


def an_interrupt_or_a_full_disk_keeps_whole_tiles():
    for stop, error, is_kept in ((9, KeyboardInterrupt, True), (9, OSError(28, 'full'), True),
                                 (3, KeyboardInterrupt, False), (9, recorder.Refusal('no'), False)):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'x.swt')
            try:
                record_made_up(path, stop=stop, error=error)
            except (KeyboardInterrupt, OSError, recorder.Refusal):
                pass
            assert os.path.exists(path + '.part') == is_kept, (stop, error)
            if is_kept:
                with contextlib.suppress(KeyboardInterrupt):
                    record_made_up(path, stop=2)  # before a tile is written once more
            assert record_made_up(path)[0] == (4 if is_kept else 0)


def another_recording_is_not_continued():
    """Neither that of another text under the same name, nor one with another header."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'x.swt')
        with contextlib.suppress(KeyboardInterrupt):
            record_made_up(path, stop=9)
        before = read_bytes(path + '.part')
        try:
            record_made_up(path, seed=2)
        except recorder.Refusal as why:
            assert 'x.swt.part' in str(why)
        else:
            raise AssertionError('not refused')
        assert read_bytes(path + '.part') == before
        with open(path + '.part', 'wb') as file:
            file.write(make_header(**RESUMED | {'keep': 2}).encode() + before)
        assert record_made_up(path)[0] == 0


def without_a_terminal_progress_is_lines():
    said, clock = io.StringIO(), iter([0, 10, 29, 31, 50, 62, 90])
    real, progress.time = progress.time, types.SimpleNamespace(monotonic=lambda: next(clock))
    try:
        with contextlib.redirect_stderr(said):
            progress.show_progress('record', range(1, 7), 6)
    finally:
        progress.time = real
    lines = 'record: 3 of 6, 31 s left\nrecord: 5 of 6, 12 s left\n'
    assert said.getvalue() == lines, said.getvalue()
    assert [progress.duration(s) for s in (99, 100, 7200)] == ['99 s', '2 min', '2.0 h']


def memory_is_that_of_the_shapes():
    """Qwen2.5-7B in 4.7 GB at 32768 tokens: 28 layers, 4 KV heads of 128, 28 query heads. KV takes
    2 · 28 · 4 · 128 · 2 bytes a token; the scores of a batch take 256 MiB at most."""
    model = types.SimpleNamespace(layers=28, kv_heads=4, query_heads=28, key_size=128,
                                  value_size=128, vocab_size=152064, weight_bytes=4.7e9,
                                  batch_of=lambda tokens: 2 ** 28 // (4 * 28 * tokens))
    parts = cost.memory_parts(model, 32768, 32000, False)
    assert parts['KV'] == 57344 * 32768
    assert .99 * 2 ** 28 < parts['a batch'] <= 2 ** 28
    assert sum(parts.values()) < 8 * 2 ** 30
    assert cost.memory_parts(model, 32768, 32000, True)['keys for the retrieval'] == 28672 * 32000


TESTS = (pages_are_ranked_by_the_best_key_that_could_be_in_them,
         pages_of_one_token_are_ranked_by_attention, keys_share_a_query_with_tokens_born_later,
         clusters_gather_keys_of_one_direction, segments_have_clusters_of_their_own,
         an_empty_cluster_is_never_asked_for, codes_count_equal_bits, a_row_keeps_what_has_mass,
         an_asked_row_keeps_the_order, a_turn_is_found_whatever_the_pairs,
         what_is_no_turn_is_not_taken_for_one, only_chosen_layers_are_recorded,
         layers_that_never_see_the_first_token_are_told, chosen_layers_must_be_there_and_alike,
         a_stopped_recording_goes_on_to_the_same_bytes,
         an_interrupt_or_a_full_disk_keeps_whole_tiles, another_recording_is_not_continued,
         without_a_terminal_progress_is_lines, memory_is_that_of_the_shapes)


if __name__ == '__main__':
    sys.exit(tap.run(TESTS))
