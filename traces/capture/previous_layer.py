"""The query that a layer would have if it read the input of the layer before it.

CLO and InfiniGen fetch a layer ahead: while layer L - 1 runs, they guess layer L's query from the
input of layer L - 1, because the residual stream changes little from one layer to the next. The
guess is

    turn(own norm(W (scale · norm(x) + shift) + b))

where norm(x) is the normalised input of layer L - 1. Everything else is layer L's own: the weights
of its norm and of its query projection, and of the norm of each head's query if it has one (Gemma),
from the GGUF file, and the turn of the position embedding (turn.py). As a check, the same is
computed from layer L's own input; a model for which the result is not the layer's query is refused.

The first layer has no layer before it and asks with its own query, as in systems that fetch for it
when it runs.
"""

import gguf
import numpy as np

from options import Refusal
from turn import error, find_turn

MAX_QUERY_ERROR = 0.05  # of a query computed here; 0.015 was seen: llama.cpp rounds to 8 bits


class PreviousLayer:
    """Sees the attention of each layer in order, token by token."""

    def __init__(self, path, layers):
        self.path = path
        tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(path).tensors}

        def values(name, default):
            tensor = tensors.get(name)
            if tensor is None:
                return default
            try:
                return gguf.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
            except NotImplementedError:
                raise Refusal(f"--speculate: {name} of '{path}' is of type "
                              f'{tensor.tensor_type.name}, which cannot be read')

        self.weights = []
        for layer in range(layers):
            projection = values(f'blk.{layer}.attn_q.weight', None)
            if projection is None:
                raise Refusal(f"--speculate: '{path}' has no blk.{layer}.attn_q.weight")
            self.weights.append((values(f'blk.{layer}.attn_norm.weight', np.float32(1)),
                                 values(f'blk.{layer}.attn_norm.bias', np.float32(0)),
                                 projection, values(f'blk.{layer}.attn_q.bias', np.float32(0)),
                                 values(f'blk.{layer}.attn_q_norm.weight', None)))
        self.read_before = None

    def query(self, attention):
        """The approximate query of the layer, [query heads, head dim]."""
        read_before, self.read_before = self.read_before, attention.reads
        if attention.layer == 0:
            return attention.query
        def norm(query):
            return self.norm_heads(attention.layer, query)

        turn = find_turn(norm(attention.plain_query), attention.query)
        if turn and self.has_shapes(attention):
            own, guess = (turn(norm(vector.reshape(attention.query.shape))) for vector in
                          self.project(attention.layer, np.stack((attention.reads, read_before))))
            if error(own, attention.query) <= MAX_QUERY_ERROR:
                return guess
        raise Refusal(f"--speculate: the query of layer {attention.layer} of '{self.path}' is not "
                      'its projection of what the layer reads, turned by position')

    def has_shapes(self, attention):
        projection = self.weights[attention.layer][2]
        return (attention.reads is not None and
                projection.shape == (attention.query.size, attention.reads.size))

    def project(self, layer, reads):
        scale, shift, projection, bias, _ = self.weights[layer]
        return (scale * reads + shift) @ projection.T + bias

    def norm_heads(self, layer, query):
        """Queries [query heads, head dim], normalised if the layer does that."""
        scale = self.weights[layer][4]
        return query if scale is None else (
            scale * query / np.sqrt((query ** 2).mean(axis=1, keepdims=True) + 1e-6))
