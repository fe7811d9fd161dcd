"""Goal: a table does what a dict does, where it can keep what a dict keeps.

Method: CPython's own tests of mappings, where they are installed, on each kind of table: those of all mappings, with what the table
can keep in place of their values, and those of dicts that use no other keys than text.
"""

import itertools
import pickle

import pytest

from bytewright import HashTable, TreeTable

mapping_tests = pytest.importorskip("test.mapping_tests", reason="this Python was installed without its own tests")

KINDS = [HashTable, TreeTable]
TEXT = {"1": "2", "key1": "value1", "key2": "value2"}
NUMBERS = {"1": 2, "key1": 1, "key2": 3}
OBJECTS = {"1": "2", "key1": "value1", "key2": [1, None, {"a": "b"}]}
BYTES = {key.encode(): value.encode() for key, value in TEXT.items()}
#: Tests of mappings whose keys are all text, and whose values are numbers and None.
OF_OBJECTS = ["test_contains", "test_len", "test_getitem", "test_get", "test_pop", "test_bool"]


def suite(kind, in_file, reference, **options):
    """CPython's tests of a mapping, of tables that keep what `reference` has."""

    class Tables(mapping_tests.BasicTestMappingProtocol):
        type2test = kind

        @pytest.fixture(autouse=True)
        def _folder(self, tmp_path):
            self.paths = (tmp_path / f"{number}.table" for number in itertools.count())

        def _reference(self):
            return reference

        def _empty_mapping(self):
            return kind.open(next(self.paths), **options) if in_file else kind(**options)

        def test_copy(self):
            table = self._full_mapping(reference)
            assert table.copy() == table and type(table.copy()) is kind

    if reference is OBJECTS:
        for name in OF_OBJECTS if in_file else [*OF_OBJECTS, "test_popitem"]:
            setattr(Tables, name, getattr(mapping_tests.TestMappingProtocol, name))
    if reference is BYTES or reference is NUMBERS:
        # It puts text, whatever the reference is.
        Tables.test_update = lambda self: pytest.skip("CPython's test puts str")
    return Tables


for _kind, _in_file in itertools.product(KINDS, [False, True]):
    _place = f"{_kind.__name__}{'InAFile' if _in_file else ''}"
    globals()[f"Test{_place}"] = suite(_kind, _in_file, TEXT)
    globals()[f"Test{_place}OfBytes"] = suite(_kind, _in_file, BYTES, text=False)
    globals()[f"Test{_place}OfIntegers"] = suite(_kind, _in_file, NUMBERS, values="integer")
    globals()[f"Test{_place}OfJson"] = suite(_kind, _in_file, OBJECTS, values="json")
    globals()[f"Test{_place}OfPickles"] = suite(_kind, _in_file, OBJECTS, values="pickle")
    globals()[f"Test{_place}OfACodec"] = suite(_kind, _in_file, OBJECTS, values=pickle)
