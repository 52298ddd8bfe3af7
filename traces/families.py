#!/usr/bin/env python3
"""Leave one family out: what recordings of other models say about a model, and what 32 steps add.

    traces/families.py [PROGRAM]      prints the tables of README.md, as Markdown (a minute)

Only the shipped recordings are read: three families on the policy manual, the same on source code.

Figures. The twenty that `trace fit` reports besides the cosines: overlaps, attention mass of fresh
selections, hits of LRU and FIFO, and sets reused and mass at four thresholds of QSAC. Demands are
10 % of the context.

The rule, written down before any of the tables was computed:

1. All figures are shares. They are compared in logits, because misses, not hits, are what differs
   by factors. A share closer to 0 or 1 than .0005 counts as .0005 or .9995.
2. n families give the range [a, b] of a figure. It is widened on both sides by k(n) * (b - a), so
   that the figure of one more family lies inside with a chance of one half.
3. k(3) = 0. If the families are exchangeable, one more lies in the plain range of n others with a
   chance of (n - 1) / (n + 1), whatever the distribution: one half for n = 3, so the range of the
   three shipped families needs no widening. With n = 2 the chance is one third, and k(2) depends
   on the distribution. It is taken as normal; then k(2) = (sqrt(3) - 1) / 2 = .366, and the range
   becomes sqrt(3) times as wide.
4. Leaving out a family tests this: the widened range of the other two should hold half of its
   figures. Width is compared with the spread of all three families, in points. It should be at
   most 1.5 times the spread in the median.
5. With a recording of 32 steps, the model's own figures take the place of the other families', and
   the range is that of the changes from the first 32 steps to what is predicted (later steps, or
   the other text) in the other families, in logits, widened by the same k(n).

One half was chosen because three families can promise no more without assumptions. Chances of two
in three and four in five are shown for comparison. With three families, leaving out the least and
the most both succeed only if k(2) >= 1: the rule cannot hold a figure in all three.
"""
