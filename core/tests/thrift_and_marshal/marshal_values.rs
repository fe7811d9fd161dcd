//! Goal: the values of a Marshal stream can be had without a host: each kind is what it is, damage is
//! named with its place and costs nothing that stands before it, and no bytes do harm.
//!
//! Method: bytes that `Marshal.dump` writes, written out here; each of them cut and changed at every
//! byte. The command's own tests show the values as text.

use bytewright::ErrorKind;
use bytewright::marshal::{
    Hooks, MarshalForm, NESTING_MAX, RootStream, Roots, TextEncoding, ValueId, Values,
};

/// Streams that `Marshal.dump` writes for a value of each kind.
const DUMPS: &[&[u8]] = &[
    b"\x04\x080",
    b"\x04\x08[\x07TF",
    b"\x04\x08[\x08i\x00i\x7fi\x01{",
    b"\x04\x08l-\x08\x00\x00\x00\x00\x00\x01",
    b"\x04\x08[\x07f\x081.5@\x06",
    b"\x04\x08[\x07:\x06a;\x00",
    b"\x04\x08\"\x07\xff\x00",
    b"\x04\x08I\"\x06a\x06:\x06ET",
    b"\x04\x08I\"\x06a\x07:\x06EF:\x07@xi\x06",
    b"\x04\x08[\x07I\"\x07\x81@\x06:\x0dencoding\"\x0eShift_JISI\"\x06b\x06;\x00@\x07",
    b"\x04\x08I/\x06a\x01\x06:\x06EF",
    b"\x04\x08[\x07c\x0bStringm\x0fComparable",
    b"\x04\x08[\x07[\x00@\x06",
    b"\x04\x08{\x06:\x06ai\x06",
    b"\x04\x08}\x06:\x06ai\x06i\x07",
    b"\x04\x08S:\x06P\x06:\x09townI\"\x06x\x06:\x06ET",
    b"\x04\x08o:\x0aPoint\x06:\x07@xi\x06",
    b"\x04\x08Iu:\x09Time\x0d \x80\x11\xc0\x00\x00\x00\x00\x06:\x09zoneI\"\x08UTC\x06:\x06EF",
    b"\x04\x08U:\x0dRational[\x07i\x08i\x06",
    b"\x04\x08e:\x0fEnumerableo:\x0bObject\x00",
    b"\x04\x08C:\x08Sub[\x06i\x06",
];

fn form(dump: &[u8]) -> (Values, MarshalForm) {
    let values = Values::decode(dump.to_vec()).unwrap();
    assert_eq!(values.end(), dump.len(), "{dump:?}");
    let form = values.get(values.root()).unwrap().form.clone();
    (values, form)
}

#[test]
fn each_kind_of_value_is_taken_apart_to_its_end() {
    for dump in DUMPS {
        form(dump);
    }
}

#[test]
fn links_lead_to_the_very_value_that_they_name() {
    let (_, MarshalForm::Array(elements)) = form(b"\x04\x08[\x07[\x00@\x06") else { panic!() };
    assert_eq!(elements[0], elements[1]);
    // An Array in itself.
    let (values, MarshalForm::Array(elements)) = form(b"\x04\x08[\x06@\x00") else { panic!() };
    assert_eq!(elements, [values.root()]);
    // An object with bytes of its own takes its number after its variables.
    let dump = b"\x04\x08[\x08Iu:\x06T\x06x\x06:\x07@aI\"\x06y\x06:\x06ET@\x07@\x06";
    let (values, MarshalForm::Array(elements)) = form(dump) else { panic!() };
    assert_eq!(elements[0], elements[1]);
    assert!(matches!(values.get(elements[2]).unwrap().form, MarshalForm::String { .. }));
}

#[test]
fn encodings_are_told_by_their_variables_and_kept_out_of_them() {
    let (values, text) = form(b"\x04\x08I\"\x06a\x07:\x06EF:\x07@xi\x06");
    assert!(matches!(text, MarshalForm::String { encoding: TextEncoding::UsAscii, .. }));
    let root = values.get(values.root()).unwrap();
    let variables = &root.rare.as_ref().unwrap().variables;
    assert_eq!(variables.len(), 1);
    assert_eq!(values.symbol(variables[0].0), b"@x");

    let dump =
        b"\x04\x08[\x07I\"\x07\x81\x40\x06:\x0dencoding\"\x0eShift_JISI\"\x06b\x06;\x00@\x07";
    let (values, MarshalForm::Array(elements)) = form(dump) else { panic!() };
    for element in elements {
        let MarshalForm::String { encoding: TextEncoding::Named(name), .. } =
            values.get(element).unwrap().form
        else {
            panic!()
        };
        let MarshalForm::String { text, .. } = &values.get(name).unwrap().form else { panic!() };
        assert_eq!(values.bytes(text), b"Shift_JIS");
    }
}

#[test]
fn a_stream_that_is_cut_says_where() {
    for dump in DUMPS {
        for len in 0..dump.len() {
            let error = Values::decode(dump[..len].to_vec()).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Truncated { .. }), "{dump:?} {len}: {error}");
            assert!(error.offset().unwrap() <= len as u64);
        }
    }
}

#[test]
fn any_byte_may_be_any_other() {
    for dump in DUMPS {
        for at in 0..dump.len() {
            for byte in 0..=255 {
                let mut changed = dump.to_vec();
                changed[at] = byte;
                let _ = Values::decode(changed.clone());
                let _ = Values::decode_hash(changed);
            }
        }
    }
}

#[test]
fn what_a_count_claims_costs_nothing_before_it_is_there() {
    let error = Values::decode(b"\x04\x08[\x04\xff\xff\xff\x3f".to_vec()).unwrap_err();
    let found = (error.kind(), error.offset());
    assert_eq!(found, (ErrorKind::Truncated { needed: 0x3fff_ffff, available: 0 }, Some(3)));
}

#[test]
fn values_may_be_nested_up_to_a_bound() {
    let nested = |depth: u32| {
        let mut dump = b"\x04\x08".to_vec();
        (1..depth).for_each(|_| dump.extend(b"[\x06"));
        dump.push(b'0');
        dump
    };
    Values::decode(nested(NESTING_MAX)).unwrap();
    let error = Values::decode(nested(NESTING_MAX + 1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    Values::decode(nested(1_000_000)).unwrap_err();
}

/// Roots of two Strings that are shared, of text, and of a Float in two roots.
const TABLE: &[u8] = b"\x04\x08{\x0aI\"\x06a\x06:\x06ET[\x06\"\x06xI\"\x06b\x06;\x00T@\x07\
    :\x06cf\x081.5i\x06f\x082.5i\x07@\x0b";

/// The keys and values as they are debugged.
fn shown(roots: &Roots<'_>) -> Vec<String> {
    let show = |values: &Values, id| match &values.get(id).unwrap().form {
        MarshalForm::String { text, .. } | MarshalForm::Float(text) => {
            String::from_utf8_lossy(values.bytes(text)).into_owned()
        }
        MarshalForm::Symbol(symbol) => String::from_utf8_lossy(values.symbol(*symbol)).into_owned(),
        MarshalForm::Array(elements) => format!("{} elements", elements.len()),
        other => format!("{other:?}"),
    };
    let keys = roots.keys(0..roots.count()).unwrap();
    let entry = |(root, &key)| {
        let value = roots.value(root).unwrap();
        format!("{}: {}", show(&keys.values, key), show(&value.values, value.ids[0]))
    };
    keys.ids.iter().enumerate().map(entry).collect()
}

#[test]
fn roots_are_the_same_with_an_index_and_without() {
    let stream = RootStream::scan(TABLE.to_vec(), Hooks::Known).unwrap();
    let (indexed, whole) =
        (Roots::indexed(&stream).unwrap(), Roots::whole(TABLE.to_vec()).unwrap());
    assert_eq!(shown(&indexed), shown(&whole));
    let roots = ["a: 1 elements", "b: 1 elements", "c: 1.5", "Integer(1): 2.5", "Integer(2): 2.5"];
    assert_eq!(shown(&whole), roots);
    assert_eq!(indexed.value_len(2, &indexed.value(2).unwrap()), Some(5));
    assert!(whole.value(5).is_err() && indexed.value(5).is_err() && indexed.keys(4..6).is_err());
}

#[test]
fn roots_before_damage_are_there_and_the_damage_is_told() {
    let mut counts = Vec::new();
    for len in 4..TABLE.len() {
        let roots = Roots::whole(TABLE[..len].to_vec()).unwrap();
        let damage = roots.damage().unwrap();
        assert!(damage.offset().unwrap() <= len as u64);
        counts.push(roots.count());
        assert_eq!(shown(&roots).len(), roots.count());
    }
    assert!(counts.is_sorted());
    assert_eq!((counts[0], counts.last().copied()), (0, Some(4)));
}

#[test]
fn what_is_no_hash_has_no_roots() {
    let error = Roots::whole(b"\x04\x08[\x00".to_vec()).unwrap_err();
    assert_eq!(error.to_string(), "byte 2: expected a Hash, found the type '['");
    let error = Roots::whole(b"\x05\x08{\x00".to_vec()).unwrap_err();
    assert_eq!(error.to_string(), "byte 0: expected a Marshal stream of version 4.8, found 5.8");
    let trailing = Roots::whole(b"\x04\x08{\x00junk".to_vec()).unwrap();
    assert_eq!((trailing.count(), trailing.trailing_len()), (0, 4));
}

#[test]
fn streams_that_are_read_together_link_to_nothing_of_each_other() {
    let symbols = b"\x04\x08[\x07:\x06a;\x00".as_slice();
    let linked = b"\x04\x08[\x07[\x00@\x06".as_slice();
    let (values, ids) = Values::decode_each([symbols, linked, symbols]).unwrap();
    let texts: Vec<String> = ids
        .iter()
        .map(|id| match &values.get(*id).unwrap().form {
            MarshalForm::Array(elements) => {
                elements.iter().map(|id| element(&values, *id)).collect()
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(texts, ["aa", "[][]", "aa"]);
    // The second one would have to look into the first, or the first into the second.
    for streams in [[symbols, b"\x04\x08;\x00"], [linked, b"\x04\x08@\x06"]] {
        assert!(Values::decode_each(streams).is_err());
    }
    let error = Values::decode_each([b"\x04\x08[\x06".as_slice(), symbols]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Truncated { .. } | ErrorKind::Format), "{error}");
}

fn element(values: &Values, id: ValueId) -> String {
    match &values.get(id).unwrap().form {
        MarshalForm::Symbol(symbol) => String::from_utf8_lossy(values.symbol(*symbol)).into_owned(),
        MarshalForm::Array(_) => "[]".to_owned(),
        other => panic!("{other:?}"),
    }
}
