#!/usr/bin/env python3
"""Write conversations.jsonl: a small workload in Mooncake's format, made up and not recorded.

Users hold conversations over one of a few system prompts. Each turn's prompt is all that was said
before (the hashes of whole chunks of 512 tokens stay; the last, cut short one changes) and some
new text. Arrivals are a Poisson process of conversations with pauses between turns. The same bytes
for the same seed.
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
    """Whole chunks are known by who wrote them and where; the last one by its length, too."""
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
