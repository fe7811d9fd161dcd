"""Thrift messages of files as columns, by an IDL."""

import functools

from .. import thrift
from .._bytewright import excerpt
from .._errors import ArgumentError


def columns(options, source, rows):
    """The messages of a source as columns: those that options name, but for the path of the file, or all of their struct."""
    cls = _class(options.idl, options.type)
    arguments = {"protocol": options.protocol, "framed": options.framed, "rows": rows}
    if not options.columns:
        return thrift.columns(cls, source, **arguments)
    paths = [name for name in options.columns if name != "file" or name in _fields(cls)]
    # Their number is that of the messages, which one field tells.
    return thrift.columns(cls, source, *(paths or _fields(cls)[:1]), **arguments)


@functools.lru_cache(maxsize=64)
def _class(idl, name):
    """The class of a struct of an IDL, which is a path or the text; `shared.Place` is one of an included file."""
    module = thrift.load(idl)
    try:
        return functools.reduce(getattr, name.split("."), module)
    except AttributeError:
        told = ", ".join(sorted(each for each, of in vars(module).items() if isinstance(of, type) and issubclass(of, thrift.Struct)))
        raise ArgumentError(f"expected type to be a struct of the IDL ({excerpt(told)}), found {excerpt(name)}") from None


def _fields(cls):
    return thrift.columns(cls, b"").columns
