//! Any bytes as the text of a table: no panic, and the same entries or the same error in pieces as at once.

#![no_main]

use bytewright::table::{DumpDecoder, PackedEntries, Scan, ValueType};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    assert_eq!(decoded(bytes, usize::MAX), decoded(bytes, 7));
});

type Entries = Vec<(Vec<u8>, Vec<u8>)>;

/// The entries, and the kind of what they end with.
fn decoded(bytes: &[u8], piece: usize) -> (Entries, Option<String>) {
    let (mut decoder, mut packed) = (DumpDecoder::new(ValueType::BYTES), PackedEntries::default());
    let mut pieces = bytes.chunks(piece);
    let pushed = pieces.try_for_each(|piece| decoder.push(piece, &mut packed));
    let failed = pushed.and_then(|()| decoder.finish()).err();
    let (mut scan, mut entries) = (packed.scan(), Entries::new());
    while let Ok(Some((key, value))) = scan.advance() {
        entries.push((key.to_vec(), value.to_vec()));
    }
    (entries, failed.map(|error| error.kind().name().to_owned()))
}
