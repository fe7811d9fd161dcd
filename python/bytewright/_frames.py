"""Columns as data frames of pandas and polars, which read them through Arrow's interface.

The methods are Python's own: native code that calls another native library, which lets Python's lock go and calls back, would take the
lock for held.
"""

from ._bytewright import Batch, Rows


def to_pandas(self):
    """The rows as a `pandas.DataFrame`. Before pandas 3, it needs pyarrow."""
    import pandas

    if hasattr(pandas.DataFrame, "from_arrow"):
        return pandas.DataFrame.from_arrow(self)
    import pyarrow

    return pyarrow.table(self).to_pandas()


def to_polars(self):
    """The rows as a `polars.DataFrame`."""
    import polars

    return polars.DataFrame(self)


for _cls in (Batch, Rows):
    _cls.to_pandas = to_pandas
    _cls.to_polars = to_polars
