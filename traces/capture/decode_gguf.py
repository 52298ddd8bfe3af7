"""Records a GGUF model that llama.cpp decodes on the CPU."""

import numpy as np

import cost
import resume
from gguf_model import Model
from options import Refusal
from progress import show_progress
from recorder import (Recorder, check_length, common_geometry, make_header, make_units, read_text,
                      say_sliding, say_written)


def check_model(model, tokens):
    architecture = model.metadata('general.architecture')
    if model.metadata(f'{architecture}.attention.kv_lora_rank'):
        raise Refusal(f"'{model.path}' has multi-head latent attention: no KV heads to record")
    if model.has_encoder:
        raise Refusal(f"'{model.path}' has an encoder; only decoders can be recorded")
    if tokens > model.trained_context:
        raise Refusal(f'--context and --steps need {tokens} tokens, but the model was trained on '
                      f'{model.trained_context}')


def measure_geometry(model, token, chosen):
    """The shape of the attention, found by decoding `token` once."""
    seen = {}

    def see(attention):
        if len(attention.weights) == len(attention.query):
            seen[attention.layer] = attention.kv_heads, *attention.query.shape

    model.probe.see = see
    model.decode([token])
    model.probe.see = None
    model.forget()
    return common_geometry(seen, model.layers, chosen, model.path)


def prefill(model, tokens):
    """Decodes the prefix, unrecorded. Yields the number of tokens done, now and then."""
    for i in range(0, len(tokens), model.batch):
        model.decode(tokens[i:i + model.batch])
        yield min(i + model.batch, len(tokens))


def make_speculation(options, model):
    if not options.speculate:
        return None
    from previous_layer import PreviousLayer  # needs a package that nothing else does

    return PreviousLayer(options.model, model.layers)


def record(model, next_token, recorder, speculation):
    """Decodes and records every step; `next_token(step)` chooses the token. Yields the number of
    steps done."""
    def see(attention):
        asking = speculation.query(attention) if speculation else attention.query
        recorder.see(attention.layer, attention.query, attention.weights, attention.kv_heads,
                     asking)

    for step in range(recorder.header.steps):
        model.probe.see = see if step >= recorder.first_step else None
        model.decode([next_token(step)])
        recorder.finish_step(step)
        yield step + 1


def sampler(model, seed):
    """Draws from the model's distribution after the last decoded token."""
    random = np.random.default_rng(seed)

    def next_token(_):
        logits = model.logits().astype(np.float64)
        sums = np.cumsum(np.exp(logits - logits.max()))
        return int(np.searchsorted(sums, random.random() * sums[-1], side='right'))

    return next_token


def capture(options):
    """Records as the command line says, or raises Refusal or OSError."""
    model = Model(options.model)
    try:
        needed = options.context + options.steps
        check_model(model, needed)
        tokens = model.tokenize(read_text(options.text, options.offset), options.context)
        check_length(tokens, options)
        units, prefix = make_units(options), tokens[:options.context]
        cost.say_memory(model, needed, options.context, units.asks)
        model.open_context(needed, options.threads)
        geometry = measure_geometry(model, tokens[0], options.layers)
        speculation = make_speculation(options, model)
        header = make_header(options, geometry, units)
        cost.say_time(model, prefix, header, units.asks)
        with resume.Writer(options.output, header) as writer:
            recorder = Recorder(writer, units, geometry.layers, writer.first_step)
            model.probe.see_keys = recorder.see_keys if units.asks else None
            show_progress('prefix', prefill(model, prefix), len(prefix))
            model.probe.see_keys = recorder.see_keys if units.keeps_born else None
            units.build()
            next_token = (sampler(model, options.seed) if options.method == 'sampled'
                          else lambda step: tokens[options.context + step])
            show_progress('record', record(model, next_token, recorder, speculation),
                          options.steps)
    finally:
        model.close()
    say_sliding(options, recorder)
    say_written(options, geometry)
