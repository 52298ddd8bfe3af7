#!/usr/bin/env python3
"""Responses of an SGLang server, with its indexer's top-k, become a folder with a decode trace for
each request.

Every trace has one length of prefix and one number of steps, and requests differ in both. A step is a
token that was generated from others, a layer has one head, an index names a unit.

SGLang, `--enable-return-indexer-topk` and "return_indexer_topk" in a request (pull request 24392; read
at sgl-project/sglang, python/sglang/srt/state_capturer/ at 0564b52):

  - `meta_info` of a response of /generate has `prompt_tokens`, `completion_tokens` and `indexer_topk`
    (managers/tokenizer_manager.py). Several prompts or answers give an array of responses. A chat
    completion with "return_meta_info" has `meta_info` in each of `choices`.
  - `indexer_topk` is base64 of little-endian int32 of shape (tokens, layers, k). `tokens` are
    prompt_tokens + completion_tokens - 1: all but the last one, which was never an input (base.py,
    BaseTopkCapturer.get_topk; batch_result_processor.py).
  - `layers` are all layers of DeepSeek-V3.2 and GLM: a layer that reuses the indices of an earlier one
    has a copy of them (forward_mla.py). Of DeepSeek-V4 they are the layers with an index over 4 tokens
    each (configs/model_config.py, get_num_indexer_layers). The response does not give their number;
    SGLang's branch for training has it as `indexer_topk_num_layers` (pull request 26684).
  - An index is a position in the sequence where top-k and page table are not fused
    (SGLANG_DSA_FUSE_TOPK=0, and wherever HiSparse decodes), else the number of a slot of the KV pool
    (layers/attention/dsa/dsa_topk_backend.py, topk_transform). -1 is padding. The indices of a row are
    a set: its order means nothing.
  - Rows of prompt tokens are not always captured: dense prefill of short prompts selects nothing.
    Those of generated tokens are.

    traces/convert/sglang_indexer.py responses.jsonl --layers 61 -o requests
"""

import base64
import copy
import json
import mmap
import os
import re
import struct

import selections
from selections import Fault

KEY = 'indexer_topk'
INDICES = re.compile(rb'"indexer_topk"\s*:\s*"([^"]*)"')
BETWEEN = re.compile(r'[\s,\[\]\ufeff]*')  # between responses
ITEM = 4


def read_responses(data):
    """(line, response) of all; a response's indices are replaced by where they stand in `data`,
    because they may be larger than memory."""
    pieces, last = [], 0
    for match in INDICES.finditer(data):
        pieces += [data[last:match.start(1)], b'%d %d' % match.span(1)]
        last = match.end(1)
    text = b''.join([*pieces, data[last:]]).decode(errors='replace')
    at = BETWEEN.match(text).end()
    while at < len(text):
        line = text.count('\n', 0, at) + 1
        try:
            response, at = json.JSONDecoder().raw_decode(text, at)
        except ValueError as why:
            raise Fault(f'line {line}: not JSON: {why}')
        yield line, response
        at = BETWEEN.match(text, at).end()


def metas(line, response):
    """Each `meta_info` of a response."""
    inner = [response, *(response.get('choices') or [])] if isinstance(response, dict) else []
    found = [one['meta_info'] for one in inner if isinstance(one, dict) and 'meta_info' in one]
    if found:
        return found
    said = response.get('error', response) if isinstance(response, dict) else None
    message = said.get('message') if isinstance(said, dict) else None
    raise Fault(f'line {line}: ' + (f'the server refused: {message}' if message else
                                    "the response has no 'meta_info'") +
                '\n  expected: a response of /generate, or of chat completions with '
                '"return_meta_info": true')


def count(line, meta, key):
    value = meta.get(key)
    if type(value) is not int or value < 0:
        raise Fault(f"line {line}: '{key}' is missing or not a whole number")
    return value


class Request:
    """The indices of one answer."""

    def __init__(self, line, meta, options):
        if not isinstance(meta.get(KEY), str):
            raise Fault(f"line {line}: the response has no '{KEY}'\n  expected: a server with "
                        '--enable-return-indexer-topk, and "return_indexer_topk": true in the request')
        self.line, self.unit_tokens = line, options.unit_tokens
        self.begin, self.end = map(int, meta[KEY].split())
        prompt = count(line, meta, 'prompt_tokens')
        self.tokens = prompt + count(line, meta, 'completion_tokens') - 1
        self.context = options.context or prompt
        self.layers = meta.get(KEY + '_num_layers', options.layers)
        if not self.layers or self.layers != (options.layers or self.layers):
            raise Fault(f"line {line}: '{KEY}_num_layers' is {self.layers}\n  expected: --layers N, "
                        'such as 61 for DeepSeek-V3.2, 78 for GLM-5')
        self.k = self.find_k() if self.steps > 0 else 0

    @property
    def steps(self):
        return self.tokens - self.context

    def find_k(self):
        """The characters must be those of whole rows."""
        characters, rows = self.end - self.begin, self.tokens * self.layers
        k = characters // 4 * 3 // ITEM // rows
        if k == 0 or -(-rows * k * ITEM // 3) * 4 != characters:
            raise Fault(f"line {self.line}: '{KEY}' has {characters // 4 * 3 // ITEM} indices, which "
                        f'are not those of {self.tokens} tokens in {self.layers} layers')
        return k

    def read(self, data):
        """wanted() of selections.write(), of the rows from the first step on."""
        row = struct.Struct(f'<{self.k}i')
        skipped = self.context * self.layers * row.size
        try:
            rows = base64.b64decode(data[self.begin + skipped // 3 * 4:self.end], validate=True)
        except ValueError as why:
            raise Fault(f"line {self.line}: '{KEY}' is not base64: {why}")

        def wanted(step, layer):
            items = row.unpack_from(rows, skipped % 3 + (step * self.layers + layer) * row.size)
            units = [item for item in items if item != -1]
            most = (self.context + step) // self.unit_tokens
            if units and not 0 <= min(units) <= max(units) <= most:
                wrong = next(unit for unit in units if not 0 <= unit <= most)
                raise Fault(f'line {self.line}: token {self.context + step}, layer {layer}: index '
                            f'{wrong} is beyond this token\n  expected: positions in the sequence, '
                            'which SGLang returns with SGLANG_DSA_FUSE_TOPK=0; else it returns slots '
                            'of its KV pool')
            return units
        return wanted


def write(request, number, data, options, path):
    shaped = copy.copy(options)
    shaped.context = request.context
    shape = request.steps, request.layers, request.k
    try:
        selections.write(path, 'sglang-indexer', shape, request.read(data), shaped, request=number)
    except Fault as why:
        raise Fault(f'request {number}: {why}')


def convert(options):
    with open(options.file, 'rb') as file:
        if os.fstat(file.fileno()).st_size == 0:
            raise Fault(f'{options.file}: an empty file')
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    requests = [Request(line, meta, options) for line, response in read_responses(data)
                for meta in metas(line, response)]
    numbered = [(number, one) for number, one in enumerate(requests, 1) if one.steps > 0]
    if not numbered:
        raise Fault(f'none of {len(requests)} responses has a step\n'
                    '  expected: at least two generated tokens, or a smaller --context')
    os.makedirs(options.output, exist_ok=True)
    written = []
    try:
        for number, request in numbered:
            path = os.path.join(options.output, f'request-{number:04}.swt')
            selections.check_output(path, options.file)
            write(request, number, data, options, path)
            written.append(path)
    except BaseException:
        for path in written:  # other files there are an earlier conversion's
            os.unlink(path)
        raise
    print(f'{len(written)} traces; responses without a step: {len(requests) - len(written)}')


def main():
    options = selections.parser(__doc__, 'the folder of traces to write')
    selections.add_layout(options)
    options.add_argument('--layers', type=selections.positive, default=0, metavar='COUNT',
                         help='layers of the indices, if the responses do not say')
    selections.run(convert, options.parse_args())


if __name__ == '__main__':
    main()
