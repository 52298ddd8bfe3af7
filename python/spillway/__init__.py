"""How fast does a model decode once its KV cache no longer fits the GPU? The program Spillway, from Python.

Three lines compare systems:

>>> import spillway
>>> rows = spillway.simulate(model="llama-3-8b", hardware="a40", system=["vllm", "fullattn"], context="8K", steps=2)
>>> rows
system    batch  tpot_ms  decode_tokens_per_s
vllm      1      30.58    32.7
fullattn  1      30.67    32.6

With pandas, rows.frame is a DataFrame; without it, each row is a dict, as `spillway simulate --json` prints it.

questions   simulate()  how fast each point of a scenario decodes
            whatif()    along an axis
            plan()      the least or most of an axis that meets targets
            advise()    what to run for a model on a machine, in words
            curve()     hit ratios of cache policies, also of a Policy in Python
answers     Rows, Advice
complaints  Error, with found, expected, nearest, key and place
words       names(): models, machines, systems, columns ... with what each is; columns.COLUMNS has the columns of rows
databases   runs(), table(), tables(), sweep(), curves(), to_pandas(): what db="results.db" stored (spillway.results)
traces      spillway.swt: reads and writes recordings

help(spillway.simulate) has the arguments and examples. In a notebook or a terminal, progress is shown while the program
runs; an interrupt ends it.
"""

from . import columns, results, swt
from .answer import Advice, Rows
from .policy import Demand, Policy
from .call import Error, ProgramNotFound, program
from .questions import advise, curve, names, plan, simulate, whatif
from .results import curves, keys, runs, sweep, table, tables, to_pandas

__all__ = ["Advice", "Demand", "Error", "Policy", "ProgramNotFound", "Rows", "advise", "columns", "curve", "curves",
           "keys", "names", "plan", "program", "results", "runs", "simulate", "sweep", "swt", "table", "tables", "to_pandas", "whatif"]
