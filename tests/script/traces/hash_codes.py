"""Prints TAP: each test is a claim about hash_codes.py in traces/capture."""

import os
import sys

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..')
sys.path.insert(0, os.path.join(ROOT, 'traces', 'capture'))
import hash_codes as codes
import tap


def same(found, wanted):
    assert np.allclose(found, wanted), f'{found} is not {wanted}'


def random_sample(random, heads, group, keys, dim):
    return codes.Sample(random.standard_normal((heads * group, dim)) * 3,
                        random.standard_normal((heads, keys, dim)) * 3)


def loss(planes, samples):
    """As HATA's appendix states it, pair by pair."""
    heads, _, bits = planes.shape
    pairs = sum(sample.keys.shape[1] for sample in samples)
    total = codes.ORTHOGONAL * np.linalg.norm(planes.transpose(0, 2, 1) @ planes - np.eye(bits))
    for head in range(heads):
        for one in range(samples[0].query.shape[1]):
            sums = np.zeros(bits)
            for sample in samples:
                query, keys = (2 / (1 + np.exp(-codes.SIGMA * x @ planes[head])) - 1
                               for x in (sample.query[head][one], sample.keys[head]))
                for key, label in zip(keys, sample.labels[head][:, one]):
                    total += codes.EPSILON * label * ((query - key) ** 2).sum() / pairs
                    sums += query + key
            total += codes.BALANCE * ((sums / pairs / bits) ** 2).sum()
    return total


# ---- claims --------------------------------------------------------------------------------------


def codes_count_bits_alike_less_bits_that_differ():
    """Planes of the two axes and of their sum: (2, -1) has code + - +; (1, 1) + + +, of which two
    are alike; (-3, 4) - + +, of which one is."""
    planes = np.array([[1., 0, 1], [0, 1, 1]])
    keys = np.array([[1., 1], [-3, 4]])
    query = np.array([[2., -1]])
    same(codes.Codes(keys, planes).score(query), [1, -1])
    same(codes.LongCodes(keys, planes).score(query), [2 ** .5, -5])


def the_best_tenth_has_labels_by_rank():
    keys = np.arange(20.)[:, None]
    wanted = np.full(20, -1.)
    wanted[19], wanted[18] = 20, 1
    same(codes.labels(np.array([[1.], [2.]]), keys), np.stack([wanted, wanted], axis=1))


def the_gradient_is_the_slope_of_the_loss():
    random = np.random.default_rng(1)
    samples = [random_sample(random, 2, 2, keys, 4) for keys in (20, 30)]
    planes = random.standard_normal((2, 4, 6))
    found = np.stack([codes.head_gradient(own, samples, head) for head, own in enumerate(planes)])
    found += codes.orthogonal_gradient(planes)
    for place in (0, 0, 0), (0, 3, 5), (1, 2, 1):
        step = np.zeros_like(planes)
        step[place] = 1e-5
        slope = (loss(planes + step, samples) - loss(planes - step, samples)) / 2e-5
        assert abs(found[place] - slope) < 1e-5 * abs(slope), f'{found[place]} is not {slope}'


def learned_codes_find_more_than_random_ones():
    """Keys that differ mostly where queries look, about a common key: of another text's, learned
    planes find more of the best tenth than random ones."""
    random = np.random.default_rng(2)
    looks = random.standard_normal((2, 16))

    def sample():
        return codes.Sample(3 * random.standard_normal((1, 2)) @ looks,
                            (random.standard_normal((1, 400, 16)) + 2 * looks[0] +
                             2 * random.standard_normal((1, 400, 2)) @ looks))

    def recall(planes, texts):
        found = [codes.Codes(text.keys[0], planes).score(text.query[0]) for text in texts]
        return np.mean([np.isin(np.argsort(-scores)[:40], np.flatnonzero(text.labels[0] > 0)).mean()
                        for scores, text in zip(found, texts)])

    learned = codes.learn([sample() for _ in range(24)], 32, 1)[0]
    others = [sample() for _ in range(20)]
    by_random = [recall(codes.random_planes(seed, 16, 32), others) for seed in range(5)]
    assert recall(learned, others) > max(by_random), f'{recall(learned, others)}, {by_random}'


def the_same_seed_learns_the_same():
    random = np.random.default_rng(3)
    samples = [random_sample(random, 1, 2, 40, 4) for _ in range(3)]
    assert (codes.learn(samples, 8, 1) == codes.learn(samples, 8, 1)).all()
    assert (codes.learn(samples, 8, 1) != codes.learn(samples, 8, 2)).any()


TESTS = (codes_count_bits_alike_less_bits_that_differ, the_best_tenth_has_labels_by_rank,
         the_gradient_is_the_slope_of_the_loss, learned_codes_find_more_than_random_ones,
         the_same_seed_learns_the_same)


if __name__ == '__main__':
    sys.exit(tap.run(TESTS))
