"""A GGUF model on the CPU that shows the attention of what it decodes.

llama.cpp shows every node of its compute graph to a callback. With flash attention off, these nodes
tell the attention of layer L:

    norm-L          its input, normalised, before the norm's weights; the first of that name
    Qcur-L          the queries; the last of that name is after the position embedding, the one
                    before it is not
    Kcur-L          the new keys; the last of that name is after the position embedding
    kq_soft_max-L   the attention weights of each query head over the cells of the cache

Cells are tokens in order, because there is one sequence and nothing is removed; cells past the
last token have weight 0. With sliding windows the cache is kept whole, and tokens outside a window
have weight 0 as well.
"""

import ctypes
import os
import re
from dataclasses import dataclass

import llama_cpp.llama_cpp as llama
import numpy as np

from options import Refusal

BATCH = 512                # tokens decoded at once, at most; fewer when ...
WEIGHTS_BYTES = 256 << 20  # ... their attention weights would take more than this
GGML_F32 = 0


class Tensor(ctypes.Structure):
    """The head of struct ggml_tensor, up to its shape (`ne`, fastest dimension first)."""

    _fields_ = [('type', ctypes.c_int), ('buffer', ctypes.c_void_p), ('ne', ctypes.c_int64 * 4)]


def ggml(name, result, *arguments):
    function = getattr(llama._lib, name)
    function.restype, function.argtypes = result, arguments
    return function


tensor_name = ggml('ggml_get_name', ctypes.c_char_p, ctypes.c_void_p)
tensor_is_contiguous = ggml('ggml_is_contiguous', ctypes.c_bool, ctypes.c_void_p)
tensor_read = ggml('ggml_backend_tensor_get', None, ctypes.c_void_p, ctypes.c_void_p,
                   ctypes.c_size_t, ctypes.c_size_t)


def tensor_shape(tensor):
    return tuple(Tensor.from_address(tensor).ne)


def tensor_values(tensor):
    """A copy, as an array with the fastest dimension last."""
    values = np.empty(tensor_shape(tensor)[::-1], np.float32)
    tensor_read(tensor, values.ctypes.data, 0, values.nbytes)
    return values


def tensor_is_readable(tensor):
    return Tensor.from_address(tensor).type == GGML_F32 and tensor_is_contiguous(tensor)


@dataclass
class Attention:
    """The attention of one token in one layer."""

    layer: int
    kv_heads: int
    query: np.ndarray        # [query heads, head dim]
    plain_query: np.ndarray  # the same before the position embedding
    weights: np.ndarray      # [query heads, cells]
    reads: np.ndarray        # [embedding]: the layer's input, normalised, before the norm's weights


class AttentionProbe:
    """Shows the attention of each token decoded, layer by layer, to `see(attention)`, and the keys
    of many to `see_keys(layer, keys)`: keys [tokens, KV heads, head dim]. Nothing while these are
    None.

    llama.cpp asks first whether a node is wanted, then shows the wanted ones computed. An exception
    cannot pass through it: it is kept, stops the computation, and is raised by Model.decode().
    """

    NODE = re.compile(rb'(norm|Qcur|Kcur|kq_soft_max)-(\d+)')

    def __init__(self):
        self.see = None
        self.see_keys = None
        self.failure = None
        self.reads = {}
        self.queries = {}
        self.keys = {}
        self.kv_heads = {}
        self.callback = llama.ggml_backend_sched_eval_callback(self.node)

    def node(self, tensor, is_question, _):
        try:
            if self.see is None and self.see_keys is None:
                return False
            match = self.NODE.fullmatch(tensor_name(tensor))
            if is_question:
                return match is not None and self.is_wanted(match[1], int(match[2]), tensor)
            self.show(match[1], int(match[2]), tensor)
            return True
        except BaseException as failure:  # also an interrupt: ctypes would swallow it
            self.failure = failure
            return False

    def is_wanted(self, kind, layer, tensor):
        if kind == b'Kcur':
            self.kv_heads[layer] = tensor_shape(tensor)[1]
            return self.see_keys is not None and tensor_is_readable(tensor)
        if kind == b'norm' and layer in self.reads:
            return False
        return self.see is not None and tensor_is_readable(tensor)

    def show(self, kind, layer, tensor):
        values = tensor_values(tensor)
        if kind == b'Kcur':
            self.keys[layer] = values
        elif kind == b'norm':
            self.reads[layer] = values.ravel()
        elif kind == b'Qcur':
            self.queries.setdefault(layer, []).append(values)
        elif layer in self.queries and layer in self.kv_heads:
            self.see(self.attention(layer, values))

    def attention(self, layer, weights):
        queries = self.queries[layer]
        plain, query = queries[max(0, len(queries) - 2)], queries[-1]
        shape = query.shape[-2:]
        return Attention(layer, self.kv_heads[layer], query.reshape(shape), plain.reshape(shape),
                         weights.reshape(-1, weights.shape[-1]), self.reads.get(layer))

    def finish_batch(self):
        """Only now is it known which node of a name was the last."""
        for layer, keys in self.keys.items():
            self.see_keys(layer, keys.reshape(-1, *keys.shape[-2:]))
        self.keys.clear()
        self.reads.clear()
        self.queries.clear()


class Log:
    """Keeps llama.cpp's errors for a message, instead of letting it print everything."""

    ERROR = 4

    def __init__(self):
        self.errors = []
        self.callback = llama.llama_log_callback(self.line)
        llama.llama_log_set(self.callback, None)

    def line(self, level, text, _):
        if level == self.ERROR:
            self.errors.append(text.decode(errors='replace').strip())

    def reason(self):
        """The first error, because later ones say less."""
        return self.errors[0] if self.errors else 'no reason given'


class Model:
    """A GGUF model with one sequence."""

    def __init__(self, path):
        check_gguf(path)
        self.path = path
        self.log = Log()
        self.probe = AttentionProbe()
        self.context = None
        llama.llama_backend_init()
        params = llama.llama_model_default_params()
        params.n_gpu_layers = 0
        self.model = llama.llama_model_load_from_file(os.fsencode(path), params)
        if not self.model:
            raise Refusal(f"'{path}' cannot be loaded: {self.log.reason()}")
        self.vocab = llama.llama_model_get_vocab(self.model)
        self.layers = llama.llama_model_n_layer(self.model)
        self.query_heads = llama.llama_model_n_head(self.model)
        self.kv_heads = llama.llama_model_n_head_kv(self.model)
        self.has_encoder = llama.llama_model_has_encoder(self.model)
        self.trained_context = llama.llama_model_n_ctx_train(self.model)
        self.weight_bytes = llama.llama_model_size(self.model)
        self.parameters = llama.llama_model_n_params(self.model)
        self.vocab_size = llama.llama_vocab_n_tokens(self.vocab)
        self.key_size, self.value_size = self.head_size('key'), self.head_size('value')

    def metadata(self, key):
        value = ctypes.create_string_buffer(256)
        size = llama.llama_model_meta_val_str(self.model, key.encode(), value, len(value))
        return value.value.decode(errors='replace') if size >= 0 else None

    def head_size(self, kind):
        """Of the keys or values of a head."""
        stated = self.metadata(f"{self.metadata('general.architecture')}.attention.{kind}_length")
        return int(stated or llama.llama_model_n_embd(self.model) // max(self.query_heads, 1))

    def batch_of(self, tokens):
        """Tokens of the prefix decoded at once. Their attention weights do not grow with `tokens`,
        unless 16 tokens have more than WEIGHTS_BYTES."""
        return max(16, min(BATCH, WEIGHTS_BYTES // (4 * tokens * max(self.query_heads, 1))))

    def open_context(self, tokens, threads):
        """Makes room for `tokens`, with every cell of every layer kept and flash attention off.
        `threads` None: one a core."""
        params = llama.llama_context_default_params()
        params.n_ctx = tokens
        params.n_batch = params.n_ubatch = self.batch_of(tokens)
        params.n_threads = params.n_threads_batch = threads or len(os.sched_getaffinity(0))
        params.flash_attn_type = llama.LLAMA_FLASH_ATTN_TYPE_DISABLED
        params.swa_full = True
        params.offload_kqv = False
        params.cb_eval = self.probe.callback
        self.batch = params.n_batch
        self.context = llama.llama_init_from_model(self.model, params)
        if not self.context:
            raise Refusal(f"no memory for {tokens} tokens of '{self.path}': {self.log.reason()}")

    def tokenize(self, text, room):
        """The tokens of UTF-8 `text`, with the tokens that the model puts before a text."""
        tokens = (llama.llama_token * room)()
        count = llama.llama_tokenize(self.vocab, text, len(text), tokens, room, True, False)
        return self.tokenize(text, -count) if count < 0 else list(tokens[:count])

    def decode(self, tokens):
        batch = (llama.llama_token * len(tokens))(*tokens)
        status = llama.llama_decode(self.context,
                                    llama.llama_batch_get_one(batch, len(tokens)))
        if self.probe.failure:
            raise self.probe.failure
        if status:
            raise Refusal(f'llama.cpp cannot decode (status {status}): {self.log.reason()}')
        self.probe.finish_batch()

    def logits(self):
        """The logits of the last decoded token."""
        return np.ctypeslib.as_array(llama.llama_get_logits_ith(self.context, -1),
                                     (self.vocab_size,))

    def forget(self):
        llama.llama_memory_clear(llama.llama_get_memory(self.context), True)

    def close(self):
        if self.context:
            llama.llama_free(self.context)
        llama.llama_model_free(self.model)


def check_gguf(path):
    try:
        with open(path, 'rb') as file:
            magic = file.read(4)
    except OSError as why:
        raise Refusal(f"cannot read model '{path}': {why.strerror}")
    if magic != b'GGUF':
        raise Refusal(f"'{path}' is not a GGUF model: it starts with {magic!r}, expected b'GGUF'")
