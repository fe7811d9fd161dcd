"""Goal: messages become the objects that their IDL says, and back, and bad ones are told with their place.

Method: classes of IDL in the test. What random objects are encoded to is decoded to equal ones, in both protocols; damaged
messages give an object or one of our errors.
"""

import copy
import enum
import gc
import io
import os
import pathlib
import pickle
import subprocess
import sys
import threading
import tracemalloc
import uuid

import pyarrow
import pytest
import thrift_messages
from thrift_messages import framed

import bytewright
from bytewright import thrift

ROOT = pathlib.Path(__file__).parents[2]
PROTOCOLS = ["binary", "compact"]
RICH = thrift.load(thrift_messages.IDL)
LOGS = thrift.load(ROOT / "samples" / "log.thrift")


def entry(time, host="a", city=None):
    return LOGS.Entry(time=time, host=host, place=LOGS.Place(city=city) if city else None)


# Classes of IDL.


def test_load_takes_a_path_and_a_text_and_makes_a_module_of_classes():
    assert isinstance(RICH, type(os)) and isinstance(RICH.Rich, type)
    assert thrift.load(str(ROOT / "samples" / "log.thrift")).Entry(time=1).time == 1
    inner = RICH.Inner(id=1, name="x")
    assert inner.id == 1 and inner.active is None
    assert repr(inner) == "Inner(id=1, name='x')"
    assert inner == RICH.Inner(id=1, name="x") and inner != RICH.Inner(id=2) and inner != 1


def test_objects_have_slots_and_take_only_keywords_that_are_fields():
    inner = RICH.Inner()
    assert not hasattr(inner, "__dict__")
    with pytest.raises(AttributeError):
        inner.other = 1
    with pytest.raises(TypeError):
        RICH.Inner(other=1)
    with pytest.raises(TypeError):
        RICH.Inner(1)


def test_fields_have_types():
    assert RICH.Inner.__annotations__["id"] == int | None
    assert RICH.Rich.__annotations__["by_id"] == dict[int, RICH.Inner] | None
    assert RICH.Rich.__annotations__["kind"] == RICH.Kind | int | None
    assert RICH.Rich.__match_args__[:2] == ("flag", "tiny")


def test_enums_are_int_enums_and_unknown_numbers_stay_numbers():
    assert issubclass(RICH.Kind, enum.IntEnum) and RICH.Kind.LARGE == 3
    assert thrift.decode(RICH.Rich, thrift.encode(RICH.Rich(kind=RICH.Kind.SMALL))).kind is RICH.Kind.SMALL
    kind = thrift.decode(RICH.Rich, thrift.encode(RICH.Rich(kind=9))).kind
    assert kind == 9 and type(kind) is int


def test_defaults_are_those_of_the_idl_and_each_object_has_its_own():
    made = thrift.load(
        """enum E { A = 1 }
        struct Place { 1: string city = "Bern" }
        const i32 LIMIT = 10
        struct S { 1: list<i32> numbers = [1, 2], 2: map<string, E> kinds = {"a": E.A}, 3: Place place = {"city": "Rom"},
                   4: i32 limit = LIMIT, 5: binary blob = "x", 6: set<string> tags = ["t"], 7: E e = E.A }"""
    )
    one, other = made.S(), thrift.decode(made.S, b"\0")
    for each in (one, other):
        assert each.numbers == [1, 2] and each.kinds == {"a": made.E.A} and each.place == made.Place(city="Rom")
        assert each.limit == 10 and each.blob == b"x" and each.tags == {"t"} and each.e is made.E.A
    one.numbers.append(3)
    one.place.city = "Ulm"
    assert other.numbers == [1, 2] and made.S().numbers == [1, 2] and made.S().place.city == "Rom"
    assert made.S(numbers=None).numbers is None
    assert made.LIMIT == 10


def test_included_files_are_modules(tmp_path):
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "shared.thrift").write_text("struct Place { 1: string city }")
    (tmp_path / "main.thrift").write_text('include "shared.thrift"\nstruct Entry { 1: shared.Place place }')
    made = thrift.load(tmp_path / "main.thrift", include=[tmp_path / "more"])
    entry = made.Entry(place=made.shared.Place(city="Bern"))
    assert thrift.decode(made.Entry, thrift.encode(entry)) == entry
    again = thrift.load((tmp_path / "main.thrift").read_text(), include=[tmp_path / "more"])
    assert again.Entry(place=again.shared.Place(city="Bern")).place.city == "Bern"


def test_a_fault_in_the_idl_is_told_with_its_line(tmp_path):
    with pytest.raises(bytewright.FormatError, match="IDL text.*line 2"):
        thrift.load("struct A {\n 1: nothing x }")


def test_a_file_that_is_missing_is_named_by_the_error(tmp_path):
    with pytest.raises(FileNotFoundError) as raised:
        thrift.load(tmp_path / "none.thrift")
    assert (raised.value.strerror, raised.value.filename) == ("No such file or directory", str(tmp_path / "none.thrift"))
    with pytest.raises(IsADirectoryError) as raised:
        thrift.load(tmp_path)
    assert (raised.value.strerror, raised.value.filename) == ("Is a directory", str(tmp_path))
    (tmp_path / "a.thrift").write_text("\ninclude 'b.thrift'")
    with pytest.raises(FileNotFoundError, match=r"line 2, column 9 of .*a.thrift includes it: 'b.thrift'") as raised:
        thrift.load(tmp_path / "a.thrift")
    assert raised.value.filename == "b.thrift"
    odd = tmp_path / "a\tb"
    with pytest.raises(FileNotFoundError) as raised:
        thrift.load(odd)
    assert raised.value.filename == str(odd)
    assert "\t" not in str(raised.value)


def test_words_of_python_may_be_fields_and_others_that_cannot_are_refused():
    made = thrift.load("struct S { 1: i32 from, 2: i32 self = 4 }")
    one = made.S(**{"from": 3})
    assert getattr(one, "from") == 3 and one.self == 4 and thrift.decode(made.S, thrift.encode(one)) == one
    with pytest.raises(TypeError):
        made.S(**{"none": 3})
    with pytest.raises(bytewright.ArgumentError, match="S.__class__"):
        thrift.load("struct S { 1: i32 __class__ }")


def test_unions_have_exactly_one_field():
    made = thrift.load("union U { 1: i32 number, 2: string text }")
    one = made.U(text="a")
    assert one.number is None and thrift.decode(made.U, thrift.encode(one)) == one
    for wrong in ({}, {"number": 1, "text": "a"}):
        with pytest.raises(bytewright.ArgumentError, match="one field of the union U"):
            made.U(**wrong)
    both = thrift.encode(made.U(number=1))[:-1] + thrift.encode(one)
    with pytest.raises(bytewright.FormatError, match="one field of the union U, found 2"):
        thrift.decode(made.U, both)
    one.number = 1
    with pytest.raises(bytewright.ArgumentError):
        thrift.encode(one)


def test_exceptions_can_be_raised_and_keep_their_fields():
    made = thrift.load("exception NotFound { 1: string message, 2: i32 code }")
    with pytest.raises(made.NotFound) as raised:
        raise made.NotFound(message="no such thing", code=4)
    error = raised.value
    assert str(error) == "no such thing" and isinstance(error, Exception) and isinstance(error, thrift.Struct)
    again = thrift.decode(made.NotFound, thrift.encode(error))
    assert again == error and again.code == 4 and copy.copy(error) == error
    assert str(made.NotFound(code=1)) == "NotFound(code=1)"


def test_required_fields_are_required():
    made = thrift.load("struct S { 1: required i32 number, 2: optional i32 other }")
    with pytest.raises(bytewright.ArgumentError, match="required field S.number, found None"):
        thrift.encode(made.S())
    with pytest.raises(bytewright.FormatError, match="required field S.number, found none"):
        thrift.decode(made.S, b"\0")


def test_uuids_and_frozen_keys():
    made = thrift.load("struct S { 1: uuid id, 2: set<list<i32>> lists, 3: map<set<string>, i32> sets, 4: set<P> places } struct P { 1: i32 x }")
    one = made.S(id=uuid.uuid4(), lists={(1, 2)}, sets={frozenset("ab"): 1}, places={made.P(x=1), made.P(x=1), made.P(x=2)})
    assert len(one.places) == 2
    for protocol in PROTOCOLS:
        assert thrift.decode(made.S, thrift.encode(one, protocol), protocol) == one


MAPS_AS_KEYS = """
struct S { 1: map<map<string, i32>, i32> keys, 2: set<map<i32, list<set<i32>>>> members, 3: map<list<map<i32, P>>, map<i32, i32>> deep,
           4: map<map<i32, i32>, map<i32, i32>> defaults = {{1: 2}: {3: 4}} }
struct P { 1: map<i32, list<i32>> inside }
const map<map<i32, i32>, i32> KEYS = {{1: 2}: 3}
const set<map<i32, list<i32>>> MEMBERS = [{1: [2]}, {1: [2]}]
"""


def test_maps_may_be_keys_and_in_sets():
    made, frozen = thrift.load(MAPS_AS_KEYS), thrift.FrozenDict
    place = made.P(inside={1: [2]})
    one = made.S(
        keys={frozen(k=5): 9, frozen(): 1},
        members={frozen({1: (frozenset({2}),)}), frozen({1: ()})},
        deep={(frozen({1: place}),): {1: 2}},
    )
    for protocol in PROTOCOLS:
        found = thrift.decode(made.S, thrift.encode(one, protocol), protocol)
        assert found == one and hash(found) == hash(one)
        assert found.keys[frozen(k=5)] == 9 and found.deep[(frozen({1: place}),)] == {1: 2}
        assert {type(key) for key in found.keys} == {frozen} and type(found.defaults[frozen({1: 2})]) is dict
    assert made.KEYS == {frozen({1: 2}): 3} and made.MEMBERS == {frozen({1: (2,)})}
    assert made.S.__annotations__["keys"] == dict[frozen[str, int], int] | None
    assert made.S.__annotations__["members"] == set[frozen[int, tuple[frozenset[int], ...]]] | None


def test_frozen_dicts_are_dicts_that_do_not_change():
    one = thrift.FrozenDict({2: "b", 1: "a"})
    assert one == {1: "a", 2: "b"} and hash(one) == hash(thrift.FrozenDict({1: "a", 2: "b"})) and one[2] == "b"
    for change in ("one[3] = 1", "del one[1]", "one.update(a=1)", "one.pop(1)", "one.popitem()", "one.clear()", "one.setdefault(5)", "one |= {}"):
        with pytest.raises(TypeError, match="found a FrozenDict"):
            exec(change, {"one": one})
    for again in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert type(again) is thrift.FrozenDict and again == one
    assert repr(one) == "FrozenDict({2: 'b', 1: 'a'})" and type(dict(one)) is type(one | {}) is dict
    with pytest.raises(TypeError, match="unhashable type: 'list'"):
        hash(thrift.FrozenDict({1: []}))


def test_objects_can_be_copied_and_matched():
    one = entry(1, "a", "Bern")
    other = copy.deepcopy(one)
    assert other == one and other.place is not one.place
    match one:
        case LOGS.Entry(host="a", place=LOGS.Place(city=city)):
            assert city == "Bern"
    with pytest.raises(pickle.PicklingError):
        pickle.dumps(one)


@pytest.mark.parametrize("slots", [{}, {"__slots__": ()}, {"__slots__": ("more",)}], ids=["dict", "none", "one"])
@pytest.mark.parametrize("name", ["Mine", "Entry"])
def test_derived_classes_are_read_and_written_as_those_that_they_are_derived_from(name, slots):
    derived = type(name, (LOGS.Entry,), {"where": lambda self: self.place.city, **slots})
    further = type("Further", (derived,), {})
    message = thrift.encode(entry(7, "a", "Bern"))
    for cls in (derived, further):
        found = thrift.decode(cls, message)
        assert type(found) is cls and (found.time, found.host, found.where()) == (7, "a", "Bern")
        assert type(found.place) is LOGS.Place and thrift.encode(found) == message
        assert found == thrift.decode(cls, message) != entry(7, "a", "Bern")
        assert thrift.pluck(cls, message, "time", "place.city") == (7, "Bern")
        assert thrift.columns(cls, message, "time", framed=False).columns == ("time",)


def test_objects_of_derived_classes_may_be_in_fields_and_are_made_without_their_init():
    class Place(LOGS.Place):
        def __init__(self, city):
            super().__init__(city=city)

    message = thrift.encode(entry(7, "a", "Bern"))
    assert thrift.encode(LOGS.Entry(time=7, host="a", place=Place("Bern"))) == message
    assert thrift.decode(Place, thrift.encode(Place("Bern"))).city == "Bern"


def test_derived_classes_have_required_fields_and_defaults_of_those_that_they_are_derived_from():
    given = thrift.load("struct Entry { 1: required i64 time, 2: string host = 'local', 3: list<i32> more = [1] }")
    derived = type("Derived", (given.Entry,), {})
    with pytest.raises(bytewright.FormatError, match="expected the required field Derived.time"):
        thrift.decode(derived, b"\0")
    found = thrift.decode(derived, thrift.encode(given.Entry(time=1, host=None, more=None)))
    assert (found.host, found.more) == ("local", [1])


def test_other_classes_are_refused_clearly():
    for wrong in (int, 1, None):
        with pytest.raises(TypeError, match="expected a class that load"):
            thrift.decode(wrong, b"\0")


# Messages.


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_is_encoded_is_decoded_to_the_same(protocol):
    dice = thrift_messages.dice()
    for _ in range(300):
        one = thrift_messages.rich(dice, RICH)
        message = thrift.encode(one, protocol)
        again = thrift.decode(RICH.Rich, message, protocol)
        if one.greeting is None:
            one.greeting = again.greeting
        assert again == one
        assert len(thrift.encode(again, protocol)) == len(message)
        for data in (bytearray(message), memoryview(message), message + b"more"):
            assert thrift.decode(RICH.Rich, data, protocol) == one


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_damaged_messages_give_an_object_or_an_error_of_ours(protocol):
    dice = thrift_messages.dice()
    for _ in range(2000):
        message = thrift_messages.mutated(dice, thrift.encode(thrift_messages.rich(dice, RICH), protocol))
        try:
            found = thrift.decode(RICH.Rich, message, protocol)
        except bytewright.Error as error:
            assert error.offset is not None and error.offset <= len(message), error
        except ValueError as error:
            raise AssertionError(message) from error
        else:
            assert type(found) is RICH.Rich


def test_empty_containers_of_other_elements_are_empty():
    made = thrift.load("struct S { 1: list<i32> numbers, 2: set<string> names, 3: map<i32, i32> pairs, 4: set<list<i32>> lists }")
    empty = b"\x0f\0\1\x0b\0\0\0\0\x0e\0\2\x08\0\0\0\0\x0d\0\3\x0b\x0b\0\0\0\0\x0e\0\4\x0f\0\0\0\1\x0b\0\0\0\0\0"
    assert thrift.decode(made.S, empty) == made.S(numbers=[], names=set(), pairs={}, lists={()})
    full = b"\x0f\0\1\x0b\0\0\0\1\0\0\0\1a\0"
    assert thrift.decode(made.S, full) == made.S()


def test_errors_say_what_was_expected_and_where():
    with pytest.raises(bytewright.TruncatedError) as raised:
        thrift.decode(LOGS.Entry, thrift.encode(entry(1))[:-4])
    assert raised.value.offset is not None
    with pytest.raises(bytewright.FormatError, match="byte 7: expected UTF-8 in a string, found 0xff"):
        thrift.decode(LOGS.Entry, b"\x0b\0\x02\0\0\0\x01\xff\0")
    with pytest.raises(bytewright.LimitError):
        thrift.decode(thrift.load("struct N { 1: N n }").N, b"\x0c\0\x01" * 100)
    with pytest.raises(bytewright.ArgumentError, match='"binary", "compact", "header" or "json"'):
        thrift.decode(LOGS.Entry, b"\0", "text")
    with pytest.raises(TypeError, match="expected bytes"):
        thrift.decode(LOGS.Entry, "text")


@pytest.mark.parametrize(
    "field, value, error, told",
    [
        ("medium", "1", TypeError, "Rich.medium: expected int, found str '1'"),
        ("medium", 1 << 31, OverflowError, "Rich.medium: expected a number of 32 bits, found 2147483648"),
        ("tiny", -129, OverflowError, "Rich.tiny: expected a number of 8 bits, found -129"),
        ("large", 1 << 70, OverflowError, "Rich.large"),
        ("text", b"a", TypeError, "Rich.text: expected str, found bytes b'a'"),
        ("blob", "a", TypeError, "Rich.blob: expected bytes, found str 'a'"),
        ("flag", 1, TypeError, "Rich.flag: expected bool, found int 1"),
        ("real", "1", TypeError, "Rich.real: expected float, found str '1'"),
        ("strings", "abc", TypeError, "Rich.strings: expected list, found str 'abc'"),
        ("ints", 5, TypeError, "Rich.ints: expected list, found int 5"),
        ("ints", [1, None], TypeError, "Rich.ints: expected int, found NoneType None"),
        ("attributes", [1], TypeError, "Rich.attributes: expected dict, found list"),
        ("inner", {"id": 1}, TypeError, "Rich.inner: expected an object of the field's class, found dict"),
    ],
)
def test_wrong_values_are_refused_by_their_field(field, value, error, told):
    with pytest.raises(error, match=told.replace("[", r"\[")):
        thrift.encode(RICH.Rich(**{field: value}))


class Indexed:
    """Object that counts as a whole number for Python, as the numbers of numpy do."""

    def __init__(self, number):
        self.number = number

    def __index__(self):
        if isinstance(self.number, Exception):
            raise self.number
        return self.number

    def __repr__(self):
        return f"Indexed({self.number})"


@pytest.mark.parametrize("field, bits", [("tiny", 8), ("small", 16), ("medium", 32), ("large", 64), ("kind", 32)])
def test_whole_numbers_of_any_class_are_written(field, bits):
    for number in (True, Indexed(1)):
        assert thrift.encode(RICH.Rich(**{field: number})) == thrift.encode(RICH.Rich(**{field: 1}))
    for above in (Indexed(1 << bits - 1), Indexed(1 << 64), Indexed(-1 << 70)):
        with pytest.raises(OverflowError, match=rf"Rich.{field}: expected a number of {bits} bits, found Indexed"):
            thrift.encode(RICH.Rich(**{field: above}))
    with pytest.raises(KeyError, match="mine"):
        thrift.encode(RICH.Rich(**{field: Indexed(KeyError("mine"))}))


def test_numbers_of_numpy_are_written_as_those_of_python():
    numpy = pytest.importorskip("numpy")
    made = thrift.load("struct S { 1: i64 a, 2: list<i32> b, 3: map<i16, i64> c, 4: set<byte> d, 5: bool e, 6: double f }")
    ours = made.S(a=1, b=[0, 1, 2], c={1: 2}, d={3}, e=True, f=0.5)
    one = made.S(a=numpy.uint64(1), b=numpy.arange(3), c={numpy.int8(1): numpy.int64(2)}, d={numpy.uint8(3)}, e=numpy.bool_(True), f=numpy.float32(0.5))
    assert thrift.encode(one) == thrift.encode(ours)
    with pytest.raises(OverflowError, match="S.a: expected a number of 64 bits"):
        thrift.encode(made.S(a=numpy.uint64(1 << 63)))


def test_a_number_that_is_no_double_says_why():
    with pytest.raises(OverflowError, match="too large"):
        thrift.encode(RICH.Rich(real=10**400))
    with pytest.raises(KeyError, match="mine"):
        thrift.encode(RICH.Rich(real=Indexed(KeyError("mine"))))


def test_containers_of_other_kinds_are_written_too():
    one = RICH.Rich(ints=range(3), tags=("a",), attributes={"a": "b"}.items().mapping, blobs=(bytearray(b"x"),))
    assert thrift.decode(RICH.Rich, thrift.encode(one)) == RICH.Rich(ints=[0, 1, 2], tags={"a"}, attributes={"a": "b"}, blobs=[b"x"])


def test_what_holds_itself_is_refused():
    made = thrift.load("struct N { 1: N n, 2: list<N> all }")
    one = made.N()
    one.n = one
    with pytest.raises(bytewright.LimitError):
        thrift.encode(one)
    one.n, one.all = None, []
    one.all.append(one)
    with pytest.raises(bytewright.LimitError):
        thrift.encode(one)


def test_containers_that_change_while_they_are_written_are_noticed():
    class Sly:
        def __init__(self, act):
            self.act = act

        def __index__(self):
            self.act()
            return 1

    attributes = {1: RICH.Inner()}
    numbers = [Sly(lambda: numbers.clear()), 2, 3]
    with pytest.raises(bytewright.ArgumentError, match="as many elements"):
        thrift.encode(RICH.Rich(ints=numbers))
    made = thrift.load("struct S { 1: map<i32, i32> m }")
    attributes = {1: Sly(lambda: attributes.update({5: 6, 7: 8})), 2: 3}
    with pytest.raises(RuntimeError, match="stays as it is"):
        thrift.encode(made.S(m=attributes))


def test_pluck_takes_some_fields_by_their_paths():
    message = thrift.encode(entry(7, "a", "Bern"))
    assert thrift.pluck(LOGS.Entry, message, "place.city", "time") == ("Bern", 7)
    assert thrift.pluck(LOGS.Entry, thrift.encode(entry(7)), "place.city", "host") == (None, "a")
    assert thrift.pluck(LOGS.Entry, thrift.encode(entry(7), "compact"), "time", protocol="compact") == (7,)
    rich = RICH.Rich(kind=2, inners=[RICH.Inner(id=1)])
    assert thrift.pluck(RICH.Rich, thrift.encode(rich), "kind", "inners") == (RICH.Kind.MEDIUM, [RICH.Inner(id=1)])
    with pytest.raises(bytewright.ArgumentError, match="expected a field of Place"):
        thrift.pluck(LOGS.Entry, message, "place.none")


def test_errors_in_a_loop_leave_no_memory_behind():
    messages = [b"\x0b\0\x02\0\0\0\x01\xff\0", b"\x08", b"\x0b\0\x02\x7f\xff\xff\xff\0"]

    def fail(count):
        for _ in range(count):
            for message in messages:
                with pytest.raises(bytewright.Error):
                    thrift.decode(LOGS.Entry, message)
                with pytest.raises(bytewright.Error):
                    list(thrift.decode_many(LOGS.Entry, framed([message])))

    tracemalloc.start()
    # So many that what Python itself keeps for later, or gives back later, is there before.
    fail(1500)
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    fail(1500)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 50_000


def test_objects_hold_what_they_have_and_nothing_else_does():
    value = RICH.Rich(ints=[10**6, 10**6 + 1], text="a text that nobody else has", inner=RICH.Inner(id=1))
    message = thrift.encode(value)
    before = None
    for _ in range(3):
        found = [thrift.decode(RICH.Rich, message) for _ in range(1000)]
        for each in found:
            assert each == value if before is None else True
            each.text = each.inner = None
        del found, each
        gc.collect()
        count = len(gc.get_objects())
        assert before is None or count - before < 100
        before = count


def test_classes_that_nobody_has_are_collected():
    gc.collect()
    before = len([each for each in gc.get_objects() if isinstance(each, type)])
    for _ in range(20):
        made = thrift.load("enum E { A = 1 } struct S { 1: E e, 2: list<S> all = [] }")
        thrift.decode(made.S, thrift.encode(made.S(e=1)))
    del made
    gc.collect()
    assert len([each for each in gc.get_objects() if isinstance(each, type)]) - before < 6


# Many messages.


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("is_framed", [True, False])
def test_messages_of_bytes_files_and_objects_are_read_one_by_one(protocol, is_framed, tmp_path):
    entries = [entry(time, "h" * (time % 50), "Bern" if time % 3 else None) for time in range(3000)]
    messages = [thrift.encode(each, protocol) for each in entries]
    data = framed(messages) if is_framed else b"".join(messages)
    path = tmp_path / "messages"
    path.write_bytes(data)
    sources = [data, memoryview(data), path, str(path), io.BytesIO(data), open(path, "rb"), Slow(data)]
    for source in sources:
        assert list(thrift.decode_many(LOGS.Entry, source, protocol, is_framed)) == entries, source
    sources[5].close()


class Slow:
    """A file object that gives a few bytes at a time."""

    def __init__(self, data):
        self.file = io.BytesIO(data)

    def read(self, count):
        return self.file.read(min(count, 777))


def test_compressed_files_are_decompressed(tmp_path):
    import gzip

    path = tmp_path / "messages.gz"
    path.write_bytes(gzip.compress(framed([thrift.encode(entry(time)) for time in range(100)])))
    assert [each.time for each in thrift.decode_many(LOGS.Entry, path)] == list(range(100))
    assert pyarrow.table(thrift.columns(LOGS.Entry, path, "time"))["time"].to_pylist() == list(range(100))


def test_a_message_of_a_pipe_is_given_when_it_is_there():
    read, write = os.pipe()
    with os.fdopen(read, "rb") as reader, os.fdopen(write, "wb", buffering=0) as writer:
        messages = thrift.decode_many(LOGS.Entry, reader)
        for time in range(3):
            writer.write(framed([thrift.encode(entry(time))]))
            assert next(messages).time == time
        threading.Timer(0.05, writer.close).start()
        assert list(messages) == []


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_messages_before_damage_are_given_first(protocol):
    good = [thrift.encode(entry(time), protocol) for time in range(3)]
    data = framed(good)
    bad = framed([b"\xff\xff\xff"])
    for rest, kind in ((bad, bytewright.FormatError), (data[:-1], bytewright.TruncatedError), (b"\xff" * 9, bytewright.FormatError)):
        given = []
        with pytest.raises((kind, bytewright.TruncatedError)) as raised:
            for each in thrift.decode_many(LOGS.Entry, data + rest, protocol):
                given.append(each.time)
        assert given[:3] == [0, 1, 2] and raised.value.offset >= len(data)
        rows = []
        with pytest.raises((kind, bytewright.TruncatedError)):
            for row in thrift.columns(LOGS.Entry, data + rest, "time", "host", protocol=protocol):
                rows.append(row)
        assert rows[:3] == [(0, "a"), (1, "a"), (2, "a")]


def test_an_iterator_is_over_after_an_error():
    messages = thrift.decode_many(LOGS.Entry, b"\0\0")
    with pytest.raises(bytewright.TruncatedError):
        next(messages)
    assert list(messages) == []


def test_what_an_object_raises_is_raised():
    class Broken:
        def read(self, _count):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        list(thrift.decode_many(LOGS.Entry, Broken()))
    with pytest.raises(TypeError, match="expected bytes, a path, or a binary file object, found int"):
        thrift.decode_many(LOGS.Entry, 5)


# Columns.


def test_columns_are_what_objects_have(tmp_path):
    dice = thrift_messages.dice()
    paths = ["flag", "tiny", "small", "medium", "large", "real", "text", "blob", "kind", "inner.name", "inner.active", "far"]
    objects = [thrift_messages.rich(dice, RICH) for _ in range(1000)]
    for protocol in PROTOCOLS:
        data = framed([thrift.encode(each, protocol) for each in objects])
        expected = [
            tuple(getattr(each.inner if "." in path else each, path.split(".")[-1], None) for path in paths) for each in objects
        ]
        columns = thrift.columns(RICH.Rich, data, *paths, protocol=protocol, rows=300)
        assert columns.columns == tuple(paths)
        assert list(columns) == expected and list(columns) == expected
        assert [len(batch) for batch in columns.batches()] == [300, 300, 300, 100]
        table = pyarrow.table(columns)
        assert list(zip(*(column.to_pylist() for column in table.columns))) == expected
        assert table.schema == pyarrow.schema(columns)
        assert list(thrift.columns(RICH.Rich, io.BytesIO(data), *paths, protocol=protocol)) == expected
        assert pyarrow.table(thrift.columns(RICH.Rich, Slow(data), *paths, protocol=protocol)).num_rows == 1000


def test_columns_have_arrow_types():
    schema = pyarrow.schema(thrift.columns(RICH.Rich, b"", "flag", "tiny", "large", "real", "text", "blob", "kind"))
    assert [str(field.type) for field in schema] == ["bool", "int8", "int64", "double", "large_string", "large_binary", "int32"]
    assert pyarrow.table(thrift.columns(RICH.Rich, b"", "flag")).num_rows == 0


def test_wrong_columns_are_refused():
    with pytest.raises(bytewright.ArgumentError, match="in each other, found strings"):
        thrift.columns(RICH.Rich, b"", "ints[]", "strings[]")
    with pytest.raises(bytewright.ArgumentError, match="rows above 0"):
        thrift.columns(RICH.Rich, b"", "flag", rows=0)
    with pytest.raises(FileNotFoundError):
        list(thrift.columns(RICH.Rich, "/none", "flag"))


def test_damage_comes_out_of_an_arrow_stream_after_what_is_good():
    data = framed([thrift.encode(entry(1))]) + b"\0"
    reader = pyarrow.RecordBatchReader.from_stream(thrift.columns(LOGS.Entry, data, "time"))
    assert reader.read_next_batch().num_rows == 1
    with pytest.raises(Exception, match="expected.*the length of a frame"):
        reader.read_next_batch()


def test_the_module_is_there_by_its_name_and_imported_late():
    code = "import sys, bytewright; assert 'bytewright.thrift' not in sys.modules; bytewright.thrift.load('struct A {}').A()"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        bytewright.nothing


def test_interrupts_end_a_loop_that_runs_no_code_of_python():
    code = """
import bytewright.thrift as thrift, signal, sys
made = thrift.load("struct A { 1: i32 x }")
message = thrift.encode(made.A(x=1))
data = (len(message).to_bytes(4, "big") + message) * 20_000_000
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, 0.05)
import collections
try:
    collections.deque(thrift.decode_many(made.A, data), maxlen=0)
except KeyboardInterrupt:
    sys.exit(7)
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == 7


def test_names_that_are_words_of_python_have_an_underscore_behind():
    idl = """
        enum pass { def = 1, None = 2, is = 3, is_ = 4 }
        const i32 import = 5
        const i32 lambda = 6
        const i32 lambda_ = 7
        struct class { 1: i32 from = 3, 2: pass in, 3: i32 or, 4: i32 or_ }
    """
    made = thrift.load(idl)
    assert made.pass_.def_ is made.pass_["def"] and made.pass_.None_ == 2 and (made.pass_.is_, made.pass_["is"]) == (4, 3)
    assert (made.import_, made.lambda_, getattr(made, "lambda")) == (5, 7, 6) and made.class_ is getattr(made, "class")
    entry = made.class_(in_=made.pass_.None_, or_=9)
    assert (entry.from_, getattr(entry, "from"), entry.in_, entry.or_, getattr(entry, "or")) == (3, 3, 2, 9, None)
    entry.from_ = 4
    assert entry == made.class_(**{"from": 4, "in": 2, "or_": 9}) == thrift.decode(made.class_, thrift.encode(entry))
    assert thrift.pluck(made.class_, thrift.encode(entry), "from") == (4,)
    with pytest.raises(TypeError, match="which are one field"):
        made.class_(**{"from": 1, "from_": 2})
    with pytest.raises(TypeError, match="unexpected keyword argument 'import_'"):
        made.class_(import_=1)


def test_a_file_that_is_not_there_is_named_in_the_error(tmp_path):
    with pytest.raises(FileNotFoundError) as raised:
        thrift.load(tmp_path / "none.thrift")
    assert raised.value.filename == str(tmp_path / "none.thrift")
