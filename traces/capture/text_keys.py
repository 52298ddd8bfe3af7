"""Queries and keys of a text in a model, and the hash codes that are learned from them."""

import numpy as np

import hash_codes
from options import Refusal
from recorder import read_text

QUERIES = 10  # of a text that codes are learned from


def tokens_of(model, place, needed):
    path, offset = place
    tokens = model.tokenize(read_text(path, offset), needed)
    if len(tokens) < needed:
        raise Refusal(f"'{path}' is too short: {len(tokens)} tokens from byte {offset}, needed "
                      f'{needed}')
    return tokens[:needed]


def decode_prefix(model, tokens, layers):
    """The keys of each layer, [KV heads, tokens, head dim]."""
    keys = {layer: [] for layer in layers}

    def see_keys(layer, new):
        if layer in keys:
            keys[layer].append(new)

    model.forget()
    model.probe.see_keys = see_keys
    for i in range(0, len(tokens), model.batch):
        model.decode(tokens[i:i + model.batch])
    model.probe.see_keys = None
    return {layer: np.concatenate(new).transpose(1, 0, 2) for layer, new in keys.items()}


def samples_of(model, tokens, layers, seed):
    """{layer: [Sample]}: queries at random places in the second half of the text."""
    keys, queries = {layer: [] for layer in layers}, []

    def see_keys(layer, new):
        if layer in keys:
            keys[layer].append(new)

    def see(attention):
        if attention.layer in keys:
            queries.append((attention.layer, sum(map(len, keys[attention.layer])) + 1,
                            attention.query))

    model.forget()
    model.probe.see_keys, done = see_keys, 0
    random = np.random.default_rng(seed)
    places = random.permutation(np.arange(len(tokens) // 2, len(tokens)))[:QUERIES]
    for place in np.sort(places):
        for i in range(done, place, model.batch):
            model.decode(tokens[i:min(i + model.batch, place)])
        model.probe.see = see
        model.decode([tokens[place]])
        model.probe.see, done = None, place + 1
    model.probe.see_keys = None
    keys = {layer: np.concatenate(new).transpose(1, 0, 2) for layer, new in keys.items()}
    return {layer: [hash_codes.Sample(query, keys[layer][:, :count])
                    for own, count, query in queries if own == layer] for layer in layers}


def learn_codes(options, model, layers, sizes):
    """{bits: {layer: planes}} for each size in bits, learned from all texts of --learn."""
    samples = {}
    for i, place in enumerate(options.learn):
        tokens = tokens_of(model, place, options.context)
        for layer, own in samples_of(model, tokens, layers, (options.seed, i)).items():
            samples.setdefault(layer, []).extend(own)
    return {bits: {layer: hash_codes.learn(own, bits, options.seed)
                   for layer, own in samples.items()} for bits in sizes}
