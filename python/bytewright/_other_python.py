"""The error of a Python that the package has no library for."""

import sysconfig


def refuse() -> None:
    """Raises `ImportError`, which says which Pythons there are packages for."""
    kind = "free-threaded " if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
    version = sysconfig.get_python_version()
    raise ImportError(
        f"expected the package bytewright for this Python, {kind}CPython {version}, found one for others; there is a wheel for CPython "
        "3.10 and later, and one for each free-threaded CPython from 3.14 on"
    )
