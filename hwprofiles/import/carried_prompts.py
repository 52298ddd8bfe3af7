"""Carries over the figures of attention of prompts (prompts.py).

The donor is the one of many rows of products (carried.py). Fixed times, shares and the tokens of a row are the
donor's; a block takes as long for a token as a multiprocessor's share of the peak says; an empty block
as long as its share of all multiprocessors. Only GPUs that run FlashAttention 2 have empty blocks. The range
is that of the errors of measured GPUs when each is predicted so from another.
"""
import re

import numpy as np

import aiconfigurator
import fitting
import llmservingsim
import prompts

FLASH_2 = "8.0", "8.6", "8.9", "12.0"


def multiprocessors(name):
    text = fitting.profile_text(name)
    found = re.search(r"^  sms:\s*(?:{value: |\n    value: )(\d+)", text, re.M)
    return int(found.group(1)) if found else multiprocessors(re.search(r"^  extends: (\S+)", text, re.M).group(1))


def rows_of(name, folders):
    """The calls of prompts alone that fitted a GPU, and its L2."""
    if name in llmservingsim.PROMPTS:
        source = llmservingsim.PROMPTS[name]
        return llmservingsim.pro_tables(folders[1])[0], source
    if name in aiconfigurator.SOURCES:
        source = aiconfigurator.SOURCES[name]
        return aiconfigurator.read_prompts(folders[0], source), source.l2
    source = llmservingsim.SOURCES[name]
    model = llmservingsim.MODEL
    folder = source.folder % (model, 1)
    return llmservingsim.read_prompts(folders[1], folder, llmservingsim.MODELS[model], 1, False), source.l2


class Prompts:
    """`donor(name, among)`: the nearest of the GPUs `among`; `figure(name, which)`: points of a figure that was
    fitted to rows of a GPU; `alone(name)`: the measured GPUs that may predict another one."""

    def __init__(self, folders, donor, figure, alone):
        self.folders, self.donor, self.figure, self.alone = folders, donor, figure, alone

    def with_figure(self, which, among):
        return [name for name in among if self.figure(name, which)]

    def value(self, name, donor, which):
        (_, taken), = self.figure(donor, which)
        each = [fitting.flops_peak(gpu, "bf16") / multiprocessors(gpu) for gpu in (donor, name)]
        scale = {"prompt_token": each[0] / each[1],
                 "prompt_block": multiprocessors(donor) / multiprocessors(name)}.get(which, 1)
        return taken * scale

    def ratio(self, name):
        """Predicted over measured times of a measured GPU with the figures of its nearest."""
        table, l2 = rows_of(name, self.folders)
        donor = self.donor(name, self.with_figure("prompt_share", self.alone(name)))
        fixed, share, extra, token = (self.value(name, donor, which) for which in prompts.FIGURES[:4])
        found = prompts.Figures(fixed, share * fitting.flops_peak(name, "bf16"), extra, token)
        bandwidth = prompts.bandwidth_of(name, fitting.fitted_text(name))
        got = found.seconds(table, bandwidth, l2) / table["seconds"]
        print("%-20s from %-20s prompts median %+.1f %%" % (name, donor, 100 * np.median(got) - 100))
        return got

    def errors(self, measured):
        quantiles = np.linspace(0, 1, 1001)
        return np.concatenate([np.quantile(self.ratio(name), quantiles)
                               for name in self.with_figure("prompt_share", measured)])

    def texts(self, name, capability, measured, ratio):
        """The figures of a GPU that has no rows of these calls."""
        names = [which for which in prompts.FIGURES[:4] if not self.figure(name, which)]
        if capability in FLASH_2 and not self.figure(name, "prompt_block"):
            names.append("prompt_block")
        for which in names:
            donor = self.donor(name, self.with_figure(which, measured))
            band = fitting.spread(ratio if which == "prompt_share" else 1 / ratio)
            said = "carried over from the profile %s; range: errors of measured GPUs predicted so" % donor
            value = self.value(name, donor, which)
            text = "%.0f" % value if which == "prompt_extra" else fitting.amount_text(which, value)
            yield fitting.figure_text(which, text, band, said, "assumed")
