//! Goal: what the core makes of a Marshal stream is, byte for byte, what Ruby makes of it.
//!
//! Method: Ruby itself answers. `oracle.rb` makes random tables and random changes of them, and says
//! what dumping gives for each value, each key and each changed table. BYTEWRIGHT_CASES sets how many
//! tables there are (300 unless told); a failure prints the seed of its table.

mod oracle;

use std::cell::RefCell;
use std::collections::HashMap;

use bytewright::marshal::{Edit, Hooks, Lookup, NotIndexable, Reason, RootStream, Way};

use crate::generate::{Random, seeds};
use oracle::Oracle;

fn cases(usual: u64) -> u64 {
    std::env::var("BYTEWRIGHT_CASES").map_or(usual, |cases| cases.parse().expect("a number"))
}

fn scan(stream: &[u8]) -> Result<RootStream, NotIndexable> {
    RootStream::scan(stream.to_vec(), Hooks::Trusted).map_err(|refused| {
        assert_eq!(refused.stream, stream, "a refused stream comes back");
        refused.why
    })
}

/// Bytes as Ruby shows them, for messages.
fn shown(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

/// Fails where the first byte differs, with what stands around it, and `what` where it is short.
#[track_caller]
fn assert_same(ours: &[u8], rubys: &[u8], what: &str) {
    if ours == rubys {
        return;
    }
    let same = ours.iter().zip(rubys).take_while(|(a, b)| a == b).count();
    let around = |bytes: &[u8]| shown(&bytes[same.saturating_sub(60)..bytes.len().min(same + 40)]);
    let what = what.get(..3000).unwrap_or(what);
    panic!("{what}\nbyte {same}\n  ours   {}\n  ruby's {}", around(ours), around(rubys));
}

#[test]
fn roots_are_lifted_and_changed_as_ruby_would() {
    let oracle = RefCell::new(Oracle::start());
    let counts: RefCell<HashMap<String, u32>> = RefCell::default();
    let count = |what: String| *counts.borrow_mut().entry(what).or_default() += 1;
    seeds(cases(300), |random| {
        let oracle = &mut *oracle.borrow_mut();
        let [first, stream] = oracle.ask(&format!("table {}", random.next() >> 1));
        if let Ok(accepted) = scan(&first) {
            assert_same(accepted.bytes(), &stream, "what is accepted is dumped alike");
        }
        let mut roots = match scan(&stream) {
            Ok(roots) => roots,
            Err(why) => return count(format!("refused: {:?}", why.reason)),
        };
        count("accepted".to_owned());
        lifts(oracle, &roots);
        for _ in 0..4 {
            let Some(way) = change(oracle, &mut roots, random) else { return };
            count(way);
        }
        lifts(oracle, &roots);
    });
    let counts = counts.into_inner();
    eprintln!("{counts:?}");
    if std::env::var("BYTEWRIGHT_SEED").is_err() {
        let refused = counts.iter().filter(|(what, _)| what.starts_with("refused"));
        let refused: u32 = refused.map(|(_, count)| count).sum();
        assert!(refused * 5 < counts["accepted"], "{counts:?}");
        for way in [Way::InPlace, Way::Shifted, Way::Rewritten] {
            assert!(counts[&format!("{way:?}")] > 20, "{counts:?}");
        }
    }
}

/// Each value alone or with its group, all keys, and the default value.
fn lifts(oracle: &mut Oracle, roots: &RootStream) {
    let count = roots.root_count();
    for root in 0..count {
        let group = roots.group(root);
        assert!(group.contains(&root) && group.is_sorted());
        if group[0] != root {
            continue;
        }
        let names: Vec<String> = group.iter().map(usize::to_string).collect();
        let [expected] = oracle.ask(&format!("lift {}", names.join(" ")));
        let values = roots
            .lift_all(&group)
            .unwrap_or_else(|why| panic!("{group:?}: {why} in {}", shown(roots.bytes())));
        assert_same(&values, &expected, &format!("lift of {group:?} in {}", shown(roots.bytes())));
        if group.len() == 1 {
            let [expected] = oracle.ask(&format!("lift_one {root}"));
            assert_same(&roots.lift(root).expect("lifted"), &expected, "lift of a value");
        } else {
            assert_eq!(roots.lift(root).map_err(|why| why.reason), Err(Reason::SplitGroup));
        }
        let [key] = oracle.ask(&format!("key {root}"));
        let found = roots.find(&key);
        assert!(
            matches!(found, Lookup::Undecidable) || found == Lookup::Found(root),
            "{found:?} for {}",
            shown(&key)
        );
    }
    let [keys] = oracle.ask("keys");
    assert_same(&roots.lift_keys(0..count).expect("keys are lifted"), &keys, "keys");
    let [default] = oracle.ask("default");
    let ours = roots.lift_default().expect("lifted").unwrap_or(b"\x04\x080".to_vec());
    assert_same(&ours, &default, "the default value");
}

/// Changes some roots as Ruby does, and says which way that went.
fn change(oracle: &mut Oracle, roots: &mut RootStream, random: &mut Random) -> Option<String> {
    let count = roots.root_count();
    let mut touched: Vec<usize> = Vec::new();
    for _ in 0..random.below(4).min(count) {
        touched.extend(roots.group(random.below(count)));
    }
    touched.sort_unstable();
    touched.dedup();
    let names: Vec<String> = touched.iter().map(usize::to_string).collect();
    let seed = random.next() >> 1;
    let [changes, edits, expected] = oracle.ask(&format!("change {seed} {}", names.join(" ")));
    let edits = parse(&String::from_utf8(edits).expect("text"));
    let result = scan(&changes).and_then(|changes| {
        let before = roots.clone();
        if std::env::var("SHOW").is_ok() {
            eprintln!(
                "SPLICE {edits:?}\n old {}\n chg {}\n exp {}",
                shown(before.bytes()),
                shown(changes.bytes()),
                shown(&expected)
            );
        }
        let spliced = roots.splice(&changes, &edits);
        if spliced.is_err() {
            assert_eq!(roots.bytes(), before.bytes(), "a refusal changes nothing");
        }
        spliced.map(|spliced| (before, spliced))
    });
    match result {
        Ok((before, spliced)) => {
            let what = format!("{edits:?} {} by {}", shown(before.bytes()), shown(&changes));
            assert_same(roots.bytes(), &expected, &format!("{:?} of {what}", spliced.way));
            assert_eq!(roots.defect(), None, "{:?} of {what}", spliced.way);
            let mut replayed = before.into_bytes();
            replayed.resize(expected.len(), 0);
            for range in &spliced.changed {
                replayed[range.clone()].copy_from_slice(&expected[range.clone()]);
            }
            assert_same(&replayed, &expected, &format!("{:?} {:?}", spliced.changed, what));
            oracle.tell("accept");
            Some(format!("{:?}", spliced.way))
        }
        Err(_) => {
            // Ruby handles it as a whole; what it writes is scanned anew.
            let [stream] = oracle.ask("settle");
            *roots = scan(&stream).ok()?;
            Some("left to Ruby".to_owned())
        }
    }
}

fn parse(edits: &str) -> Vec<Edit> {
    let numbers = |edit: &str| -> Vec<usize> {
        edit[1..].split_whitespace().map(|number| number.parse().expect("a number")).collect()
    };
    let edit = |edit: &str| match (&edit[..1], numbers(edit).as_slice()) {
        ("R", &[root, with]) => Edit::Replace { root, with },
        ("D", &[root]) => Edit::Delete { root },
        ("A", &[with]) => Edit::Append { with },
        _ => panic!("{edit}"),
    };
    edits.split(';').filter(|edit| !edit.is_empty()).map(edit).collect()
}

#[test]
fn what_is_accepted_is_dumped_alike_however_it_was_mutated() {
    let oracle = RefCell::new(Oracle::start());
    let accepted = RefCell::new(0);
    seeds(cases(300), |random| {
        let oracle = &mut *oracle.borrow_mut();
        let [_, stream] = oracle.ask(&format!("table {} plain", random.next() >> 1));
        for _ in 0..60 {
            let mut mutant = stream.clone();
            for _ in 0..=random.below(3) {
                mutate(&mut mutant, random);
            }
            if mutant == stream {
                continue;
            }
            let Ok(roots) = scan(&mutant) else { continue };
            let mut answer = oracle.round_trip(&mutant);
            if answer != mutant && answer.first() != Some(&b'!') {
                // Before 3.2, variables are written in the order in which the class met them first.
                answer = Oracle::start().round_trip(&mutant);
            }
            // Ruby decides on streams that it cannot load, or loads as an object of another class.
            if answer.first() != Some(&b'!') {
                assert_same(roots.bytes(), &answer, "a mutant");
                *accepted.borrow_mut() += 1;
            }
        }
    });
    let accepted = accepted.into_inner();
    eprintln!("{accepted} mutants accepted");
    assert!(accepted > 500 || std::env::var("BYTEWRIGHT_SEED").is_ok());
}

/// Changes a byte, or copies, moves or drops some.
fn mutate(stream: &mut Vec<u8>, random: &mut Random) {
    const TELLING: &[u8] = b"0TFi:;\"Iflcm[{}oSuU/@eC\x00\x05\x06\x07\x08\x09\x0a\x01\xff";
    let at = 2 + random.below(stream.len() - 2);
    let len = random.below(8).min(stream.len() - at);
    match random.below(6) {
        0 => stream[at] = random.byte(),
        1 | 2 => stream[at] = random.pick(TELLING),
        3 => stream[at] = stream[at].wrapping_add(random.pick(&[1, 255])),
        4 => {
            let copied = stream[at..at + len].to_vec();
            let to = 2 + random.below(stream.len() - 2);
            stream.splice(to..to, copied);
        }
        _ => drop(stream.drain(at..at + len)),
    }
    stream.resize(stream.len().max(3), b'0');
}
