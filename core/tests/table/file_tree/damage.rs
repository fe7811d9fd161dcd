//! Goal: a damaged file gives an error or whole commits, and never ends the program.
//! Method: bytes flipped, zeroed, moved and cut off in a closed file and in one that was not closed.
//! The twin of reading pages that check themselves is verifying the whole file first.

use bytewright::ErrorKind;
use bytewright::files::MemoryStorage;
use bytewright::table::Table;
use bytewright::table::file::{OpenOptions, TreeTable};

use super::{CREATE, Entries, READ, WRITE, all, harder, try_all};
use crate::generate::{Random, seeds};

fn open(bytes: Vec<u8>, options: OpenOptions) -> bytewright::Result<TreeTable> {
    TreeTable::open_storage(Box::new(MemoryStorage::new(bytes)), "memory", options)
}

/// The bytes of a closed table and of one whose process died, and what the two may hold.
fn files() -> (Vec<Vec<u8>>, Vec<Entries>) {
    let storage = MemoryStorage::default();
    let mut table = TreeTable::open_storage(Box::new(storage.clone()), "memory", CREATE).unwrap();
    let mut states = vec![Entries::new()];
    let mut unclosed = Vec::new();
    for round in 0..6_u32 {
        table.begin().unwrap();
        for number in 0..300_u32 {
            if number % (round + 2) == 0 {
                table.delete(&number.to_be_bytes()).unwrap();
            } else {
                table.put(&number.to_be_bytes(), &[round as u8; 60]).unwrap();
            }
        }
        table.put(b"long", &vec![round as u8; 20_000]).unwrap();
        table.commit().unwrap();
        states.push(all(&table));
        unclosed = storage.bytes();
    }
    drop(table);
    (vec![storage.bytes(), unclosed], states)
}

fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    // Most of a new file is room that nothing uses; many of the changes go where the header is.
    let used = bytes.iter().rposition(|byte| *byte != 0).map_or(1, |last| last + 1);
    for _ in 0..1 + random.below(3) {
        let bound = if random.once_in(2) { used.min(400) } else { used };
        let place = random.below(bound);
        match random.below(6) {
            0..=2 => bytes[place] ^= 1 << random.below(8),
            3 => bytes[place] = random.byte(),
            4 => {
                let end = (place + random.below(5_000)).min(bytes.len());
                bytes[place..end].fill(random.pick(&[0, 0xff]));
            }
            _ => {
                let (from, to) = (place / 4096 * 4096, random.below(used) / 4096 * 4096);
                let len = 4096.min(bytes.len() - from.max(to));
                bytes.copy_within(from..from + len, to);
            }
        }
    }
    if random.once_in(15) {
        bytes.truncate(random.below(bytes.len()));
    }
}

// Promise (tree-table-file): Damage is an error, never another value, and ends no program.
#[test]
fn a_damaged_file_gives_an_error_or_whole_commits() {
    let (files, states) = files();
    let mut refused = 0;
    let mut check = |bytes: &[u8], options: OpenOptions| match open(bytes.to_vec(), options)
        .and_then(|table| try_all(&table))
    {
        Ok(found) => assert!(states.contains(&found), "other values"),
        Err(error) => {
            refused += 1;
            assert!(matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Format), "{error}");
        }
    };
    let check = std::cell::RefCell::new(&mut check);
    seeds(500 * harder() as u64, |random| {
        for whole in &files {
            let mut bytes = whole.clone();
            damage(&mut bytes, random);
            let options = random.pick(&[READ, WRITE]);
            check.borrow_mut()(&bytes, OpenOptions { verify: true, ..options });
        }
    });
    assert!(refused > 100 || std::env::var_os("BYTEWRIGHT_SEED").is_some(), "{refused}");
}

// Promise (tree-table-file): also Damage is an error
#[test]
fn a_damaged_file_that_nobody_verified_gives_an_error_or_what_was_written() {
    let (files, states) = files();
    let written = states.last().unwrap();
    let (mut refused, mut answered) = (0, 0);
    let mut ask = |bytes: Vec<u8>, options: OpenOptions| -> bytewright::Result<()> {
        let table = open(bytes, options)?;
        for key in (0..300_u32).step_by(7).map(u32::to_be_bytes) {
            // A page that cannot be read leaves the others.
            if let Ok(value) = table.get(&key) {
                answered += 1;
                assert!(value.as_ref() == written.get(&key[..]), "another value");
            }
        }
        let found = try_all(&table)?;
        let state = states.iter().position(|state| *state == found);
        assert!(found == *written, "other entries: those of state {state:?}");
        assert_eq!(table.len()?, written.len() as u64);
        Ok(())
    };
    let ask = std::cell::RefCell::new(&mut ask);
    let refused = std::cell::RefCell::new(&mut refused);
    seeds(400 * harder() as u64, |random| {
        for whole in &files {
            let mut bytes = whole.clone();
            damage(&mut bytes, random);
            let outcome = ask.borrow_mut()(bytes, random.pick(&[READ, WRITE]));
            if let Err(error) = outcome {
                **refused.borrow_mut() += 1;
                let is_told = matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Format);
                assert!(is_told, "{error}");
            }
        }
    });
    let refused = **refused.borrow();
    assert!(refused > 100 && answered > 1000 || std::env::var_os("BYTEWRIGHT_SEED").is_some());
}

// Promise (tree-table-file): also A file that was cut is an error
#[test]
fn a_file_that_was_cut_is_never_an_empty_table() {
    let (files, states) = files();
    for whole in &files {
        let lens = (1..20_000).step_by(499).chain([4096, 33 * 4096, 34 * 4096]);
        for len in lens.chain((20_000..whole.len()).step_by(40_009)) {
            for options in [READ, WRITE, CREATE, OpenOptions { verify: true, ..WRITE }] {
                let cut = open(whole[..len].to_vec(), options).and_then(|table| try_all(&table));
                match cut {
                    Ok(found) => assert!(found == states[6], "cut at {len}"),
                    Err(error) => {
                        let is_told =
                            matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Format);
                        assert!(is_told, "cut at {len}: {error}");
                    }
                }
            }
        }
    }
}

// Promise (tree-table-file): What is not damaged can be read.
#[test]
fn what_can_be_read_of_a_damaged_file_is_read() {
    let storage = MemoryStorage::default();
    let mut table = TreeTable::open_storage(Box::new(storage.clone()), "memory", CREATE).unwrap();
    table.begin().unwrap();
    for number in 0..2000_u32 {
        table.put(&number.to_be_bytes(), &[7; 60]).unwrap();
    }
    table.commit().unwrap();
    drop(table);
    let mut bytes = storage.bytes();
    let needle = [&1000_u32.to_be_bytes()[..], &[7; 4]].concat();
    let place = bytes.windows(8).position(|window| window == needle).unwrap();
    bytes[place + 3] ^= 1;
    let table = open(bytes.clone(), READ).unwrap();
    let error = table.get(&1000_u32.to_be_bytes()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.offset().is_some_and(|offset| place as u64 - offset < 4104), "{error}");
    assert_eq!(table.get(&0_u32.to_be_bytes()).unwrap(), Some(vec![7; 60]), "another page");
    let verified = open(bytes, OpenOptions { verify: true, ..READ });
    assert_eq!(verified.unwrap_err().kind(), ErrorKind::Corrupt);
}

// Promise (tree-table-file): also Damage is an error
#[test]
fn a_damaged_file_that_nobody_verified_ends_no_program_even_when_it_is_written() {
    let (files, _) = files();
    let use_it = |bytes: Vec<u8>, options: OpenOptions| -> bytewright::Result<()> {
        let mut table = open(bytes, options)?;
        table.len()?;
        try_all(&table)?;
        for number in 0..60_u32 {
            table.put(&(number * 5).to_be_bytes(), &[1; 500])?;
            table.delete(&(number * 7).to_be_bytes())?;
        }
        table.stat()?;
        table.compact()
    };
    let damage_and_use = |random: &mut Random| {
        for whole in &files {
            let mut bytes = whole.clone();
            damage(&mut bytes, random);
            // Whatever it says.
            let _ = use_it(bytes, random.pick(&[READ, WRITE]));
        }
    };
    seeds(150 * harder() as u64, damage_and_use);
    // A value that claims to go on behind the end of its page, and a transaction that cannot end.
    for seed in [557, 1253] {
        damage_and_use(&mut Random::new(seed));
    }
}
