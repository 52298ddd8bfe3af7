"""Prints TAP: each test is a claim about traces/capture/capture_transformers.py.

The models are tiny and random, made here. What a recording should hold is computed from them in one
forward pass over the whole text with Transformers' plain ("eager") attention, which tells its
weights and hidden states; queries and keys are computed from these and the weights in numpy.
"""

import contextlib
import io
import os
import sys
import tempfile

os.environ['HF_HUB_OFFLINE'] = '1'

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..')
sys.path[:0] = [os.path.join(ROOT, 'traces'), os.path.join(ROOT, 'traces', 'capture')]
import capture_transformers
import swt
import tap

CONTEXT, STEPS, SINKS, RECENT, KEEP = 96, 20, 2, 8, 19  # 20 %; more than a tile of steps
LAYERS, KV_HEADS, GROUP, DIM = 3, 2, 2, 16
FIRST, END = SINKS, CONTEXT - RECENT
GEOMETRY = dict(vocab_size=256, hidden_size=64, intermediate_size=96, num_hidden_layers=LAYERS,
                num_attention_heads=KV_HEADS * GROUP, num_key_value_heads=KV_HEADS, head_dim=DIM,
                max_position_embeddings=256, initializer_range=0.3, bos_token_id=None,
                eos_token_id=7)
WORK = tempfile.TemporaryDirectory()


# ---- models --------------------------------------------------------------------------------------


def path(name):
    return os.path.join(WORK.name, name)


def make_model(name, config):
    """A model with a token a byte."""
    torch.manual_seed(5)
    model = transformers.AutoModelForCausalLM.from_config(config)
    for parameter in model.parameters():  # norms as well: trained ones are not all 1
        if parameter.dim() == 1:
            torch.nn.init.uniform_(parameter, 0.5, 1.5)
    model.save_pretrained(path(name))
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({byte: i for i, byte in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer).save_pretrained(path(name))


def record(model, output, *more):
    """What the script says, on either stream, and how it ends."""
    sys.argv = ['capture_transformers.py', '--model', path(model), '--text', path('text'),
                '--context', str(CONTEXT), '--steps', str(STEPS), '--sinks', str(SINKS),
                '--recent', str(RECENT), '-o', path(output), *more]
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            capture_transformers.main()
        except SystemExit as end:
            return said.getvalue(), end.code
    return said.getvalue(), 0


class Expected:
    """What plain attention does on the text."""

    def __init__(self, name):
        model = transformers.AutoModelForCausalLM.from_pretrained(path(name),
                                                                  attn_implementation='eager')
        tokenizer = transformers.AutoTokenizer.from_pretrained(path(name))
        tokens = tokenizer(TEXT)['input_ids'][:CONTEXT + STEPS]
        with torch.inference_mode():
            out = model(torch.tensor([tokens]), output_attentions=True, output_hidden_states=True)
        weights = torch.stack(out.attentions)[:, 0].double().numpy()  # layer, query head, to, from
        self.mass = weights.reshape(LAYERS, KV_HEADS, GROUP, *weights.shape[2:]).mean(axis=2)
        self.hidden = [states[0].double().numpy() for states in out.hidden_states]
        self.weights = {key: value.double().numpy() for key, value in model.state_dict().items()}

    def projection(self, layer, read, kind):
        """Queries or keys [token, head, dim] of a layer that reads what enters layer `read`."""
        weights = {name: self.weights[f'model.layers.{layer}.{name}.weight']
                   for name in ('input_layernorm', f'self_attn.{kind}_proj')}
        states = self.hidden[read]
        states = states / np.sqrt((states ** 2).mean(axis=1, keepdims=True) + 1e-6)
        vectors = states * weights['input_layernorm'] @ weights[f'self_attn.{kind}_proj'].T
        vectors = vectors.reshape(len(states), -1, DIM)
        angles = np.outer(np.arange(len(states)), 1e4 ** (-np.arange(DIM // 2) * 2 / DIM))[:, None]
        a, b = vectors[..., :DIM // 2], vectors[..., DIM // 2:]
        return np.concatenate((a * np.cos(angles) - b * np.sin(angles),
                               b * np.cos(angles) + a * np.sin(angles)), axis=2)

    def asked(self, layer, head, token):
        """Attention to the prefix with the query that comes of the layer before. The token's own
        key is not known then."""
        queries = self.projection(layer, max(layer - 1, 0), 'q')[token]
        keys = self.projection(layer, layer, 'k')[:token, head]
        scores = queries[head * GROUP:(head + 1) * GROUP] @ keys.T / DIM ** .5
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        return (weights / weights.sum(axis=1, keepdims=True)).sum(axis=0)[:CONTEXT]


def rows_of(output):
    """Frame, layer, head, step within the frame, token and number of each row."""
    with swt.Reader(path(output)) as trace:
        for frame in trace.frames():
            steps = trace.header.tile_steps(frame.tile)
            for head in range(KV_HEADS):
                for step in range(steps):
                    token = CONTEXT + frame.tile * trace.header.steps_per_tile + step
                    yield frame, frame.layer, head, step, token, head * steps + step


# ---- claims --------------------------------------------------------------------------------------


def check_rows(model, output):
    expected, rows = Expected(model), 0
    for frame, layer, head, _, token, number in rows_of(output):
        row, mass = frame.rows[number], expected.mass[layer, head, token]
        prefix = mass[:CONTEXT]
        kept = [unit for unit in row.units if FIRST <= unit < END]
        lost = [unit for unit in range(FIRST, END) if unit not in kept]
        assert len(kept) == min(KEEP, np.count_nonzero(prefix[FIRST:END])), f'{len(kept)} units'
        assert min(prefix[kept]) > max(prefix[lost]) - 1e-6, f'{kept} are not the best of {prefix}'
        codes = -10 * np.log2(np.maximum(prefix[row.units], 2 ** -25.5))
        assert np.abs(codes - list(row.codes)).max() < 0.51, f'{codes} was coded {list(row.codes)}'
        assert abs(row.born - mass[CONTEXT:].sum()) < 1e-5
        assert abs(row.tail - prefix[lost].sum()) < 1e-5
        rows += 1
    assert rows == LAYERS * KV_HEADS * STEPS


def rows_hold_the_best_of_plain_attention():
    text, status = record('llama', 'llama.swt', '--speculate', 'previous-layer')
    assert status == 0, text
    check_rows('llama', 'llama.swt')


def queries_are_projections_turned_by_position():
    expected = Expected('llama')
    for frame, layer, head, step, token, number in rows_of('llama.swt'):
        query = expected.projection(layer, layer, 'q')[token]
        steps = len(frame.rows) // KV_HEADS
        for i in range(head * GROUP, (head + 1) * GROUP):
            scale, values = frame.scale[i * steps + step], frame.query[i * steps + step]
            off = np.abs(np.array(values) * scale - query[i]).max()
            assert off < 0.51 * scale, f'query head {i} of layer {layer} is off by {off / scale}'


def the_layer_before_asks_for_what_its_input_says():
    """The best by scores computed here, but for ties within the rounding of the keys."""
    expected, found, order = Expected('llama'), [], []
    for frame, layer, head, _, token, number in rows_of('llama.swt'):
        row, score = frame.approximate[number], expected.asked(layer, head, token)
        kept = [(code, unit) for unit, code in zip(row.units, row.codes) if FIRST <= unit < END]
        best = sorted(range(FIRST, END), key=lambda unit: -score[unit])[:KEEP]
        found.append(len({unit for _, unit in kept} & set(best)) / KEEP)
        order.append(np.mean([unit == wanted for (_, unit), wanted in zip(sorted(kept), best)]))
        assert sorted(code for code, _ in kept) == [256 * i // KEEP for i in range(KEEP)]
    assert np.mean(found) > .995 and np.mean(order) > .98, f'{np.mean(found)} {np.mean(order)}'


def speculation_is_not_what_the_layer_itself_asks_for():
    shared = {layer: [] for layer in range(LAYERS)}
    for frame, layer, _, _, _, number in rows_of('llama.swt'):
        row, asked = (set(rows[number].units) - set(range(FIRST)) - set(range(END, CONTEXT))
                      for rows in (frame.rows, frame.approximate))
        shared[layer].append(len(row & asked) / KEEP)
    shared = [np.mean(shared[layer]) for layer in range(LAYERS)]
    assert shared[0] > .97 and max(shared[1:]) < .9, f'recall by layer: {shared}'


def a_sliding_window_leaves_no_mass_outside():
    text, status = record('mistral', 'mistral.swt')
    assert status == 0, text
    check_rows('mistral', 'mistral.swt')
    for frame, _, _, _, token, number in rows_of('mistral.swt'):
        row = frame.rows[number]
        assert all(unit < FIRST or unit > token - 40 for unit in row.units)


def samples_depend_on_the_seed_alone():
    written = []
    for output, seed in ('a.swt', '3'), ('b.swt', '3'), ('c.swt', '4'):
        text, status = record('llama', output, '--sample', '--seed', seed)
        assert status == 0, text
        with open(path(output), 'rb') as file:
            written.append(file.read())
    assert written[0] == written[1] != written[2]


def chosen_layers_are_those_of_the_whole_recording():
    text, status = record('llama', 'chosen.swt', '--layers', '0,2')
    assert status == 0, text
    with swt.Reader(path('llama.swt')) as whole, swt.Reader(path('chosen.swt')) as chosen:
        wanted = [frame.rows for frame in whole.frames() if frame.layer in (0, 2)]
        assert [frame.rows for frame in chosen.frames()] == wanted
        assert chosen.header.source['layers'] == [0, 2]
        assert chosen.header.source['model_layers'] == LAYERS


def a_stopped_recording_goes_on_to_the_same_bytes():
    """What a kill leaves: both tiles without the index, then one tile. Sampled tokens are drawn
    again as well. An unfinished file of another model is refused and stays."""
    for more in [], ['--sample', '--speculate', 'previous-layer']:
        text, status = record('llama', 'whole.swt', *more)
        assert status == 0, text
        with open(path('whole.swt'), 'rb') as file:
            whole = file.read()
        for size in len(whole) - 10, len(whole) * 9 // 10:
            with open(path('stopped.swt.part'), 'wb') as file:
                file.write(whole[:size])
            text, status = record('llama', 'stopped.swt', *more)
            assert status == 0 and "stopped.swt.part' holds " in text, text
            with open(path('stopped.swt'), 'rb') as file:
                assert file.read() == whole
    os.makedirs(path('other'))
    os.rename(path('mistral'), path('other/llama'))
    with open(path('stopped.swt.part'), 'wb') as file:
        file.write(whole[:-10])
    said, end = record('other/llama', 'stopped.swt', *more)
    os.rename(path('other/llama'), path('mistral'))
    assert "stopped.swt.part' is not of this recording" in str(end), said
    assert os.path.exists(path('stopped.swt.part'))


def what_cannot_be_recorded_is_refused():
    for model, more, reason in (
            ('none', [], "none' cannot be loaded: "),
            ('gpt2', ['--speculate', 'previous-layer'], "have 'self_attn' and 'input_layernorm'"),
            ('llama', ['--offset', '4000'], "text' is too short: 0 tokens from byte 4000, needed"),
            ('llama', ['--layers', '2,3'], "llama' has layers 0 to 2, but no layer 3"),
            ('llama', ['--device', 'abacus'], "--device 'abacus': "),
            ('gemma', [], "layer 0 has attention with 'softcap', which cannot be recorded")):
        said, end = record(model, 'refused.swt', *more)
        assert end.startswith('capture_transformers.py: ') and reason in end, said + end
        assert '\n' not in end, end
        assert not os.path.exists(path('refused.swt'))


TESTS = (rows_hold_the_best_of_plain_attention, queries_are_projections_turned_by_position,
         the_layer_before_asks_for_what_its_input_says,
         speculation_is_not_what_the_layer_itself_asks_for, a_sliding_window_leaves_no_mass_outside,
         samples_depend_on_the_seed_alone, chosen_layers_are_those_of_the_whole_recording,
         a_stopped_recording_goes_on_to_the_same_bytes,
         what_cannot_be_recorded_is_refused)
TEXT = ' '.join(f'{i * i} squared is {i ** 4},' for i in range(12, 40))


def main():
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    with open(path('text'), 'w') as file:
        file.write(TEXT)
    make_model('llama', transformers.LlamaConfig(**GEOMETRY))
    make_model('mistral', transformers.MistralConfig(**GEOMETRY, sliding_window=40))
    make_model('gemma', transformers.Gemma2Config(**GEOMETRY, query_pre_attn_scalar=DIM))
    make_model('gpt2', transformers.GPT2Config(vocab_size=256, n_embd=64, n_layer=2, n_head=4,
                                               n_positions=256, bos_token_id=None))
    return tap.run(TESTS)


if __name__ == '__main__':
    sys.exit(main())
