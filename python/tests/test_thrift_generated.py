"""Goal: objects of generated classes are read and written as their own libraries do.

Method: classes that apache's compiler made, and classes of thriftpy2, of the same IDL; random
objects go through the library and through us, in both directions and both protocols.
"""

import pytest
import thrift_messages

import bytewright
from bytewright import thrift
from thrift_libraries import Apache, Thriftpy2

PROTOCOLS = ["binary", "compact"]
IDL = thrift_messages.IDL + 'exception Failed { 1: string message, 2: i32 code }\nstruct Empty {}\n'


@pytest.fixture(scope="module", params=["apache", "apache with slots", "thriftpy2"])
def library(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("generated")
    if request.param == "thriftpy2":
        return Thriftpy2(folder, IDL)
    return Apache(folder, IDL, "slots" if "slots" in request.param else "")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_objects_are_those_of_the_library_in_both_directions(library, protocol):
    dice, cls = thrift_messages.dice(), library.made.Rich
    for _ in range(200):
        one = thrift_messages.rich(dice, library.made, library.set_of)
        message = library.encode(one, protocol)
        expected = library.decode(cls, message, protocol)
        found = thrift.decode(cls, message, protocol)
        assert type(found) is cls and found == expected
        assert thrift.encode(one, protocol) == message
        assert library.decode(cls, thrift.encode(found, protocol), protocol) == expected


#: Empty containers of Rich whose headers name other elements: a list, a set, a map, a list in a list.
EMPTY_OF_OTHERS = {
    "binary": b"\x0f\0\x0b\x0b\0\0\0\0\x0e\0\x0e\x08\0\0\0\0\x0d\0\x10\x08\x08\0\0\0\0\x0f\0\x16\x0f\0\0\0\1\x0b\0\0\0\0\0",
    "compact": b"\xb9\x08\x3a\x05\x2b\x00\x69\x19\x08\0",
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_empty_containers_of_other_elements_are_empty(library, protocol):
    message = EMPTY_OF_OTHERS[protocol]
    found = thrift.decode(library.made.Rich, message, protocol)
    assert (found.ints, found.tags, found.attributes, found.grid) == ([], library.set_of(), {}, [[]])
    assert found == library.decode(library.made.Rich, message, protocol)


FROZEN = """
typedef map<i32, string> (python.immutable = "") Names
typedef list<i32> (python.immutable = "") Numbers
typedef map<i32, Numbers> (python.immutable = "") NumbersById
typedef list<list<i32>> (python.immutable = "") Rows
struct Frozen { 1: map<Names, i32> keys, 2: set<NumbersById> members, 3: map<i32, Names> values, 4: Rows rows }
struct Place { 1: i32 x }
struct Plain { 1: map<map<i32, string>, i32> keys, 2: set<Place> places, 3: map<Place, i32> by_place }
"""


def test_maps_that_do_not_change_are_those_of_apaches_library(tmp_path):
    from thrift import TSerialization
    from thrift.Thrift import TFrozenDict

    made = Apache(tmp_path, FROZEN).made
    names = TFrozenDict({1: "a"})
    one = made.Frozen(keys={names: 2}, members={TFrozenDict({1: (2, 3)})}, values={5: names}, rows=([1], [2]))
    message = TSerialization.serialize(one)
    assert thrift.encode(one) == message
    found = thrift.decode(made.Frozen, message)
    assert found == TSerialization.deserialize(made.Frozen(), message)
    assert found.keys[names] == 2 and type(found.values[5]) is TFrozenDict
    plain = thrift.decode(made.Plain, message[: message.index(b"\x0e\0\2")] + b"\0")
    assert plain.keys == {names: 2}, "where the library raises for want of a hash"


def test_objects_without_a_hash_are_told_where_one_is_needed(tmp_path):
    made = Apache(tmp_path, FROZEN).made
    of_key = b"\x0d\0\3\x0c\x08\0\0\0\1\x08\0\1\0\0\0\1\0\0\0\0\2\0"
    for message in (thrift.encode(made.Plain(places=[made.Place(x=1)])), of_key):
        with pytest.raises(bytewright.ArgumentError, match="expected a class with __hash__ .* found Place; define"):
            thrift.decode(made.Plain, message)


def test_maps_may_be_keys_in_classes_of_thriftpy2(tmp_path):
    import thriftpy2

    (tmp_path / "keys.thrift").write_text("struct S { 1: map<map<i32, string>, i32> keys }")
    made = thriftpy2.load(str(tmp_path / "keys.thrift"), module_name="keys_thrift")
    one = made.S(keys={thrift.FrozenDict({1: "a"}): 2})
    assert thrift.decode(made.S, thrift.encode(one)).keys == one.keys


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_true_is_written_for_a_number_as_by_the_library(library, protocol):
    one = library.made.Rich(tiny=True, small=True, medium=True, large=False, ints=[True], numbers=library.set_of([True]))
    assert thrift.encode(one, protocol) == library.encode(one, protocol)


def test_fields_that_a_message_lacks_have_their_defaults(library):
    assert thrift.decode(library.made.Rich, b"\0") == library.made.Rich()
    assert thrift.decode(library.made.Rich, b"\0").greeting == "hello"
    assert thrift.decode(library.made.Empty, b"\0") == library.made.Empty()


def test_containers_of_other_elements_are_what_thriftpy2_makes_of_them(library):
    message = b"\x0f\0\x0b\x0b\0\0\0\1\0\0\0\1a\x0e\0\x0e\x08\0\0\0\1\0\0\0\1\0"
    found = thrift.decode(library.made.Rich, message)
    if library.set_of is list:
        assert found == library.decode(library.made.Rich, message, "binary")
    else:
        assert found.ints is found.tags is None


def test_exceptions_are_made_though_they_let_nobody_set_fields(library):
    failed = library.made.Failed(message="gone", code=4)
    message = thrift.encode(failed)
    assert message == library.encode(failed, "binary")
    found = thrift.decode(library.made.Failed, message)
    assert type(found) is library.made.Failed and (found.message, found.code) == ("gone", 4)


def test_strings_that_are_not_utf_8_are_what_the_library_makes_of_them(library):
    message = b"\x0b\0\x07\0\0\0\x02a\xff\0"
    found = thrift.decode(library.made.Rich, message).text
    assert found == library.decode(library.made.Rich, message, "binary").text


def test_classes_with_an_init_of_their_own_are_called(library):
    class Counted(library.made.Inner):
        def __init__(self):
            super().__init__()
            self.name = "mine"

    if hasattr(library.made.Inner, "__slots__"):
        Counted.__eq__ = object.__eq__
    assert thrift.decode(Counted, b"\0").name == "mine"
    found = thrift.decode(Counted, thrift.encode(library.made.Inner(id=3)))
    assert type(found) is Counted and (found.id, found.name) == (3, "mine")


def test_fields_and_many_messages_are_read_without_the_library(library):
    made = library.made
    messages = [thrift.encode(made.Rich(medium=at, inner=made.Inner(id=at))) for at in range(10)]
    assert thrift.pluck(made.Rich, messages[3], "inner.id", "medium") == (3, 3)
    data = thrift_messages.framed(messages)
    assert [each.medium for each in thrift.decode_many(made.Rich, data)] == list(range(10))
    assert list(thrift.columns(made.Rich, data, "inner.id")) == [(at,) for at in range(10)]


def test_damaged_messages_give_an_object_or_an_error_of_ours(library):
    dice, cls = thrift_messages.dice(), library.made.Rich
    for _ in range(300):
        message = thrift_messages.mutated(dice, thrift.encode(thrift_messages.rich(dice, library.made, library.set_of)))
        try:
            assert type(thrift.decode(cls, message)) is cls
        except bytewright.Error as error:
            assert error.offset is not None
