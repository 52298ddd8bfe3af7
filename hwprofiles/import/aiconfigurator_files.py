"""Files of ai-dynamo/aiconfigurator: where they lie in a checkout, and their rows as a table."""
import os

import numpy as np
import pyarrow.parquet as parquet

from fitting import Failure, Table

COMMIT = "095f58a"
BASE = "aic-core/src/aiconfigurator_core/systems/data"


def read_table(checkout, path):
    whole = os.path.join(checkout, BASE, path)
    if not os.path.isfile(whole):
        raise Failure("%s: no such file" % whole)
    try:
        table = parquet.read_table(whole)
    except (OSError, ValueError):
        raise Failure("%s: not a Parquet file" % whole) from None
    columns = {name: np.array(table.column(name).to_pylist()) for name in table.schema.names}
    rows = Table("ai-dynamo/aiconfigurator %s, %s" % (COMMIT, path), columns)
    rows.time("latency", 1e3)
    return rows


def versions(which):
    """One version, or several, as a tuple of them."""
    return which if isinstance(which, tuple) else (which,)


def mean(tables, keys):
    """The rows whose keys are in all tables, once each, with the geometric mean of their times."""
    first = tables[0]
    if len(tables) == 1:
        return first
    times = [dict(zip(zip(*(table[key].tolist() for key in keys)), table["seconds"])) for table in tables]
    rows = list(zip(*(first[key].tolist() for key in keys)))
    seen, kept = set(), np.zeros(len(rows), bool)
    for i, row in enumerate(rows):
        kept[i] = row not in seen and all(row in other for other in times)
        seen.add(row)
    both = Table(" and ".join(joined(table.origin for table in tables)), first.columns)
    both.dropped = sum(table.dropped for table in tables)
    both.keep(kept)
    logs = [[np.log(other[row]) for row, keep in zip(rows, kept) if keep] for other in times]
    both.columns["seconds"] = np.exp(np.mean(logs, axis=0))
    return both


def joined(origins):
    """The first origin, and of the others what follows the folders that they share with it."""
    first, *others = origins
    shared = os.path.commonprefix([first, *others]).rpartition("/")[0] + "/"
    return [first] + [other[len(shared):] for other in others]
