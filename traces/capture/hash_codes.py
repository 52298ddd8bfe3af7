"""Hash codes of queries and keys, as HATA has them (Gong et al. 2025), and how they are learned.

A code has a bit for each of `bits` hyperplanes through the origin: the side on which a vector lies.
The score of a key is the number of bits that it shares with the query, less those that differ; the
query heads of a KV head are added up. HATA's published scripts multiply it with the key's length
(USE_NORM), which takes 16 bits more; CLO states 32 bytes a token, 256 bits without a length.

learn() follows the paper's appendix and the published tasks/hash/learn_hash_weights.py:

    samples   a query from the second half of a text, with all keys up to it
    labels    20 ... 1, falling by rank, for the best tenth of the keys; -1 for the others
    loss      EPSILON · mean of label · |h(q) - h(k)|²    h(x) = 2 sigmoid(SIGMA x W) - 1
              + BALANCE · |mean of h(q) + h(k)|² / bits²
              + ORTHOGONAL · |W'W - 1|, over all KV heads of the layer together
    steps     SGD with momentum, EPOCHS of ITERATIONS steps; an epoch has its own samples

Every KV head has hyperplanes of its own, shared by its query heads. Two things differ: numbers have
32 bits instead of 16, and an epoch has EPOCH_SAMPLES queries, each with one in EPOCH_KEYS of its
keys: in all about as many pairs of a query and a key as HATA's 150 000 to 300 000, but each epoch
sees others.
"""

import numpy as np

EPOCHS, ITERATIONS, EPOCH_SAMPLES, EPOCH_KEYS = 15, 20, 24, 8
RATE, MOMENTUM, DECAY = .1, .9, 1e-6
SIGMA, EPSILON, BALANCE, ORTHOGONAL = .1, .01, 1., 2.
BEST, HIGHEST = .1, 20


class Codes:
    """A retrieval by codes of one KV head; `planes` [head dim, bits]."""

    def __init__(self, keys, planes):
        self.planes = planes
        self.codes = self.code(keys)

    def code(self, vectors):
        return np.where(vectors @ self.planes > 0, np.float32(1), np.float32(-1))

    def score(self, query):
        return self.codes @ self.code(query).sum(axis=0)


class LongCodes(Codes):
    def __init__(self, keys, planes):
        super().__init__(keys, planes)
        self.codes *= np.linalg.norm(keys, axis=1)[:, None]


def random_planes(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def labels(query, keys):
    """[keys, query heads] for queries [query heads, head dim]."""
    scores = keys @ query.T
    best = max(1, int(BEST * len(keys)))
    places = np.argsort(-scores, axis=0, kind='stable')[:best]
    out = np.full(scores.shape, -1, np.float32)
    np.put_along_axis(out, places, np.linspace(HIGHEST, 1, best, dtype=np.float32)[:, None], axis=0)
    return out


class Sample:
    """A query with its keys: queries [KV heads, query heads of each, head dim], keys [KV heads,
    keys, head dim]."""

    def __init__(self, query, keys):
        self.keys = keys.astype(np.float32)
        self.query = query.reshape(len(keys), -1, query.shape[-1]).astype(np.float32)
        self.labels = [labels(q, k) for q, k in zip(self.query, self.keys)]

    def some(self, random):
        """With some of the keys, the same in all heads."""
        out = object.__new__(Sample)
        keys = random.permutation(self.keys.shape[1])[:self.keys.shape[1] // EPOCH_KEYS]
        out.query, out.keys = self.query, self.keys[:, keys]
        out.labels = [label[keys] for label in self.labels]
        return out


def head_gradient(planes, samples, head):
    """Of the loss without its last part."""
    pairs = sum(len(sample.keys[head]) for sample in samples)
    hashed = [(np.tanh(SIGMA / 2 * sample.query[head] @ planes),
               np.tanh(SIGMA / 2 * sample.keys[head] @ planes)) for sample in samples]
    items = pairs * planes.shape[1]
    mean = sum(len(key) * query + key.sum(axis=0) for query, key in hashed) / items
    balance = 2 * BALANCE * mean / items
    out = np.zeros_like(planes)
    for sample, (query, key) in zip(samples, hashed):
        label = 2 * EPSILON / pairs * sample.labels[head]
        by_key = label.sum(axis=1)[:, None] * key - label @ query + balance.sum(axis=0)
        by_query = label.sum(axis=0)[:, None] * query - label.T @ key + len(key) * balance
        out += SIGMA / 2 * (sample.keys[head].T @ (by_key * (1 - key ** 2)) +
                            sample.query[head].T @ (by_query * (1 - query ** 2)))
    return out


def orthogonal_gradient(planes):
    off = planes.transpose(0, 2, 1) @ planes - np.eye(planes.shape[2], dtype=np.float32)
    return 2 * ORTHOGONAL * (planes @ off) / np.linalg.norm(off)


def learn(samples, bits, seed):
    """The hyperplanes of a layer [KV heads, head dim, bits]."""
    heads, _, dim = samples[0].keys.shape
    random = np.random.default_rng(seed)
    planes = random_planes(seed, heads, dim, bits)
    speed = np.zeros_like(planes)
    for _ in range(EPOCHS):
        chosen = [samples[i].some(random) for i in random.permutation(len(samples))[:EPOCH_SAMPLES]]
        for _ in range(ITERATIONS):
            gradient = np.stack([head_gradient(own, chosen, head)
                                 for head, own in enumerate(planes)])
            gradient += orthogonal_gradient(planes) + DECAY * planes
            speed = MOMENTUM * speed + gradient
            planes = planes - np.float32(RATE) * speed
    return planes
