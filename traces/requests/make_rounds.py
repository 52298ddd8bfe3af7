#!/usr/bin/env python3
"""Write rounds-a10.jsonl and rounds-a100.jsonl, in Mooncake's format: what benchmark/hicache/bench_multiturn.py of
SGLang sends with the options of two published runs (scenarios/measured/mooncake-*.yaml).

It makes a turn of consecutive token ids, and sends their text. The server counts the tokens of that text: 5 to 6 % more.
So it needs the tokenizer: numpy, tiktoken, and Qwen's vocabulary, qwen.tiktoken of the Python package dashscope. A session
whose turn it is is drawn at random, of those that have had fewest turns if there is a barrier.

    make_rounds.py qwen.tiktoken
"""
import base64
import json
import random
import sys

import numpy
import tiktoken

PAGE = 64
SESSIONS = 20
IN_FLIGHT = 4
# file, seed, tokens of a turn as asked for, of an answer, rounds that fit, whether all wait for the end of a round
RUNS = [("rounds-a10", 42, 2048, 16, 10, False), ("rounds-a100", 1, 4096, 1, 9, True)]
# Qwen's tokenization_qwen.py
PIECES = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)"
          r"|\s+")


def vocabulary(path):
    rows = (line.split() for line in open(path, "rb"))
    return {base64.b64decode(text): int(rank) for text, rank in rows}


def turns(encoding, words, count, asked, answer):
    """Lengths of turns, drawn in the order of sample_random_requests()."""
    numpy.random.randint(asked, asked + 1, size=count)
    numpy.random.randint(answer, answer + 1, size=count)
    first = numpy.random.randint(0, len(words), size=count)
    ids = ([(int(first[i]) + i + j) % len(words) for j in range(asked)] for i in range(count))
    texts = (b"".join(words[number] for number in turn).decode("utf-8", "replace") for turn in ids)
    return [len(encoding.encode(text)) for text in texts]


def order(seed, rounds, barrier):
    """The sessions, as their turns come."""
    draw = random.Random(seed)
    left, flying = [rounds] * SESSIONS, []
    while any(left):
        ready = [s for s in range(SESSIONS) if left[s] == max(left) or not barrier and left[s] > 0]
        session = draw.choice([s for s in ready if s not in flying] or ready)
        flying = (flying + [session])[-IN_FLIGHT + 1:]
        left[session] -= 1
        yield session


def main():
    ranks = vocabulary(sys.argv[1])
    words = sorted(ranks, key=ranks.get)
    encoding = tiktoken.Encoding("qwen", pat_str=PIECES, mergeable_ranks=ranks, special_tokens={})
    for name, seed, asked, answer, rounds, barrier in RUNS:
        numpy.random.seed(seed)
        first = turns(encoding, words, SESSIONS, asked, answer)
        later = turns(encoding, words, SESSIONS * 9, asked, answer)
        tokens, pages, number = [0] * SESSIONS, [[] for _ in range(SESSIONS)], 0
        with open(name + ".jsonl", "w") as out:
            for session in order(seed, rounds, barrier):
                tokens[session] += answer + later.pop() if tokens[session] else first[session]
                full, rest = divmod(tokens[session], PAGE)
                new = list(range(number, number + full - len(pages[session]) + (rest > 0)))
                number += len(new)
                line = {"timestamp": 0, "input_length": tokens[session], "output_length": answer,
                        "hash_ids": pages[session] + new}
                pages[session] = line["hash_ids"][:full]
                out.write(json.dumps(line, separators=(",", ":")) + "\n")


main()
