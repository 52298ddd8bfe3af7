"""The units that systems fetch, and the order in which their retrieval asks for them.

A retrieval does not know the attention masses: it ranks units by a small summary of their keys.
Each class says how tokens make units and how a query ranks them; a token's mass goes to its unit.
The query heads of a KV head are added up as attention weights (a softmax of each head's scores),
except for codes, whose scores are counts of bits.

    token          no retrieval: the masses themselves decide
    key            tokens, ranked by their own keys: the ranking is as good as the query
    page:16        Quest (Tang et al. 2024): minimum and maximum of every key channel of a page,
                   ranked by the highest score of any key between them
    cluster:16     RetroInfer (Chen et al. 2025): k-means over the keys of each segment of 8192 tokens,
                   ranked by the score of a cluster's mean key
    code:256       a stand-in for HATA's hash codes, which are learned: the signs of random
                   projections, ranked by equal bits
"""

import numpy as np

import swt

SEGMENT_TOKENS = 8192
KMEANS_ROUNDS = 10
PROJECTION_SEED = 1
NEVER = -np.inf  # the score of units that are never asked for


class Tokens:
    """One token a unit, without a retrieval; the base of all kinds."""

    kind, asks, keeps_born = swt.POSITIONS, False, False

    def __init__(self, size, context, sinks, recent):
        self.size, self.context, self.sinks, self.recent = size, context, sinks, recent
        self.keys = {}
        self.is_built = False

    @property
    def count(self):
        return -(-self.context // self.size)

    def see_keys(self, layer, keys):
        """Sees the keys [tokens, KV heads, head dim] of the next tokens."""
        self.keys.setdefault(layer, []).append(keys.astype(np.float16))

    def build(self):
        """Makes the retrieval's summary, once all keys of the prefix were seen."""
        for layer, keys in self.keys.items():
            keys = np.concatenate(keys).astype(np.float32).transpose(1, 0, 2)
            self.keys[layer] = [self.index(head) for head in keys]
        self.is_built = True

    def index(self, keys):
        raise NotImplementedError

    def fold(self, layer, head, mass):
        """The mass of each unit, and of tokens of the prefix that are in no unit."""
        return mass, 0.0


class Keys(Tokens):
    """Also keeps the keys of tokens generated while decoding, which a system has in HBM: their
    share of a query head's attention is not available to the prefix."""

    asks = keeps_born = True

    def see_keys(self, layer, keys):
        if self.is_built:
            for known, key in zip(self.keys[layer], keys.astype(np.float16).transpose(1, 0, 2)):
                known.append(key)
        else:
            super().see_keys(layer, keys)

    def index(self, keys):
        return [keys.astype(np.float16)]

    def score(self, layer, head, query):
        keys = np.concatenate(self.keys[layer][head]).astype(np.float32)
        return as_weights(query @ keys.T, query)[:self.context]


class Codes(Tokens):
    """`size` bits a token."""

    asks = True

    def __init__(self, bits, *prefix):
        super().__init__(1, *prefix)
        self.bits = bits

    def project(self, vectors):
        random = np.random.default_rng(PROJECTION_SEED)
        return vectors @ random.standard_normal((vectors.shape[-1], self.bits)) > 0

    def index(self, keys):
        return np.where(self.project(keys), 1, -1).astype(np.float32)

    def score(self, layer, head, query):
        return (self.keys[layer][head] @ np.where(self.project(query), 1, -1).T).sum(axis=1)


class Pages(Tokens):
    asks = True

    def starts(self):
        return np.arange(0, self.context, self.size)

    def index(self, keys):
        return (np.minimum.reduceat(keys, self.starts()), np.maximum.reduceat(keys, self.starts()))

    def fold(self, layer, head, mass):
        return np.add.reduceat(mass, self.starts()), 0.0

    def score(self, layer, head, query):
        least, most = self.keys[layer][head]
        bound = np.maximum(query, 0) @ most.T + np.minimum(query, 0) @ least.T
        return as_weights(bound, query)


class Clusters(Tokens):
    """Clusters of the tokens between sinks and recent ones. An empty cluster is never asked for."""

    kind, asks = swt.CLUSTERS, True

    def segments(self):
        """Spans of tokens, and how many clusters each has."""
        first, end = self.sinks, self.context - self.recent
        for start in range(first, end, SEGMENT_TOKENS):
            tokens = min(SEGMENT_TOKENS, end - start)
            yield start, start + tokens, max(1, round(tokens / self.size))

    @property
    def count(self):
        return sum(count for _, _, count in self.segments())

    def index(self, keys):
        means, labels, before = [], [], 0
        for start, end, count in self.segments():
            mean, label = kmeans(keys[start:end], count)
            means.append(mean)
            labels.append(label + before)
            before += count
        return np.concatenate(means), np.concatenate(labels)

    def fold(self, layer, head, mass):
        _, labels = self.keys[layer][head]
        middle = mass[self.sinks:self.context - self.recent]
        units = np.bincount(labels, weights=middle, minlength=self.count)
        return units, mass.sum() - middle.sum()

    def score(self, layer, head, query):
        means, labels = self.keys[layer][head]
        sizes = np.bincount(labels, minlength=self.count)
        scores = np.where(sizes > 0, query @ means.T, -np.inf)
        return np.where(sizes > 0, as_weights(scores, query), NEVER)


KINDS = {'token': Tokens, 'key': Keys, 'page': Pages, 'cluster': Clusters, 'code': Codes}


def as_weights(scores, query):
    """The sum over query heads [heads, units] of attention weights with these scores."""
    scores = scores / np.sqrt(query.shape[-1])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return (weights / weights.sum(axis=1, keepdims=True)).sum(axis=0)


def kmeans(keys, count):
    """The mean key of each cluster, and the cluster of each key. Keys are clustered by their
    direction from the mean of all keys, starting with evenly spaced keys."""
    points = keys - keys.mean(axis=0)
    points /= np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1e-6)
    centres = points[((np.arange(count) + 0.5) * len(points) / count).astype(int)]
    for _ in range(KMEANS_ROUNDS):
        labels = (points @ centres.T).argmax(axis=1)
        sums = sums_by_label(points, labels, count)
        norms = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.where(norms > 0, sums / np.maximum(norms, 1e-6), centres)
    sizes = np.bincount(labels, minlength=count)[:, None]
    return sums_by_label(keys, labels, count) / np.maximum(sizes, 1), labels


def sums_by_label(vectors, labels, count):
    sums = np.zeros((count, vectors.shape[1]), np.float32)
    np.add.at(sums, labels, vectors)
    return sums
