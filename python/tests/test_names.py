"""Goal: docs/names.md tells every public name of Python, and none that is not.

Method: what stands there as `bytewright.…` is looked up, and the public names of the package are looked for.
"""

import pathlib
import re

import bytewright

#: Modules for those who have polars, Spark, Django, cachelib, and Flask-Caching.
OPTIONAL = {"polars", "spark", "django", "cachelib", "flask_caching"}
PAGE = (pathlib.Path(__file__).parents[2] / "docs/names.md").read_text()
NAMES = set(re.findall(r"`bytewright\.([\w.]+)`", PAGE))
#: Classes that have names of others, too.
SAME = {
    "HashTable": {"TreeTable"},
    "TreeTable": {"HashTable"},
    "Snapshot": {"HashTable"},
    "TreeSnapshot": {"Snapshot", "HashTable", "TreeTable"},
    "Writer": {"Reader"},
}
#: Attributes that an object of the class gets when it is made.
OF_OBJECTS = {"Error.offset", "Error.file", "TruncatedError.needed", "TruncatedError.available"}


def is_on_the_page(place, name):
    return any(f"{one}.{name}" in NAMES for one in {place} | SAME.get(place, set()))


def test_every_name_on_the_page_is_there():
    assert NAMES
    for name in NAMES - OF_OBJECTS - OPTIONAL:
        found = bytewright
        for part in name.split("."):
            assert hasattr(found, part), name
            found = getattr(found, part)
    error = bytewright.TruncatedError()
    assert all(hasattr(error, name.split(".")[1]) for name in OF_OBJECTS)


def test_every_question_is_a_function_of_the_package():
    assert set(bytewright.questions.__all__) <= set(bytewright.__all__)


def test_every_public_name_is_on_the_page():
    for name in bytewright.__all__:
        found = getattr(bytewright, name)
        if name.startswith("_") or (isinstance(found, type) and issubclass(found, Exception)):
            continue
        assert any(one == name or one.startswith(f"{name}.") for one in NAMES), name
        if isinstance(found, type):
            fields = set(getattr(found, "__match_args__", ()))
            own = {member for member in dir(found) if not member.startswith("_")} - fields
            missing = sorted(member for member in own if not is_on_the_page(name, member))
            assert not missing, (name, missing)


def test_every_public_name_of_thrift_is_on_the_page():
    assert {f"thrift.{name}" for name in bytewright.thrift.__all__} <= NAMES
    own = {f"thrift.Columns.{member}" for member in dir(bytewright.thrift.Columns) if not member.startswith("_")}
    assert own <= NAMES
