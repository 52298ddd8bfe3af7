#!/usr/bin/env python3
"""Write documents.jsonl: a synthetic workload in Mooncake's format, questions about long documents.

Each request is a whole document, the same for all who ask about it, and a question of its own. A
few documents are asked about often, most of them seldom (Zipf). Arrivals are a Poisson process. The
same seed gives the same bytes.
"""
import json
import random

CHUNK = 512
DOCUMENTS = 10
REQUESTS = 80
SHORTEST, LONGEST = 32, 96  # thousands of tokens
GAP_MS = 10000  # between arrivals, in the mean
SEED = 1


def main():
    rng = random.Random(SEED)
    documents = [1024 * rng.randint(SHORTEST, LONGEST) for _ in range(DOCUMENTS)]
    popularity = [1 / (1 + rank) for rank in range(DOCUMENTS)]
    numbers, now = {}, 0
    with open("documents.jsonl", "w") as out:
        for request in range(REQUESTS):
            document = rng.choices(range(DOCUMENTS), popularity)[0]
            question = 50 + int(rng.lognormvariate(4.5, 0.7))
            answer = 1 + int(rng.lognormvariate(5.6, 0.6))
            tokens = documents[document] + question
            names = [(document, chunk) for chunk in range(documents[document] // CHUNK)]
            chunks = -(-tokens // CHUNK)
            names += [("question", request, chunk) for chunk in range(len(names), chunks)]
            line = {
                "timestamp": now,
                "input_length": tokens,
                "output_length": answer,
                "hash_ids": [numbers.setdefault(name, len(numbers)) for name in names],
            }
            out.write(json.dumps(line) + "\n")
            now += int(rng.expovariate(1 / GAP_MS))


if __name__ == "__main__":
    main()
