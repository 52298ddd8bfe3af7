"""Records a model of Transformers that its generate() decodes.

Every model of Transformers calls the attention function that its configuration names. Ours calls
the ordinary one (PyTorch's scaled_dot_product_attention), so that decoding does not change. That
function does not return the weights, so ours computes them again in 32-bit floats for each decoded
token.
"""

import warnings

import numpy as np
import torch
import transformers
from transformers import AttentionInterface, AttentionMaskInterface

import resume
from options import Refusal
from progress import Progress
from recorder import (Recorder, check_length, common_geometry, make_header, make_units,
                      read_text, say_sliding, say_written)

NAME = 'spillway'  # of the attention function
UNKNOWN = ('softcap', 's_aux', 'position_bias')  # change weights in a way not computed here


class AttentionProbe:
    """Shows the attention of each token decoded, layer by layer, to `see(layer, query, weights,
    kv_heads)`: query [query heads, head dim], weights [query heads, keys]; and the keys of all to
    `see_keys(layer, keys)`: keys [tokens, KV heads, head dim]. Nothing while these are None."""

    def __init__(self):
        self.see = None
        self.see_keys = None
        self.guess = None  # a place for the query; if set, nothing else is computed
        AttentionInterface.register(NAME, self.attend)
        AttentionMaskInterface.register(NAME, AttentionMaskInterface()['sdpa'])

    def attend(self, module, query, key, value, mask, **options):
        if self.guess is not None:
            self.guess.append(last_query(query))
            return torch.zeros_like(query).transpose(1, 2), None
        for name in UNKNOWN:
            if options.get(name) is not None:
                raise Refusal(f"layer {module.layer_idx} has attention with '{name}', which cannot "
                              'be recorded')
        if self.see is not None and query.shape[2] == 1:
            weights = attention_weights(query, key, mask, options.get('scaling'))
            self.see(module.layer_idx, last_query(query), weights, key.shape[1])
        if self.see_keys is not None:
            new = key[0, :, -query.shape[2]:].transpose(0, 1)
            self.see_keys(module.layer_idx, new.float().cpu().numpy())
        return AttentionInterface()['sdpa'](module, query, key, value, mask, **options)


def last_query(query):
    return query[0, :, -1].float().cpu().numpy()


def attention_weights(query, key, mask, scaling):
    """The attention weights of one query on each key, as [query heads, keys]."""
    _, heads, _, dim = query.shape
    groups = query[0, :, 0].float().view(key.shape[1], -1, dim)
    scores = groups @ key[0].float().transpose(1, 2) * (dim ** -0.5 if scaling is None else scaling)
    scores = scores.view(heads, -1)
    if mask is not None:
        mask = mask[0, :, -1, :scores.shape[1]]
        scores = (scores.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else
                  scores + mask.float())
    return scores.softmax(dim=1).cpu().numpy()


class PreviousLayer:
    """The query that a layer would have if it read the input of the layer before it
    (previous_layer.py says which systems ask this way and why). The layer's own attention computes
    it: it gets the input of the layer before, through the layer's own norm, and only its query is
    used."""

    def __init__(self, model, probe):
        self.probe = probe
        self.read_before = self.reads = None
        self.norms = {}
        for layer in model.modules():
            if hasattr(layer, 'self_attn') and hasattr(layer, 'input_layernorm'):
                self.norms[layer.self_attn.layer_idx] = layer.input_layernorm
                layer.register_forward_pre_hook(self.see_input, with_kwargs=True)
                layer.self_attn.register_forward_pre_hook(self.see_attention, with_kwargs=True)
        if len(self.norms) != model.config.get_text_config().num_hidden_layers:
            raise Refusal(f"--speculate: not all layers of '{model.name_or_path}' have "
                          "'self_attn' and 'input_layernorm'")

    def see_input(self, _, arguments, options):
        self.read_before = self.reads
        self.reads = arguments[0] if arguments else options['hidden_states']

    def see_attention(self, module, arguments, options):
        """Runs before the layer's own attention."""
        self.query = None
        if self.probe.see is None or module.layer_idx == 0:
            return
        norm = self.norms[module.layer_idx]
        own = arguments[0] if arguments else options['hidden_states']
        if not torch.equal(norm(self.reads), own):
            raise Refusal(f'--speculate: the attention of layer {module.layer_idx} does not read '
                          "its input through 'input_layernorm'")
        options = {name: None if name.startswith('past_key_value') else value
                   for name, value in options.items() if name != 'hidden_states'}
        self.probe.guess = []
        module.forward(norm(self.read_before), *arguments[1:], **options)
        (self.query,), self.probe.guess = self.probe.guess, None


# ---- from options to a trace ---------------------------------------------------------------------


def load(options, load_one, **more):
    try:
        return load_one(options.model, **more)
    except Exception as why:  # any kind, because the file is the user's
        raise Refusal(f"'{options.model}' cannot be loaded: {str(why).strip().splitlines()[0]}")


def check_model(model, name, tokens):
    config = model.config.get_text_config()
    if getattr(config, 'kv_lora_rank', None):
        raise Refusal(f"'{name}' has multi-head latent attention: no KV heads to record")
    if config.is_encoder_decoder:
        raise Refusal(f"'{name}' has an encoder; only decoders can be recorded")
    trained = getattr(config, 'max_position_embeddings', None) or tokens
    if tokens > trained:
        raise Refusal(f'--context and --steps need {tokens} tokens, but the model was trained on '
                      f'{trained}')


def measure_geometry(model, probe, token, options):
    """The shape of the attention, found by decoding `token` once."""
    seen = {}

    def see(layer, query, _, kv_heads):
        seen[layer] = kv_heads, *query.shape

    probe.see = see
    with torch.inference_mode():
        model(torch.tensor([[token]], device=model.device), use_cache=False)
    probe.see = None
    return common_geometry(seen, model.config.get_text_config().num_hidden_layers, options.layers,
                           options.model)


class Steps(transformers.LogitsProcessor):
    """generate() passes it the logits after the prefix and after each step."""

    def __init__(self, options, tokens, probe, recorder, units, speculation):
        self.options, self.tokens, self.probe = options, tokens, probe
        self.recorder, self.units, self.speculation = recorder, units, speculation
        self.done = -1  # steps done; -1: the prefix is not done yet
        self.progress = Progress('record', options.steps)

    def __call__(self, _, scores):
        self.done += 1
        if self.done == 0:
            self.probe.see_keys = self.recorder.see_keys if self.units.keeps_born else None
            self.units.build()
        else:
            self.recorder.finish_step(self.done - 1)
            self.progress.draw(self.done)
        if self.done == self.recorder.first_step:
            self.probe.see = self.see
        if self.options.method == 'forced' and self.done < self.options.steps:
            next_token = self.tokens[self.options.context + self.done]
            scores = torch.full_like(scores, -torch.inf)
            scores[0, next_token] = 0
        return scores

    def see(self, layer, query, weights, kv_heads):
        """A layer with a sliding window has forgotten its first keys."""
        forgotten = self.options.context + self.done + 1 - weights.shape[1]
        weights = np.pad(weights, ((0, 0), (forgotten, 0)))
        guess = self.speculation.query if self.speculation else None
        self.recorder.see(layer, query, weights, kv_heads, query if guess is None else guess)


def decode(model, prefix, steps, options):
    """Calls generate() for one token more than there are steps, because the last is not decoded."""
    model.generation_config = transformers.GenerationConfig(
        max_new_tokens=options.steps + 1, pad_token_id=0, do_sample=options.method == 'sampled',
        **({'top_k': 0} if options.method == 'sampled' else {}))
    torch.manual_seed(options.seed)
    prefix = torch.tensor([prefix], device=model.device)
    model.generate(prefix, attention_mask=torch.ones_like(prefix),
                   logits_processor=transformers.LogitsProcessorList([steps]))


def capture(options):
    """Records as the command line says, or raises Refusal or OSError."""
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    warnings.simplefilter('ignore')
    if options.threads:
        torch.set_num_threads(options.threads)
    probe = AttentionProbe()
    tokenizer = load(options, transformers.AutoTokenizer.from_pretrained)
    model = load(options, transformers.AutoModelForCausalLM.from_pretrained, dtype='auto',
                 attn_implementation=NAME)
    check_model(model, options.model, options.context + options.steps)
    tokens = tokenizer(read_text(options.text, options.offset).decode())['input_ids']
    check_length(tokens, options)
    try:
        model.to(options.device).eval()
    except (RuntimeError, AssertionError) as why:
        raise Refusal(f"--device '{options.device}': {str(why).splitlines()[0]}")
    geometry = measure_geometry(model, probe, tokens[0], options)
    units = make_units(options)
    speculation = PreviousLayer(model, probe) if options.speculate else None
    with resume.Writer(options.output, make_header(options, geometry, units)) as writer:
        recorder = Recorder(writer, units, geometry.layers, writer.first_step)
        probe.see_keys = recorder.see_keys if units.asks else None
        steps = Steps(options, tokens, probe, recorder, units, speculation)
        try:
            decode(model, tokens[:options.context], steps, options)
        finally:
            steps.progress.close()
    say_sliding(options, recorder)
    say_written(options, geometry)
