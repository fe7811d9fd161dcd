//! The slow, obvious twin: a capture shown bit by bit holds the records it holds when shown whole.

use std::path::Path;

use bytewright::Error;
use bytewright::capture::{Decoder, Record, Step};

use crate::files;
use crate::generate::{self, Random, seeds};

/// Reads a capture that comes into view piece by piece: `grow` answers how many bytes to show, of
/// the number shown so far and the number needed.
fn read(
    capture: &[u8],
    mut grow: impl FnMut(usize, usize) -> usize,
) -> (Vec<Record<'_>>, Option<Error>) {
    let mut decoder = Decoder::new();
    let mut records = Vec::new();
    let mut rest = capture;
    let mut shown = 0;
    loop {
        let view = &rest[..shown.min(rest.len())];
        let advance = match decoder.step(view, view.len() == rest.len()) {
            Ok(Step::Need(needed)) => {
                assert!(needed > view.len(), "{needed} needed with {} in view", view.len());
                shown = grow(view.len(), needed);
                0
            }
            Ok(Step::Record { record, consumed }) => {
                records.push(record);
                consumed
            }
            Ok(Step::Skip(count)) => usize::try_from(count).expect("a 64-bit machine"),
            Ok(Step::End) => return (records, None),
            Err(error) => return (records, Some(error)),
        };
        rest = rest.get(advance..).unwrap_or_default();
        shown = shown.saturating_sub(advance);
    }
}

fn agrees_with_the_whole_view(capture: &[u8], name: &str, random: &mut Random) {
    let (expected, damage) = files::records(capture);
    let damage = damage.map(|error| error.to_string());
    let check = |how: &str, grow: &mut dyn FnMut(usize, usize) -> usize| {
        let (records, end) = read(capture, grow);
        assert!(records == expected, "{name}, {how}: other records");
        assert_eq!(end.map(|error| error.to_string()), damage, "{name}, {how}");
    };
    check("what is needed", &mut |_, needed| needed);
    check("random pieces", &mut |_, needed| needed + random.below(3000));
    // One step per byte takes its time, so the slowest way sees the beginning only.
    let beginning = &capture[..capture.len().min(16 << 10)];
    let (expected, damage) = files::records(beginning);
    let (records, end) = read(beginning, |shown, _| shown + 1);
    assert!(records == expected, "{name}, a byte more each time: other records");
    assert_eq!(end.map(|error| error.to_string()), damage.map(|error| error.to_string()), "{name}");
}

#[test]
fn random_captures_read_the_same_in_any_pieces() {
    seeds(400, |random| {
        let capture = generate::capture::random(random);
        agrees_with_the_whole_view(&capture, "a random capture", random);
    });
}

#[test]
fn collected_captures_read_the_same_in_any_pieces() {
    let Some(folder) = files::corpus("collected_captures_read_the_same_in_any_pieces") else {
        return;
    };
    let mut random = Random::new(1);
    for name in files::names(&folder) {
        let capture = files::plain(&folder.join(&name));
        agrees_with_the_whole_view(&capture, &name, &mut random);
    }
}

#[test]
fn our_samples_read_the_same_in_any_pieces() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples");
    let Ok(samples) = std::fs::read_dir(&folder) else { return };
    let mut random = Random::new(1);
    for sample in samples {
        let path = sample.expect("an entry").path();
        if path.to_string_lossy().contains(".pcap") {
            let capture = files::plain(&path);
            assert!(!files::records(&capture).0.is_empty(), "{}", path.display());
            agrees_with_the_whole_view(&capture, &path.to_string_lossy(), &mut random);
        }
    }
}
