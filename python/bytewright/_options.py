"""Options of a call by the tables that they are of."""


def split(options, table):
    """The options of a table of `bytewright.options`, and the others."""
    mine = {name: value for name, value in options.items() if name in table}
    return mine, {name: value for name, value in options.items() if name not in table}
