//! Any bytes as a file, compressed or not: no panic, no endless loop, and the same bytes and the same
//! end whoever inflates and in whatever pieces the file comes.

#![no_main]

use bytewright::Result;
use bytewright::bytes::{ByteStream, InflateBackend, Source, StreamOptions};
use libfuzzer_sys::fuzz_target;

/// Decompressed bytes that are looked at: enough for a thousandfold bomb of a small input.
const OUTPUT_MAX: usize = 1 << 20;

fuzz_target!(|file: &[u8]| {
    // Out of the bytes themselves, so that any file is a seed.
    let sum = file.iter().fold(0, |sum: usize, byte| sum + usize::from(*byte));
    let (piece, read) = (sum % 251 + 1, sum % 127 + 1);
    let whole = StreamOptions::default();
    let mut pieces = whole.clone();
    pieces.piece = piece;
    let expected = contents(file, usize::MAX, &whole, InflateBackend::Zlib);
    assert_eq!(contents(file, read, &pieces, InflateBackend::Zlib), expected);
    if InflateBackend::available().contains(&InflateBackend::Isal) {
        let (bytes, ended_well) = contents(file, read, &pieces, InflateBackend::Isal);
        assert_eq!(ended_well, expected.1);
        // Each library decides how much of a damaged piece comes out before the error.
        assert!(!ended_well || bytes == expected.0);
    }
});

/// The decompressed bytes of `file`, of which at most `read` come at once, and whether they end well.
fn contents(
    file: &[u8],
    read: usize,
    options: &StreamOptions,
    backend: InflateBackend,
) -> (Vec<u8>, bool) {
    let source = Pieces { file: file.to_vec(), position: 0, read };
    let Ok(mut stream) = ByteStream::by_backend(Box::new(source), "fuzz", options, backend) else {
        return (Vec::new(), false);
    };
    let mut bytes = Vec::new();
    let ended_well = loop {
        match stream.fill(1) {
            Ok([]) => break true,
            Ok(buffered) => bytes.extend_from_slice(buffered),
            Err(_) => break false,
        }
        stream.consume(stream.buffered().len());
        assert_eq!(stream.position(), bytes.len() as u64);
        if bytes.len() > OUTPUT_MAX {
            bytes.truncate(OUTPUT_MAX);
            break true;
        }
    };
    (bytes, ended_well)
}

struct Pieces {
    file: Vec<u8>,
    position: usize,
    read: usize,
}

impl Source for Pieces {
    fn read(&mut self, into: &mut Vec<u8>, limit: usize) -> Result<usize> {
        let rest = &self.file[self.position..];
        let count = rest.len().min(limit).min(self.read);
        into.extend_from_slice(&rest[..count]);
        self.position += count;
        Ok(count)
    }
}
