//! Inputs and sources that the tests of `stream` share: bytes from a seed, compressed by the libraries'
//! own encoders, and a source that hands them out in pieces.
#![allow(dead_code, clippy::unwrap_used)]

use std::io::Write;

use bytewright::Error;
use bytewright::Result;
use bytewright::bytes::{ByteStream, InflateBackend, Source, StreamOptions};

use crate::generate::Random;

/// Noise, runs and repeats from near and far: all kinds of deflate blocks come of it.
pub(crate) fn mixed(random: &mut Random, length: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(length + 4096);
    while bytes.len() < length {
        let count = 1 + random.below(4096);
        match random.below(4) {
            0 => bytes.extend(random.bytes(count)),
            1 => bytes.extend(std::iter::repeat_n(random.byte(), count)),
            2 => bytes.extend((0..count / 8).flat_map(|n| format!("{n:05} ").into_bytes())),
            _ if bytes.is_empty() => {}
            _ => {
                let start = random.below(bytes.len());
                let end = (start + count).min(bytes.len());
                bytes.extend_from_within(start..end);
            }
        }
    }
    bytes.truncate(length);
    bytes
}

/// `bytes` as one gzip member.
pub(crate) fn gzip(bytes: &[u8], level: u32) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(level));
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// `bytes` as one zstd frame with a checksum.
pub(crate) fn zstd(bytes: &[u8], level: i32) -> Vec<u8> {
    let mut context = zstd_safe::CCtx::create();
    context.set_parameter(zstd_safe::CParameter::CompressionLevel(level)).unwrap();
    context.set_parameter(zstd_safe::CParameter::ChecksumFlag(true)).unwrap();
    let mut frame = Vec::with_capacity(zstd_safe::compress_bound(bytes.len()));
    context.compress2(&mut frame, bytes).unwrap();
    frame
}

/// Hands out bytes, as many at a time as the sizes say in turn.
pub(crate) struct Pieces {
    pub(crate) bytes: Vec<u8>,
    pub(crate) sizes: Vec<usize>,
    pub(crate) is_nonblocking: bool,
    position: usize,
    turn: usize,
}

impl Pieces {
    pub(crate) fn new(bytes: &[u8], sizes: &[usize]) -> Self {
        let (bytes, sizes) = (bytes.to_vec(), sizes.to_vec());
        Pieces { bytes, sizes, is_nonblocking: false, position: 0, turn: 0 }
    }
}

impl Source for Pieces {
    fn read(&mut self, into: &mut Vec<u8>, limit: usize) -> Result<usize> {
        assert!(limit > 0 && into.capacity() - into.len() >= limit);
        let size = self.sizes[self.turn % self.sizes.len()];
        self.turn += 1;
        let count = size.min(limit).min(self.bytes.len() - self.position);
        into.extend_from_slice(&self.bytes[self.position..self.position + count]);
        self.position += count;
        Ok(count)
    }

    fn is_nonblocking(&self) -> bool {
        self.is_nonblocking
    }
}

/// The backends that work on this machine.
pub(crate) fn backends() -> impl Iterator<Item = InflateBackend> {
    InflateBackend::available().iter().copied()
}

pub(crate) fn options(piece: usize) -> StreamOptions {
    let mut options = StreamOptions::default();
    options.piece = piece;
    options
}

/// Everything that comes out, and the error it ends with, if it does.
pub(crate) fn drain(stream: &mut ByteStream) -> (Vec<u8>, Option<Error>) {
    let mut bytes = Vec::new();
    loop {
        match stream.fill(1) {
            Ok([]) => return (bytes, None),
            Ok(piece) => bytes.extend_from_slice(piece),
            Err(error) => {
                let again = stream.fill(1).map(<[u8]>::to_vec);
                assert_eq!(again.unwrap_err().to_string(), error.to_string(), "another error");
                return (bytes, Some(error));
            }
        }
        stream.consume(stream.buffered().len());
    }
}

/// Opens a source and drains it.
pub(crate) fn read(source: Pieces, options: &StreamOptions) -> (Vec<u8>, Option<Error>) {
    drain_opened(ByteStream::new(Box::new(source), "test", options))
}

/// Opens a source whose gzip `backend` is to inflate, and drains it.
pub(crate) fn read_by(
    backend: InflateBackend,
    source: Pieces,
    options: &StreamOptions,
) -> (Vec<u8>, Option<Error>) {
    drain_opened(ByteStream::by_backend(Box::new(source), "test", options, backend))
}

fn drain_opened(opened: Result<ByteStream>) -> (Vec<u8>, Option<Error>) {
    match opened {
        Ok(mut stream) => drain(&mut stream),
        Err(error) => (Vec::new(), Some(error)),
    }
}

/// Reads `bytes` in one piece.
pub(crate) fn read_whole(bytes: &[u8]) -> (Vec<u8>, Option<Error>) {
    read(Pieces::new(bytes, &[usize::MAX]), &options(256 << 10))
}

/// Reads `bytes` in one piece, by `backend`.
pub(crate) fn read_whole_by(backend: InflateBackend, bytes: &[u8]) -> (Vec<u8>, Option<Error>) {
    read_by(backend, Pieces::new(bytes, &[usize::MAX]), &options(256 << 10))
}
