"""Cache policies written in Python, to try an idea in `curve` before it is written in C.

The program does the rest: it reads the trace, hands each demand to the policy, and checks the answers. Each demand goes
through a pipe and back, so that a policy in Python takes some twenty times as long as one in C; the result is the same.
Queries are not handed on: a policy that compares them is written in C.
"""

import contextlib
import os
import struct

from . import call as _call

_CREATE, _ACCESS, _DESTROY = range(3)
_EVICTED = 1 << 31
_HEAD, _CREATED, _ASKED = struct.Struct("=2I"), struct.Struct("=5I"), struct.Struct("=3I")


class Demand:
    """The blocks that a head wants at a step.

    wanted    the blocks, best first
    hits      those of them that the cache holds, best first
    misses    the others, best first
    mass      the share of attention of each wanted block; None in a plain stream of ids
    recorded  the wanted blocks, and behind them others that the recording knows and the head did not want
    """

    def __init__(self, recorded, wanted, mass, held):
        self.recorded, self.wanted = recorded, recorded[:wanted]
        self.mass = mass[:wanted] if mass is not None else None
        self.hits = [block for block in self.wanted if block in held]
        self.misses = [block for block in self.wanted if block not in held]


class Policy:
    """A cache of one KV head. Derive from it, and write access(); start() is called once, before.

    capacity  blocks that the cache may hold after a step
    blocks    ids are below this
    wanted    the most blocks that a demand asks for
    seed      for random numbers; it differs from head to head
    held      the blocks that it holds: a dict, in the order of their admission, with whatever touch() keeps of each

    access() calls admit() for blocks of the demand that are not held, and evict() for blocks that are. A miss need not
    be admitted. Wanted blocks that were held before the step are hits, whatever the step changes; the program counts
    them. To be compared with the policies that come with the program, touch the hits worst first, and then admit the
    misses worst first, so that the best blocks are the youngest. The first demand of a recording fills the cache: it
    asks for every block that a demand can ask for, and does not count.

    >>> import spillway
    >>> class Fifo(spillway.Policy):
    ...     "evicts the block that was admitted first"
    ...     def access(self, demand):
    ...         for block in reversed(demand.misses):
    ...             if len(self.held) == self.capacity:
    ...                 self.evict(next(iter(self.held)))
    ...             self.admit(block)
    >>> spillway.curve([0, 1, 2, 0, 1, 3, 0, 1], policy=[Fifo, "fifo"], sizes=[3])
    policy  size  hit_ratio
    Fifo    3     0.25
    fifo    3     0.25
    """

    name = None  # shown in the rows; None: the name of the class

    def __init__(self, capacity, blocks, wanted, seed):
        self.capacity, self.blocks, self.wanted, self.seed = capacity, blocks, wanted, seed
        self.held, self._changes = {}, []
        self.start()

    def start(self):
        """Make what the policy keeps besides `held`."""

    def access(self, demand):
        """Answer a demand."""
        raise NotImplementedError(f"{type(self).__name__} has no access()")

    def admit(self, block):
        """Hold a block of this demand."""
        if block in self.held:
            raise ValueError(f"block {block} is admitted, and is held already")
        self.held[block] = None
        self._changes.append(block)

    def evict(self, block):
        """Hold a block no longer."""
        if block not in self.held:
            raise ValueError(f"block {block} is evicted, and is not held")
        del self.held[block]
        self._changes.append(block | _EVICTED)

    def touch(self, block, kept=None):
        """Make a held block the youngest of `held`, and keep something of it."""
        del self.held[block]
        self.held[block] = kept

    def _answer(self, demand):
        self._changes.clear()
        self.access(demand)
        if len(self.held) > self.capacity:
            raise ValueError(f"{len(self.held)} blocks are held after a step in a cache of {self.capacity}")
        counts = len(demand.hits), len(demand.wanted), len(demand.hits), len(self._changes)
        return struct.pack(f"={4 + len(self._changes)}I", *counts, *self._changes)


def is_policy(value):
    """Is it a policy in Python: a class derived from Policy?"""
    return isinstance(value, type) and issubclass(value, Policy)


def _plugin():
    """The path of the plug-in that asks: beside the program in build/, or in lib/spillway of an installation."""
    folder = os.path.dirname(os.path.realpath(_call.program()))
    for path in (f"{folder}/python_policy.so", f"{os.path.dirname(folder)}/lib/spillway/python_policy.so"):
        if os.path.isfile(path):
            return path
    raise _call.ProgramNotFound(f"'python_policy.so' is not beside the program '{_call.program()}'")


class Served:
    """Policies in Python, as the program knows them while it runs."""

    def __init__(self, policies, folder, db):
        if policies and db is not None:
            raise _call.Error("'db' keeps no curves of policies in Python: it could not tell when they have changed", 2)
        self._policies, self._folder, self._live = policies, folder, {}
        self._path = None
        if policies:
            # Its name is a word of a list, and so must have none of the list's marks.
            self._path = os.path.join(folder, "python_policy.so")
            os.symlink(_plugin(), self._path)

    def word(self, policy):
        """How an option names it; None if it is none of these."""
        if not is_policy(policy):
            return None
        return f'{{"name": "plugin:{self._path}", "which": {self._policies.index(policy)}}}'

    def name(self, row):
        """Give a row the policy's own name."""
        if self._path is not None and row["policy"] == f"plugin:{self._path}":
            policy = self._policies[int(row.pop("parameters", {}).get("which", 0))]
            row["policy"] = policy.name or policy.__name__

    def named(self, why):
        """The program's complaint, with the policies' own names in place of the plug-in's."""
        if self._path is not None:
            names = " or ".join(policy.name or policy.__name__ for policy in self._policies)
            own = {key: value.replace(f"plugin:{self._path}", names).replace(self._path, names)
                   for key, value in {"error": str(why), **vars(why)}.items() if isinstance(value, str)}
            why = type(why)(**{**vars(why), **own})
        return why

    def keywords(self):
        """How the program must be run."""
        if not self._policies:
            return {}
        asks, its_out = os.pipe()
        its_in, answers = os.pipe()

        def serve():
            os.close(its_out)
            os.close(its_in)
            # A program that ended between a message and its answer says why by its status.
            with contextlib.suppress(BrokenPipeError, EOFError):
                with open(asks, "rb") as messages, open(answers, "wb") as replies:
                    self._serve(messages, replies)

        return {"serve": serve, "keep": (its_out, its_in),
                "environment": {"SPILLWAY_PYTHON_POLICY": f"{its_out},{its_in}"}}

    def _serve(self, messages, replies):
        """Answer until the program is done, which ends the messages (EOFError)."""
        while True:
            kind, number = _HEAD.unpack(_read(messages, _HEAD.size))
            if kind == _CREATE:
                which, blocks, capacity, wanted, seed = _CREATED.unpack(_read(messages, _CREATED.size))
                self._live[number] = self._policies[which](capacity, blocks, wanted, seed)
            elif kind == _ACCESS:
                replies.write(self._live[number]._answer(_demand(messages, self._live[number].held)))
                replies.flush()
            else:
                del self._live[number]


def _read(messages, size):
    data = messages.read(size)
    if len(data) < size:
        raise EOFError
    return data


def _demand(messages, held):
    wanted, recorded, has_mass = _ASKED.unpack(_read(messages, _ASKED.size))
    blocks = struct.unpack(f"={recorded}I", _read(messages, 4 * recorded))
    mass = struct.unpack(f"={recorded}f", _read(messages, 4 * recorded)) if has_mass else None
    return Demand(blocks, wanted, mass, held)
