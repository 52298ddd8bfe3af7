#!/usr/bin/env python3
"""Measures how retrievals err, for sim/decode/plan/retrieval_errors.def.

Decodes a text as capture.py does, ranks the tokens of each recorded head at each step as several
retrievals would, and compares what they ask for with the true attention masses. Prints, for each
retrieval, the two parameters of sim/trace/retrieval.h, and how well they hold:

    noise    at which the model loses as much mass as the retrieval did, asking for 10 %
    lasting  at which as large a share of what it asks for was not asked for in the 12 steps before

The columns after these say, at 5, 10 and 20 %: the share of the best tokens that the retrieval asked
for (recall), the mass that it lost of theirs, and both as the model has them. Only the loss at 10 %
is fitted. Pages that hold tokens of the window are left out.

Retrievals, besides those of units.py (pages, clusters):

    channels  Loki and InfiniGen: the scores of all tokens in the largest principal components of the
              head's keys
    products  PQCache: keys in two halves, each replaced by the nearest of 64 centroids
    ahead     CLO and InfiniGen: the keys themselves, with the query that comes of the previous
              layer's input (previous_layer.py); early: of layers 1 and 2
    bits      hash codes of random hyperplanes (hash_codes.py); long: times the lengths of keys
    codes     HATA: the same with hyperplanes learned from the texts of --learn, which should not be
              the one that is measured

--only REGEX measures those retrievals whose names match.
"""

import argparse
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))

import numpy as np

import hash_codes
from gguf_model import Model
from options import Refusal, integer, layer_list
from previous_layer import PreviousLayer
from text_keys import decode_prefix, learn_codes, tokens_of
from units import Clusters, Pages, as_weights, sums_by_label

SINKS, RECENT = 4, 64
SHARES = .05, .1, .2
FITTED = 1          # of SHARES
BEFORE = 12         # steps in which nothing new was asked for
KEPT = .3           # share of the tokens whose mass a row keeps
LAST_EARLY = 2      # layer
BITS = 64, 128, 256


class Channels:
    def __init__(self, keys, share):
        count = max(1, round(share * keys.shape[1]))
        self.basis = np.linalg.svd(keys, full_matrices=False)[2][:count].T
        self.keys = keys @ self.basis

    def score(self, query):
        return as_weights(query @ self.basis @ self.keys.T, query)


class Products:
    def __init__(self, keys, count):
        self.half = keys.shape[1] // 2
        self.books = [plain_kmeans(part, count) for part in np.split(keys, 2, axis=1)]

    def score(self, query):
        return as_weights(sum((part @ centres.T)[:, labels] for part, (centres, labels)
                              in zip(np.split(query, 2, axis=1), self.books)), query)


class Units:
    """A retrieval of units.py; each token has the score of its unit."""

    def __init__(self, keys, kind, size):
        self.units = kind(size, len(keys), SINKS, RECENT)
        self.units.keys[0] = [self.units.index(keys)]

    def score(self, query):
        scores = self.units.score(0, 0, query)
        if not isinstance(self.units, Clusters):
            return scores
        tokens = np.full(self.units.context, np.inf)
        tokens[SINKS:-RECENT] = scores[self.units.keys[0][0][1]]
        return tokens


def plain_kmeans(points, count, rounds=15):
    centres = points[((np.arange(count) + .5) * len(points) / count).astype(int)]
    for _ in range(rounds):
        labels = ((centres ** 2).sum(axis=1) - 2 * points @ centres.T).argmin(axis=1)
        sizes = np.bincount(labels, minlength=count)[:, None]
        centres = np.where(sizes > 0, sums_by_label(points, labels, count) / np.maximum(sizes, 1),
                           centres)
    return centres, labels


RETRIEVALS = {
    'pages 16': lambda keys: Units(keys, Pages, 16),
    'pages 32': lambda keys: Units(keys, Pages, 32),
    'pages 64': lambda keys: Units(keys, Pages, 64),
    'pages 128': lambda keys: Units(keys, Pages, 128),
    'channels .125': lambda keys: Channels(keys, .125),
    'channels .2': lambda keys: Channels(keys, .2),
    'channels .25': lambda keys: Channels(keys, .25),
    'channels .5': lambda keys: Channels(keys, .5),
    'clusters 16': lambda keys: Units(keys, Clusters, 16),
    'clusters 64': lambda keys: Units(keys, Clusters, 64),
    'products 64': lambda keys: Products(keys, 64),
}


def retrievals(keys, layer, head, learned):
    """{name: a function that makes the index} of a KV head; `learned` {bits: {layer: planes}}."""
    found = {name: lambda build=build: build(keys) for name, build in RETRIEVALS.items()}
    for bits in BITS:
        random = hash_codes.random_planes((layer, head, bits), keys.shape[1], bits)
        for kind, planes in ('bits', random), ('codes', learned.get(bits, {}).get(layer)):
            if planes is not None:
                own = planes if kind == 'bits' else planes[head]
                found[f'{kind} {bits}'] = lambda own=own: hash_codes.Codes(keys, own)
                found[f'{kind} {bits} long'] = lambda own=own: hash_codes.LongCodes(keys, own)
    return found


# ---- what a model wants, and what is asked for ---------------------------------------------------


def sizes_asked(options):
    return [bits for bits in BITS
            if any(re.search(options.only, f'codes {bits}{long}') for long in ('', ' long'))]


def observe(options, model, tokens, learned):
    """{(layer, head): {name: [steps, tokens or pages]}}: masses as 'mass', and scores."""
    keys = decode_prefix(model, tokens[:options.context], options.layers)
    found = {(layer, head): {name: build() for name, build
                             in retrievals(keys[layer][head], layer, head, learned).items()
                             if re.search(options.only, name)}
             for layer in keys for head in range(len(keys[layer]))}
    seen = {place: {} for place in found}
    ahead = options.ahead and re.search(options.only, 'ahead')
    previous = PreviousLayer(options.model, model.layers) if ahead else None

    def see(attention):
        guess = previous.query(attention) if previous else attention.query
        if attention.layer not in keys:
            return
        heads = attention.kv_heads
        for head, (weights, query, guessed) in enumerate(zip(
                np.split(attention.weights, heads), np.split(attention.query, heads),
                np.split(guess, heads))):
            values = {name: index.score(query)
                      for name, index in found[attention.layer, head].items()}
            values['mass'] = weights.mean(axis=0)[:options.context]
            if previous:
                key = keys[attention.layer][head]
                values['ahead'] = as_weights(guessed @ key.T, query)
            for name, value in values.items():
                seen[attention.layer, head].setdefault(name, []).append(value.astype(np.float32))

    model.probe.see = see
    for step in range(options.steps):
        model.decode([tokens[options.context + step]])
    model.probe.see = None
    return {place: {name: np.stack(value) for name, value in values.items()}
            for place, values in seen.items()}


# ---- the model of errors -------------------------------------------------------------------------


def best(scores, count):
    """[steps, items]: is it among the best `count`?"""
    places = np.argpartition(-scores, count - 1, axis=1)[:, :count]
    chosen = np.zeros(scores.shape, bool)
    np.put_along_axis(chosen, places, True, axis=1)
    return chosen


def spread_tail(logs, mass, random):
    """The logarithms as sim/trace/retrieval.c has them: those that a row does not keep are uniform
    below its lightest, with their own mean mass, each at its place for good."""
    kept, place = int(KEPT * logs.shape[1]), random.random(logs.shape[1])
    order, out = np.argsort(-logs, axis=1, kind='stable'), logs.copy()
    widths = np.linspace(.01, 18, 400)
    means = (1 - np.exp(-widths)) / widths
    for step, row in enumerate(order):
        most, tail = logs[step, row[kept - 1]], row[kept:]
        width = np.interp(-mass[step, tail].mean() / np.exp(most), -means, widths)
        out[step, tail] = most - width * place[tail]
    return out


class Head:
    """Masses and scores of one head outside the window, in tokens or pages."""

    def __init__(self, values, name, page, random):
        mass = values['mass'].astype(np.float64)
        tokens = mass[:, SINKS:-RECENT]
        logs = np.log(np.maximum(tokens, 1e-11))
        ranked = -np.sort(-logs, axis=1)
        count = tokens.shape[1]
        self.spread = (ranked[:, count // 80] - ranked[:, count // 10])[:, None]
        self.scores = values[name]
        if page > 1:
            outside = slice(-(-SINKS // page), (mass.shape[1] - RECENT) // page)
            pages = np.add.reduceat(mass, np.arange(0, mass.shape[1], page), axis=1)
            self.mass, self.scores = pages[:, outside], self.scores[:, outside]
            self.logs = np.log(np.maximum(self.mass, 1e-11))
        else:
            self.mass = tokens
            self.logs = spread_tail(logs, tokens, random)
            self.scores = self.scores[:, SINKS:-RECENT]
        ties = 1 + 1e-6 * random.random(self.scores.shape)
        self.scores = self.scores * ties

    def asked(self, count, noise, lasting, random):
        draw = (np.sqrt(lasting) * random.standard_normal(self.logs.shape[1]) +
                np.sqrt(1 - lasting) * random.standard_normal(self.logs.shape))
        return best(self.logs + noise * self.spread * draw, count)


def figures(heads, count, ask):
    """Recall, mass lost, and share not asked for in the steps before; means over heads."""
    rows = []
    for head in heads:
        truth, asked = best(head.mass, count), ask(head)
        lost = ((truth * head.mass).sum() - (asked * head.mass).sum()) / len(truth)
        new = [(asked[t] & ~asked[t - BEFORE:t].any(axis=0)).mean() * asked.shape[1] / count
               for t in range(BEFORE, len(asked))]
        rows.append(((truth & asked).sum() / truth.sum(), lost, np.mean(new)))
    return np.mean(rows, axis=0)


def modelled(heads, count, noise, lasting):
    """The same of the model, with draws that are the same for any noise."""
    random = np.random.default_rng(1)
    return figures(heads, count, lambda head: head.asked(count, noise, lasting, random))


def solve(target, of, least, most, rounds):
    """Where `of`, which rises, reaches `target`."""
    for _ in range(rounds):
        middle = (least + most) / 2
        least, most = (middle, most) if of(middle) < target else (least, middle)
    return (least + most) / 2


def report(name, heads, context, page):
    counts = [max(1, round(share * context / page)) for share in SHARES]
    true = [figures(heads, count, lambda head: best(head.scores, count)) for count in counts]
    fitted = counts[FITTED]
    noise = solve(true[FITTED][1], lambda x: modelled(heads, fitted, x, .9)[1], 0, 4, 8)
    lasting = solve(-true[FITTED][2], lambda x: -modelled(heads, fitted, noise, x)[2], 0, 1, 6)
    print(f'{name:14} {noise:.2f} {lasting:.2f}', end='')
    for count, (recall, lost, new) in zip(counts, true):
        own = modelled(heads, count, noise, lasting)
        print(f'  {recall:.3f} {own[0]:.3f} {100 * lost:5.2f} {100 * own[1]:5.2f}'
              f' {100 * new:5.1f} {100 * own[2]:5.1f}', end='')
    print(flush=True)


def print_text(options, place, seen):
    print('{} from byte {}'.format(os.path.basename(place[0]), place[1]))
    print('retrieval      noise lasting; at 5, 10, 20 %: recall, model; lost %, model; new %, model')
    names = {name: None for values in seen.values() for name in values if name != 'mass'}
    for name in [*names, *(['early'] if 'ahead' in names else [])]:
        page = int(name.split()[1]) if name.startswith('pages') else 1
        random = np.random.default_rng(0)
        heads = [Head(values, 'ahead' if name == 'early' else name, page, random)
                 for (layer, _), values in sorted(seen.items())
                 if (layer <= LAST_EARLY) == (name == 'early')]
        if heads:
            report(name, heads, options.context, page)


def text_place(text):
    """'FILE:1000' as ('FILE', 1000)."""
    path, _, offset = text.rpartition(':')
    return path, integer(0)(offset)


def main():
    parser = argparse.ArgumentParser(prog='measure_retrieval.py', description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--model', required=True, metavar='M.gguf')
    parser.add_argument('--text', type=text_place, action='append', required=True,
                        metavar='FILE:BYTES', help='measured from this byte on; may be repeated')
    parser.add_argument('--context', type=integer(1024), default=3840, metavar='N')
    parser.add_argument('--steps', type=integer(BEFORE + 4), default=24, metavar='S')
    parser.add_argument('--layers', type=layer_list, required=True, metavar='LIST')
    parser.add_argument('--learn', type=text_place, action='append', default=[],
                        metavar='FILE:BYTES', help='a text that codes are learned from')
    parser.add_argument('--seed', type=integer(0), default=1, help='of what is learned')
    parser.add_argument('--only', default='', metavar='REGEX')
    parser.add_argument('--no-ahead', dest='ahead', action='store_false',
                        help='the model\'s queries are not a projection of what a layer reads')
    parser.add_argument('--threads', type=integer(1), metavar='N')
    options = parser.parse_args()
    model = Model(options.model)
    model.open_context(options.context + options.steps, options.threads)
    learned = learn_codes(options, model, [layer for layer in options.layers if layer > LAST_EARLY],
                          sizes_asked(options))
    for place in options.text:
        tokens = tokens_of(model, place, options.context + options.steps)
        print_text(options, place, observe(options, model, tokens, learned))
    model.close()


if __name__ == '__main__':
    try:
        main()
    except Refusal as why:
        sys.exit(f'measure_retrieval.py: {why}')
