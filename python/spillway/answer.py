"""What a question returns: rows, which are dicts as the program's --json prints them."""

import html
from typing import TYPE_CHECKING, Any, Dict, List, Optional, overload

if TYPE_CHECKING:
    from .columns import Number, Text

    class Row(Dict[str, Any]):
        """Names of columns to their values (columns.py), and swept keys to theirs."""

        @overload
        def __getitem__(self, key: Text) -> Optional[str]: ...

        @overload
        def __getitem__(self, key: Number) -> Optional[float]: ...

        @overload
        def __getitem__(self, key: str) -> Any: ...

        def __getitem__(self, key: str) -> Any: ...
else:
    Row = Dict[str, Any]

# Columns of a short table, of those that the rows have: what was asked, and what came out.
_ASKED = ("system", "model", "hardware", "trace", "context", "requests", "policy", "layer", "head")
_ALWAYS = ("batch", "size")
_FOUND = ("status", "kind", "change", "value", "hit_ratio", "mass_recall", "times_plain", "tokens_per_s", "ttft_p99_ms",
          "tpot_ms", "decode_tokens_per_s", "requests_out_per_s", "winner", "met", "left_out")
_USUAL = {"status": "'ok'", "mass_recall": "1"}  # not shown where all rows have it


class Rows(List[Row]):
    """A list of dicts, shown as a short table: the keys that were varied, the columns that differ, the main figures.

    rows.frame    the same as a pandas.DataFrame, with all columns (needs pandas)
    rows.command  what a shell would be told, for a colleague without Python; None where ids or a policy were in Python
    rows.met      False: nothing fits, or meets what was asked for, and the rows say why
    rows.varied   the keys that were varied, in their order
    """

    def __init__(self, rows=(), command="", met=True, varied=()):
        super().__init__(rows)
        self.command, self.met, self.varied = command, met, tuple(varied)

    @property
    def frame(self):
        """A pandas.DataFrame with a row for each row, and all columns."""
        import pandas  # the only import outside of the standard library
        return pandas.DataFrame(list(self))

    def columns(self):
        """The columns of the short table."""
        def values(key):
            return {repr(row.get(key)) for row in self}

        asked = [key for key in _ASKED if key not in self.varied and len(values(key)) > 1]
        main = [key for key in ("system", "policy") if not asked and not self.varied and values(key) - {"None"}][:1]
        found = [key for key in (*_ALWAYS, *_FOUND) if values(key) - {"None", _USUAL.get(key)}]
        return [key for key in dict.fromkeys((*self.varied, *asked, *main, *found)) if key in self._keys()]

    def _keys(self):
        return dict.fromkeys(key for row in self for key in row)

    def _cells(self):
        columns = self.columns()
        return [columns, *([_text(row.get(key)) for key in columns] for row in self)]

    def __repr__(self):
        table = self._cells()
        widths = [max(map(len, column)) for column in zip(*table)]
        lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in table)
        return "\n".join(lines)

    def _repr_html_(self):
        """The short table in a notebook."""
        head, *rows = ([html.escape(cell) for cell in row] for row in self._cells())
        lines = ("".join(f"<td>{cell}</td>" for cell in row) for row in rows)
        return (f"<table><thead><tr>{''.join(f'<th>{cell}</th>' for cell in head)}</tr></thead>"
                f"<tbody>{''.join(f'<tr>{line}</tr>' for line in lines)}</tbody></table>")


class Advice(Rows):
    """The rows of `advise`, with the verdict in words and numbers: a dict.

    advice.verdict["run"] is the first sentence. print(advice) shows all of them; the rows have what was weighed.
    """

    def __init__(self, verdict, rows, **keywords):
        super().__init__(rows, **keywords)
        self.verdict = verdict

    def _sentences(self):
        return [(key, text) for key, text in self.verdict.items() if key in _SENTENCES and text]

    def __repr__(self):
        return "\n".join(f"{key:<8} {text}" for key, text in self._sentences())

    def _repr_html_(self):
        said = "".join(f"<tr><th>{key}</th><td style='text-align: left'>{html.escape(text)}</td></tr>"
                       for key, text in self._sentences())
        return f"<table>{said}</table>"


_SENTENCES = ("run", "meets", "offload", "memory", "instead", "sure", "start", "besides")


def _text(value):
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"
    return str(value)
