"""Tables: columns by name, which pandas, Arrow and whoever reads Arrow's C stream (Polars, DuckDB) can take."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any


def _row(row: Any) -> Mapping[str, Any]:
    if isinstance(row, Mapping):
        return row
    if isinstance(row, tuple):
        name, value = row
        return {"name": name, **value.to_dict()}
    found: Mapping[str, Any] = row.to_dict()
    return found


class Table:
    """Columns of one length. pandas and pyarrow are asked for only by the methods that are named after them.

    Examples
    --------
    >>> t = Table({"kernel": ["a", "b"], "time_ns": [1.0, 2.0]})
    >>> len(t), t["time_ns"], t.to_dicts()[1]
    (2, [1.0, 2.0], {'kernel': 'b', 'time_ns': 2.0})
    """

    def __init__(self, columns: Mapping[str, Sequence[Any]]) -> None:
        self.columns = dict(columns)

    @classmethod
    def of(cls, rows: Iterable[Any], names: Sequence[str] = ()) -> Table:
        """Of dictionaries, or of what has ``to_dict``: configs, a registry's or those of ``configs``, problems, and the pairs of ``problems``.

        Parameters
        ----------
        rows : iterable
        names : sequence of str
            The columns where there is no row; else they are the rows' keys, None where a row has not got one.

        Returns
        -------
        Table

        Examples
        --------
        >>> import kernelwright as kw
        >>> Table.of([kw.Problem.gemm(2, 3, 4)])["flops"]
        [48]
        """
        found = [_row(row) for row in rows]
        keys = list(dict.fromkeys(key for row in found for key in row)) or names
        return cls({key: [row.get(key) for row in found] for key in keys})

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __getitem__(self, name: str) -> Sequence[Any]:
        return self.columns[name]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        names = list(self.columns)
        for values in zip(*self.columns.values()):
            yield dict(zip(names, values))

    def __repr__(self) -> str:
        return f"<Table of {len(self)} rows: {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.columns)
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(str(v))}</td>" for v in row.values()) + "</tr>" for row, _ in zip(self, range(60))
        )
        return f"<table><tr>{head}</tr>{rows}</table>" + (f"<p>{len(self)} rows</p>" if len(self) > 60 else "")

    def to_dicts(self) -> list[dict[str, Any]]:
        """A dictionary a row."""
        return list(self)

    def to_pandas(self) -> Any:
        """A pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self.columns)

    def to_arrow(self) -> Any:
        """A pyarrow Table."""
        import pyarrow

        return pyarrow.table(self.columns)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)
