"""Tables: columns by name, which pandas, Arrow and whoever reads Arrow's C stream (Polars, DuckDB) can take."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from typing import Any


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
    def of(cls, rows: Sequence[Mapping[str, Any]], names: Sequence[str] = ()) -> Table:
        """Of dictionaries, whose keys are those of the first one."""
        names = list(rows[0]) if rows else list(names)
        return cls({name: [row[name] for row in rows] for name in names})

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
