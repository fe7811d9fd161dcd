"""Goal: values are integers or objects where a table is told so, a file remembers it, and nothing is lost by a wrong one.

Method: small cases for each kind of values, in memory and in files; random changes beside a dict.
"""

import marshal
import random

import pytest

import bytewright
from bytewright import HashTable, TreeTable

ENDINGS = {HashTable: "bwh", TreeTable: "bwt"}


class Fraction:
    """A codec of two parts, named by its class."""

    @staticmethod
    def dumps(value):
        return f"{value[0]}/{value[1]}"

    @staticmethod
    def loads(data):
        one, two = data.split(b"/")
        return int(one), int(two)


VALUES = {
    "integer": lambda chance: chance.randrange(-(2**63), 2**63),
    "json": lambda chance: chance.choice([None, True, 1.5, "é", [1, {"a": None}], {}]),
    "pickle": lambda chance: chance.choice([None, (1, 2), {3}, 2**80, b"x"]),
    marshal: lambda chance: chance.choice([None, (1, 2), b"x"]),
    Fraction(): lambda chance: (chance.randrange(100), 7),
}


@pytest.fixture(params=[HashTable, TreeTable])
def kind(request):
    return request.param


@pytest.mark.parametrize("values", VALUES, ids=str)
@pytest.mark.parametrize("place", ["memory", "file"])
def test_a_table_of_other_values_does_what_a_dict_does(values, place, kind, tmp_path):
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    path = tmp_path / f"table.{ENDINGS[kind]}"
    table = kind(values=values) if place == "memory" else kind.open(path, values=values)
    twin = {}
    for _ in range(300):
        key, value = str(chance.randrange(40)), VALUES[values](chance)
        match chance.randrange(6):
            case 0 | 1:
                table[key] = twin[key] = value
            case 2:
                assert table.pop(key, "none") == twin.pop(key, "none"), seed
            case 3:
                assert table.setdefault(key, value) == twin.setdefault(key, value), seed
            case 4:
                more = {str(number): VALUES[values](chance) for number in range(5)}
                table.update(more)
                twin.update(more)
            case 5:
                assert table.create(key, value) is (key not in twin), seed
                twin.setdefault(key, value)
        assert table.get(key, "none") == twin.get(key, "none"), seed
    assert table == twin and dict(table.items()) == twin and table.copy() == table == table.snapshot(), seed
    assert table.get_many(["0", "none"], 5) == [twin.get("0", 5), 5], seed
    assert all(value in list(twin.values()) for value in table.values())
    if kind is TreeTable:
        cursor = table.cursor()
        assert cursor.first() and (cursor.key, cursor.value) == table.first() == min(twin.items(), key=lambda entry: entry[0])
    key, value = table.popitem()
    assert twin.pop(key) == value and table == twin
    table.backup(tmp_path / f"copy.{ENDINGS[kind]}")
    with kind.open(tmp_path / f"copy.{ENDINGS[kind]}", values=values, read_only=True) as copied:
        assert copied == twin
    table.close()


@pytest.mark.parametrize("text", [True, False])
def test_integers_are_counted(text, kind, tmp_path):
    path = tmp_path / f"table.{ENDINGS[kind]}"
    key = "visits" if text else b"visits"
    with kind.open(path, values="integer", text=text) as table:
        assert table.increment(key) == 1 and table.increment(key, -5) == -4 and table[key] == -4
        table[key] = 2**63 - 1
        with pytest.raises(bytewright.ArgumentError, match="64 bits"):
            table.increment(key)
        assert table[key] == 2**63 - 1
        for wrong, error in (("1", TypeError), (1.0, TypeError), (None, TypeError), (2**63, OverflowError)):
            with pytest.raises(error, match="as a value|keeps int"):
                table[key] = wrong
            with pytest.raises(error):
                table.update({"a" if text else b"a": 1, key: wrong})
        assert dict(table) == {key: 2**63 - 1}


@pytest.mark.parametrize("made,opened", [("integer", "string"), ("string", "json"), ("json", "pickle"), ("pickle", "integer")])
def test_a_file_is_refused_where_it_is_opened_for_other_values(made, opened, kind, tmp_path):
    path = tmp_path / f"table.{ENDINGS[kind]}"
    kind.open(path, values=made).close()
    with pytest.raises(bytewright.FormatError, match=f"values are {opened}, found one with values: {made}"):
        kind.open(path, values=opened)
    kind.open(path, values=made).close()


def test_what_does_not_fit_the_values_is_refused(kind):
    table = kind({"a": {"b": 1}}, values="json")
    with pytest.raises(bytewright.ArgumentError, match="to increment values, found values: json"):
        table.increment("a")
    with pytest.raises(bytewright.ArgumentError, match="to append to values, found values: json"):
        table.append("a", "b")
    with pytest.raises(bytewright.ArgumentError, match="to append"):
        kind(values="integer").append("a", 1)
    with pytest.raises(TypeError, match="not JSON serializable"):
        table["a"] = object()
    assert table == {"a": {"b": 1}}
    for wrong in ("xml", 5, None, object()):
        with pytest.raises(bytewright.ArgumentError, match="expected values to be"):
            kind(values=wrong)

    class Long:
        name = "thirteen_long"
        dumps = loads = bytes

    with pytest.raises(bytewright.ArgumentError, match="a shorter name"):
        kind(values=Long())


def test_a_value_that_cannot_be_loaded_stays_in_the_table(kind):
    class Picky:
        name, dumps = "picky", str

        @staticmethod
        def loads(data):
            raise ZeroDivisionError

    table = kind({"a": "1"}, values=Picky())
    for use in (lambda: table["a"], lambda: table.pop("a"), table.popitem, lambda: list(table.values()), lambda: table.get_many("a")):
        with pytest.raises(ZeroDivisionError):
            use()
    assert list(table) == ["a"]
    table["b"] = 5
    assert len(table) == 2

    class Wrong:
        name, dumps, loads = "wrong", float, float

    with pytest.raises(TypeError, match="what dumps returned is float"):
        kind(values=Wrong())["a"] = 1


def test_a_codec_may_use_its_own_table(kind):
    class Counts:
        name, loads = "counts", bytes

        def dumps(self, value):
            self.table.get("other")
            return str(len(self.table))

    codec = Counts()
    codec.table = table = kind(values=codec)
    table["a"] = table["b"] = None
    table.update(c=None, d=None)
    assert dict(table) == {"a": b"0", "b": b"1", "c": b"2", "d": b"2"}


@pytest.mark.parametrize("kind", [HashTable, TreeTable])
def test_json_keeps_no_number_that_other_languages_cannot_read(kind):
    table = kind({"a": 1.5}, values="json")
    for wrong in (float("nan"), float("inf"), [1, {"b": float("-inf")}]):
        for change in (lambda: table.update(b=wrong), lambda: table.__setitem__("a", wrong), lambda: table.setdefault("c", wrong)):
            with pytest.raises(ValueError, match="not JSON compliant"):
                change()
    assert table == {"a": 1.5}
