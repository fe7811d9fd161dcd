"""Base of objects that stand for an open file."""

from ._bytewright import excerpt


class OpenFile:
    """Is closed at the end of a `with` block, shows its name, and refuses to be pickled."""

    __slots__ = ()

    #: Reason for which it is not pickled, and what to pickle instead.
    _no_pickle = "it is an open file; pickle its path"

    def __enter__(self):
        return self

    def __exit__(self, _class, error, _traceback):
        try:
            self.close()
        except Exception as failure:
            # The error that leaves the block comes first: often it is the cause, such as a full disk.
            if error is None:
                raise
            if hasattr(error, "add_note"):
                error.add_note(f"closing it failed, too: {failure}")

    def __repr__(self):
        return f"<{type(self).__name__} {self.name!r}{' (closed)' if self.closed else ''}>"

    def __reduce_ex__(self, _protocol):
        raise TypeError(f"cannot pickle a {excerpt(type(self).__name__)}: {self._no_pickle}")
