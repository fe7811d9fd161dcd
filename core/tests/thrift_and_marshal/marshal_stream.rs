//! Goal: the roots of a Marshal stream are found, taken out and changed as bytes; what is not surely
//! understood is refused, and no input does harm.
//!
//! Method: small streams, each as Ruby 3.1 wrote it; cut, mutated and hostile ones. What Ruby says of
//! random tables is in `marshal_ruby`.

use bytewright::marshal::{
    CommonEncoding, DEPTH_MAX, Edit, Hooks, Lookup, Reason, RootStream, Scalar, Way, class_names,
};

use crate::generate::seeds;

fn scan(stream: &[u8]) -> Result<RootStream, Reason> {
    RootStream::scan(stream.to_vec(), Hooks::Known).map_err(|refused| refused.why.reason)
}

fn accepted(stream: &[u8]) -> RootStream {
    scan(stream).unwrap_or_else(|why| panic!("{why} in {}", stream.escape_ascii()))
}

/// `{"a" => {"name" => "x", "size" => 1.5}, "b" => {"name" => "y", "size" => 1.5}, :c => [1.5]}`
const RECORDS: &[u8] = b"\x04\x08{\x08I\"\x06a\x06:\x06ET{\x07I\"\x09name\x06;\x00TI\"\x06x\x06;\x00T\
    I\"\x09size\x06;\x00Tf\x081.5I\"\x06b\x06;\x00T{\x07@\x08I\"\x06y\x06;\x00T@\x0a@\x0b:\x06c[\x06@\x0b";

#[test]
fn a_root_is_found_by_its_dumped_key() {
    let roots = accepted(RECORDS);
    assert_eq!(roots.root_count(), 3);
    assert_eq!(roots.find(b"\x04\x08I\"\x06a\x06:\x06ET"), Lookup::Found(0));
    assert_eq!(roots.find(b"\x04\x08I\"\x06b\x06:\x06ET"), Lookup::Found(1));
    assert_eq!(roots.find(b"\x04\x08:\x06c"), Lookup::Found(2));
    assert_eq!(roots.find(b"\x04\x08I\"\x06c\x06:\x06ET"), Lookup::Absent);
    // This text in US-ASCII and without an encoding is an equal key to Ruby.
    assert_eq!(roots.find(b"\x04\x08I\"\x06a\x06:\x06EF"), Lookup::Found(0));
    assert_eq!(roots.find(b"\x04\x08\"\x06a"), Lookup::Found(0));
    assert_eq!(roots.find(b"\x04\x08[\x00"), Lookup::Undecidable);
    assert_eq!(roots.find(b"\x04\x08f\x06-0"), Lookup::Undecidable);
    assert_eq!(roots.find(b""), Lookup::Undecidable);
}

#[test]
fn a_root_is_lifted_with_all_that_it_links_to() {
    let roots = accepted(RECORDS);
    let second =
        b"\x04\x08{\x07I\"\x09name\x06:\x06ETI\"\x06y\x06;\x00TI\"\x09size\x06;\x00Tf\x081.5";
    assert_eq!(roots.lift(1).unwrap(), second);
    assert_eq!(roots.lift(2).unwrap(), b"\x04\x08[\x06f\x081.5");
    let both = b"\x04\x08[\x07{\x07I\"\x09name\x06:\x06ETI\"\x06y\x06;\x00TI\"\x09size\x06;\x00Tf\x081.5[\x06@\x0a";
    assert_eq!(roots.lift_all(&[1, 2]).unwrap(), both);
    assert_eq!(roots.lift_all(&[2, 1]).map_err(|why| why.reason), Err(Reason::BadEdit));
    assert_eq!(roots.lift(3).map_err(|why| why.reason), Err(Reason::BadEdit));
    assert_eq!(roots.lift_keys(1..3).unwrap(), b"\x04\x08[\x07I\"\x06b\x06:\x06ET:\x06c");
}

#[test]
fn a_change_of_one_length_writes_that_root_alone() {
    let mut roots = accepted(RECORDS);
    // {:c => [2.5]}: 2.5 takes the place of a link, so it is longer.
    let spliced = roots.splice(
        &accepted(b"\x04\x08{\x06:\x06c[\x06f\x082.5"),
        &[Edit::Replace { root: 2, with: 0 }],
    );
    assert_eq!(spliced.unwrap().way, Way::Shifted);
    let spliced = roots.splice(
        &accepted(b"\x04\x08{\x06:\x06c[\x06f\x083.5"),
        &[Edit::Replace { root: 2, with: 0 }],
    );
    let spliced = spliced.unwrap();
    assert_eq!(spliced.way, Way::InPlace);
    let at = RECORDS.len() - 2 + 2;
    assert_eq!(spliced.changed.as_slice(), std::slice::from_ref(&(at..at + 1)));
    assert!(roots.bytes().ends_with(b":\x06c[\x06f\x083.5"));
    assert_eq!(roots.defect(), None);
}

#[test]
fn what_goes_is_defined_by_the_next_that_has_it() {
    let mut roots = accepted(RECORDS);
    let spliced = roots.splice(&accepted(b"\x04\x08{\x00"), &[Edit::Delete { root: 0 }]).unwrap();
    assert_eq!(spliced.way, Way::Rewritten);
    let expected = b"\x04\x08{\x07I\"\x06b\x06:\x06ET{\x07I\"\x09name\x06;\x00TI\"\x06y\x06;\x00T\
        I\"\x09size\x06;\x00Tf\x081.5:\x06c[\x06@\x0b";
    assert_eq!(roots.bytes(), expected);
    assert_eq!(roots.defect(), None);
}

#[test]
fn roots_that_share_an_object_are_a_group() {
    // s = "s"; {1 => s, 2 => [s], 3 => 4}
    let mut roots = accepted(b"\x04\x08{\x08i\x06I\"\x06s\x06:\x06ETi\x07[\x06@\x06i\x08i\x09");
    assert_eq!(roots.group(1), [0, 1]);
    assert_eq!(roots.group(2), [2]);
    assert_eq!(roots.lift_all(&[0, 1]).unwrap(), b"\x04\x08[\x07I\"\x06s\x06:\x06ET[\x06@\x06");
    let split =
        roots.splice(&accepted(b"\x04\x08{\x06i\x06T"), &[Edit::Replace { root: 0, with: 0 }]);
    assert_eq!(split.map_err(|why| why.reason), Err(Reason::SplitGroup));
}

#[test]
fn edits_that_do_not_fit_are_refused() {
    let change = accepted(b"\x04\x08{\x06:\x06cT");
    for (edits, reason) in [
        (&[][..], Reason::BadEdit),
        (&[Edit::Replace { root: 9, with: 0 }], Reason::BadEdit),
        (&[Edit::Replace { root: 0, with: 0 }], Reason::BadEdit),
        (&[Edit::Replace { root: 2, with: 1 }], Reason::BadEdit),
        (&[Edit::Append { with: 0 }], Reason::UncertainKey),
        (&[Edit::Delete { root: 2 }, Edit::Replace { root: 2, with: 0 }], Reason::BadEdit),
    ] {
        let mut roots = accepted(RECORDS);
        let result = roots.splice(&change, edits);
        assert_eq!(result.map_err(|why| why.reason), Err(reason), "{edits:?}");
        assert_eq!(roots.bytes(), RECORDS);
    }
}

#[test]
fn what_dumping_would_not_write_is_refused() {
    for (stream, reason) in [
        (&b"\x04\x08{\x00\x00"[..], Reason::Trailing),
        (b"\x04\x07{\x00", Reason::Version),
        (b"\x04\x08[\x00", Reason::NotAPlainHash),
        (b"\x04\x08C:\x08Map{\x00", Reason::NotAPlainHash),
        (b"\x04\x08C:\x09Hash{\x00", Reason::NotAPlainHash),
        (b"\x04\x08I{\x00\x06:\x07@ai\x06", Reason::NotAPlainHash),
        (b"\x04\x08}\x000", Reason::NotCanonical),
        // A link from a value to a key, and from a key to a value: loading makes two Strings of them.
        (b"\x04\x08{\x06I\"\x06k\x06:\x06ET@\x06", Reason::NotCanonical),
        (b"\x04\x08{\x07i\x06I\"\x06k\x06:\x06ET@\x06T", Reason::NotCanonical),
        // Equal keys of two Hashes, each in full.
        (b"\x04\x08{\x07i\x06{\x06\"\x06aTi\x07{\x06\"\x06aT", Reason::NotCanonical),
        (b"\x04\x08{\x07i\x06f\x081.5i\x07f\x081.5", Reason::NotCanonical),
        (b"\x04\x08{\x06i\x06f\x091.50", Reason::NotCanonical),
        (b"\x04\x08{\x06i\x01\x05T", Reason::NotCanonical),
        (b"\x04\x08{\x06i\x06l+\x07\x01\x00\x00\x00", Reason::NotCanonical),
        (b"\x04\x08{\x07:\x06aT:\x06aT", Reason::NotCanonical),
        (b"\x04\x08{\x07:\x06aT;\x00T", Reason::EqualKeys),
        (b"\x04\x08{\x06T{\x07i\x06Ti\x06T", Reason::EqualKeys),
        (b"\x04\x08{\x06TC:\x09Hash{\x00", Reason::SpecialHash),
        (b"\x04\x08{\x06TI{\x00\x06:\x06KT", Reason::SpecialHash),
        (b"\x04\x08{\x06TU:\x08Own[\x00", Reason::UserHook),
        (b"\x04\x08{\x06To:\x08Bad\x06:\x09mesg0", Reason::HiddenVariable),
        (b"\x04\x08{\x06[\x00@\x06", Reason::SharedKey),
        (b"\x04\x08{\x06T@\x00", Reason::NotCanonical),
        (b"\x04\x08{\x06T@\x06", Reason::DanglingLink),
        (b"\x04\x08{\x06T;\x00", Reason::DanglingLink),
        (b"\x04\x08{\x06Td:\x06D[\x00", Reason::UnknownType(b'd')),
        (b"\x04\x08{\x06T[\x04\xff\xff\xff\x7f", Reason::Count),
        (b"\x04\x08{\x04\xff\xff\xff\x7f", Reason::Count),
        (b"\x04\x08{\xfa", Reason::Count),
    ] {
        assert_eq!(scan(stream).map(drop), Err(reason), "{}", stream.escape_ascii());
    }
}

#[test]
fn known_classes_and_trusted_ones_are_accepted() {
    // {1 => Time.at(0).utc, 2 => Rational(1, 2)}
    accepted(b"\x04\x08{\x07i\x06Iu:\x09Time\x0d \x80\x11\xc0\x00\x00\x00\x00\x06:\x09zoneI\"\x08UTC\x06:\x06EFi\x07U:\x0dRational[\x07i\x06i\x07");
    let own = b"\x04\x08{\x06TU:\x08Own[\x00".to_vec();
    assert!(RootStream::scan(own, Hooks::Trusted).is_ok());
}

#[test]
fn a_cut_stream_is_refused() {
    for len in 0..RECORDS.len() {
        assert!(scan(&RECORDS[..len]).is_err(), "{len}");
    }
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| {
        let mut stream = b"\x04\x08{\x06T".to_vec();
        stream.extend(b"[\x06".repeat(depth));
        stream.push(b'0');
        stream
    };
    let roots = accepted(&nested(DEPTH_MAX as usize));
    assert_eq!(roots.lift(0).unwrap().len(), 3 + 2 * DEPTH_MAX as usize);
    assert_eq!(scan(&nested(DEPTH_MAX as usize + 1)).map(drop), Err(Reason::Depth));
    assert_eq!(scan(&nested(1_000_000)).map(drop), Err(Reason::Depth));
}

#[test]
fn no_mutant_does_harm() {
    seeds(20_000, |random| {
        let mut stream = RECORDS.to_vec();
        for _ in 0..=random.below(4) {
            let at = random.below(stream.len());
            match random.below(3) {
                0 => stream[at] = random.byte(),
                1 => stream[at] = random.pick(b"0TFi:;\"Iflcm[{}oSuU/@eC\x00\x05\x06\x07\x08"),
                _ => {
                    let copied = stream[at..].to_vec();
                    let to = random.below(stream.len());
                    stream.splice(to..to, copied.into_iter().take(6));
                }
            }
        }
        let Ok(mut roots) = RootStream::scan(stream, Hooks::Trusted) else { return };
        for root in 0..roots.root_count() {
            roots.lift_all(&roots.group(root)).expect("a group is lifted");
        }
        roots.lift_keys(0..roots.root_count()).expect("keys are lifted");
        if roots.root_count() > 0 {
            let group = roots.group(random.below(roots.root_count()));
            let edits: Vec<Edit> = group.into_iter().map(|root| Edit::Delete { root }).collect();
            roots.splice(&accepted(b"\x04\x08{\x00"), &edits).expect("a group is deleted");
            assert_eq!(roots.defect(), None);
        }
    });
}

/// `{"a" => "x", :b => 7, "c" => nil, "d" => "\xff".b, "e" => [1.5], "f" => 1.5, "g" => 2**40, :h => :b}`
const SCALARS: &[u8] =
    b"\x04\x08{\x0dI\"\x06a\x06:\x06ETI\"\x06x\x06;\x00T:\x06bi\x0cI\"\x06c\x06;\x00T0\
    I\"\x06d\x06;\x00T\"\x06\xffI\"\x06e\x06;\x00T[\x06f\x081.5I\"\x06f\x06;\x00T@\x0d\
    I\"\x06g\x06;\x00Tl+\x08\x00\x00\x00\x00\x00\x01:\x06h;\x06";

#[test]
fn values_and_keys_that_are_scalars_are_told() {
    let roots = accepted(SCALARS);
    let values: Vec<_> = (0..roots.root_count()).map(|root| roots.scalar(root)).collect();
    let expected = [
        Some(Scalar::String(b"x", CommonEncoding::Utf8)),
        Some(Scalar::Integer(7)),
        Some(Scalar::Nil),
        Some(Scalar::String(b"\xff", CommonEncoding::Binary)),
        None,
        Some(Scalar::Float(1.5)),
        Some(Scalar::Integer(1 << 40)),
        Some(Scalar::Symbol(b"b", CommonEncoding::Binary)),
    ];
    assert_eq!(values, expected);
    assert_eq!(roots.scalar(8), None);
    assert_eq!(roots.scalar_key(0), Some(Scalar::String(b"a", CommonEncoding::Utf8)));
    assert_eq!(roots.scalar_key(1), Some(Scalar::Symbol(b"b", CommonEncoding::Binary)));
    assert_eq!(roots.scalar_key(8), None);
    assert_eq!(roots.find_text(Scalar::String(b"f", CommonEncoding::Utf8)), Lookup::Found(5));
    assert_eq!(roots.find_text(Scalar::Symbol(b"f", CommonEncoding::Binary)), Lookup::Absent);
    assert_eq!(roots.find_text(Scalar::Nil), Lookup::Undecidable);
}

#[test]
fn a_time_is_no_scalar_though_its_zone_is_a_text() {
    let roots = accepted(b"\x04\x08{\x06i\x06Iu:\x09Time\x0d \x80\x11\xc0\x00\x00\x00\x00\x06:\x09zoneI\"\x08UTC\x06:\x06EF");
    assert_eq!(roots.scalar(0), None);
}

#[test]
fn a_scalar_that_is_assigned_is_as_if_it_was_spliced() {
    let old_values = accepted(SCALARS);
    seeds(200, |random| {
        let mut roots = old_values.clone();
        for _ in 0..20 {
            let root = random.below(roots.root_count());
            let length = random.below(300);
            let text = random.bytes(length);
            let value = match random.below(5) {
                0 => Scalar::Nil,
                1 => Scalar::Bool(true),
                2 => Scalar::Integer(random.below(100_000) as i64 - 500),
                3 => Scalar::String(&text, CommonEncoding::Binary),
                _ => Scalar::String(&text, CommonEncoding::Utf8),
            };
            let before = roots.bytes().to_vec();
            match roots.assign(root, value) {
                Err(why) => {
                    assert_eq!(why.reason, Reason::BadEdit);
                    assert_eq!(roots.bytes(), before);
                }
                Ok(spliced) => {
                    let mut replayed = before;
                    replayed.resize(roots.bytes().len(), 0);
                    for range in spliced.changed {
                        replayed[range.clone()].copy_from_slice(&roots.bytes()[range]);
                    }
                    assert_eq!(replayed, roots.bytes(), "the ranges tell all that changed");
                    assert_eq!(roots.scalar(root), Some(value));
                }
            }
            assert_eq!(roots.defect(), None);
        }
    });
    let mut roots = old_values;
    let kinds_fit = |root, value| roots.clone().assign(root, value).is_ok();
    assert!(kinds_fit(0, Scalar::String(b"long", CommonEncoding::Utf8)));
    assert!(!kinds_fit(0, Scalar::String(b"long", CommonEncoding::UsAscii)));
    assert!(!kinds_fit(0, Scalar::Nil) && !kinds_fit(1, Scalar::Integer(1 << 40)));
    assert!(kinds_fit(2, Scalar::Integer(-1)) && !kinds_fit(4, Scalar::Nil));
    assert!(!kinds_fit(6, Scalar::Integer(1)) && !kinds_fit(7, Scalar::Nil));
    assert_eq!(roots.assign(99, Scalar::Nil).map_err(|why| why.reason), Err(Reason::BadEdit));
}

#[test]
fn all_classes_that_loading_looks_up_are_named() {
    let names = |stream: &[u8]| {
        let names = class_names(stream).map_err(|why| why.reason)?;
        Ok(names.into_iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    };
    let found: Result<Vec<String>, Reason> = names(RECORDS);
    assert_eq!(found, Ok(vec![]));
    // An object, a Struct, one with its own bytes, one with another in its place, a String of a class,
    // an extended one, a class, a module; a link to a name; a name with an encoding.
    let all: &[&[u8]] = &[
        b"o:\x06A\x06:\x07@xi\x06",
        b"S:\x06B\x06:\x06xi\x06",
        b"Iu:\x06C\x06x\x06:\x06ET",
        b"U:\x06D[\x00",
        b"IC:\x06F\"\x06x\x06;\x08T",
        b"e:\x06Go;\x00\x00",
        b"c\x06H",
        b"m\x06I",
        b"oI:\x06J\x06;\x08T\x00",
        b"}\x06i\x06o:\x06K\x00o:\x06L\x00",
        b"I/\x06x\x00\x06;\x08F",
        b"l+\x07\x00\x00\x00\x40",
        b"f\x081.5",
    ];
    let mut stream = b"\x04\x08[".to_vec();
    stream.push(all.len() as u8 + 5);
    stream.extend(all.concat());
    let expected = ["A", "B", "C", "D", "F", "G", "H", "I", "J", "K", "L"].map(str::to_owned);
    assert_eq!(names(&stream), Ok(expected.to_vec()));
    for cut in 0..stream.len() {
        assert!(names(&stream[..cut]).is_err(), "cut at {cut}");
    }
    assert_eq!(names(b"\x04\x09["), Err(Reason::Version));
    assert_eq!(names(b"\x04\x08?"), Err(Reason::UnknownType(b'?')));
    assert_eq!(names(b"\x04\x08o;\x00\x00"), Err(Reason::DanglingLink));
    assert_eq!(names(b"\x04\x08[\xff\x00"), Err(Reason::Count));
    // A count that nothing stands behind takes no time, and nesting no memory but for its bytes.
    assert_eq!(names(b"\x04\x08[\x04\xff\xff\xff\x7f"), Err(Reason::Truncated));
    let deep = [b"\x04\x08".to_vec(), b"[\x06".repeat(100_000), b"0".to_vec()].concat();
    assert_eq!(names(&deep), Ok(vec![]));
}

#[test]
fn a_hundred_thousand_roots_that_share_one_string_are_one_group() {
    // {0 => s, 1 => s, ...}
    let count = 100_000_u32;
    let mut stream = b"\x04\x08{\x03".to_vec();
    stream.extend(&count.to_le_bytes()[..3]);
    for number in 0..count {
        stream.extend(b"i\x03");
        stream.extend(&(number + 0x10000).to_le_bytes()[..3]);
        stream.extend(if number == 0 { &b"\"\x06s"[..] } else { &b"@\x06"[..] });
    }
    let mut roots = RootStream::scan(stream, Hooks::Known).unwrap();
    let all: Vec<usize> = (0..count as usize).collect();
    assert_eq!(roots.group(5), all);
    assert!(roots.shares(count as usize - 1));
    roots.lift_all(&all).unwrap();
    assert_eq!(roots.lift_all(&all[1..]).unwrap_err().reason, Reason::SplitGroup);
    let same = roots.clone();
    let edits: Vec<Edit> = all.iter().map(|&root| Edit::Replace { root, with: root }).collect();
    assert!(roots.splice(&same, &edits).unwrap().changed.is_empty());
}
