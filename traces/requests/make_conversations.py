#!/usr/bin/env python3
"""Write conversations.jsonl: a small synthetic workload in Mooncake's format.

Users hold conversations with one of a few system prompts. Each turn's prompt is the whole earlier
conversation and some new text. The hashes of whole chunks of 512 tokens stay; that of the last,
partial chunk changes. Conversations arrive as a Poisson process, with pauses between turns. The
same seed gives the same bytes.
"""
import json
import random

CHUNK = 512
CONVERSATIONS = 90
SYSTEM_PROMPTS = [1024, 2560, 4096]  # tokens
SEED = 1


def turns(rng, system):
    """(pause before in ms, new tokens of the prompt, tokens of the answer)"""
    for _ in range(1 + int(rng.expovariate(1 / 2.2))):
        yield (
            int(rng.expovariate(1 / 20000)),
            1 + int(rng.lognormvariate(6.2, 0.9)),
            1 + int(rng.lognormvariate(4.8, 0.6)),
        )


def hashes(names, whole, tokens, owner):
    """A whole chunk is identified by its author and position; the last one by its length, too."""
    keys = [whole[i] if i < len(whole) else (owner, i) for i in range(tokens // CHUNK)]
    if tokens % CHUNK:
        keys.append((owner, tokens // CHUNK, tokens))
    return [names.setdefault(key, len(names)) for key in keys]


def main():
    rng = random.Random(SEED)
    names, requests, start = {}, [], 0
    for owner in range(CONVERSATIONS):
        start += int(rng.expovariate(1 / 4000))
        now, system = start, rng.randrange(len(SYSTEM_PROMPTS))
        tokens = SYSTEM_PROMPTS[system]
        shared = [("system", system, i) for i in range(tokens // CHUNK)]
        for pause, new, answer in turns(rng, system):
            now += pause
            tokens += new
            requests.append((now, tokens, answer, hashes(names, shared, tokens, owner)))
            tokens += answer
    requests.sort(key=lambda request: request[0])
    numbers = {}
    with open("conversations.jsonl", "w") as out:
        for now, tokens, answer, ids in requests:
            line = {
                "timestamp": now - requests[0][0],
                "input_length": tokens,
                "output_length": answer,
                "hash_ids": [numbers.setdefault(i, len(numbers)) for i in ids],
            }
            out.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
