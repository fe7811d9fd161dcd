//! Any bytes as a capture file: no panic, no endless loop, and the same records however the bytes
//! come into view.

#![no_main]

use bytewright::Error;
use bytewright::capture::{Decoder, Record, Step};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|capture: &[u8]| {
    // Out of the bytes themselves, so that any capture file is a seed.
    let seed = capture.iter().fold(0, |sum: usize, byte| sum + usize::from(*byte));
    let (whole, end) = read(capture, |_, _| usize::MAX);
    let (pieces, end_of_pieces) = read(capture, |needed, turn| {
        // Never less than what is needed, and a little more that changes from step to step.
        needed.saturating_add((turn * seed) % 97)
    });
    assert_eq!(whole, pieces);
    assert_eq!(described(end), described(end_of_pieces));
});

/// Every record, and how the capture ends, where `view` says how many bytes to show.
fn read(capture: &[u8], view: impl Fn(usize, usize) -> usize) -> (Vec<Record<'_>>, Option<Error>) {
    let mut decoder = Decoder::new();
    let mut records = Vec::new();
    let mut rest = capture;
    let mut needed = 0;
    for turn in 0.. {
        // Each step takes a byte, asks for more, or ends a block.
        assert!(turn <= 4 * capture.len() + 16, "an endless loop");
        let shown = &rest[..view(needed, turn).min(rest.len())];
        let at_end = shown.len() == rest.len();
        match decoder.step(shown, at_end) {
            Ok(Step::Record { record, consumed }) => {
                assert!(record.captured.len() <= consumed && consumed <= shown.len());
                records.push(record);
                rest = &rest[consumed..];
                needed = 0;
            }
            Ok(Step::Skip(count)) => {
                let count = usize::try_from(count).unwrap_or(usize::MAX).min(rest.len());
                rest = &rest[count..];
                needed = 0;
            }
            Ok(Step::Need(count)) => {
                assert!(count > shown.len() && !at_end, "{count} needed of {}", shown.len());
                needed = count;
            }
            Ok(Step::End) => return (records, None),
            Err(error) => {
                let again = decoder.step(shown, at_end).expect_err("the same error again");
                assert_eq!(error.to_string(), again.to_string());
                return (records, Some(error));
            }
        }
    }
    unreachable!("the loop returns")
}

fn described(end: Option<Error>) -> Option<(Option<u64>, String)> {
    end.map(|error| (error.offset(), error.message().to_owned()))
}
