//! Inflating a value that is whole in memory, within a bound.

use flate2::{Decompress, FlushDecompress, Status};

use crate::{Error, Result};

/// Bytes around a deflate stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeflateWrapper {
    /// None (RFC 1951).
    None,
    /// The header and the checksum of zlib (RFC 1950).
    Zlib,
}

/// Replaces `into` by what the stream at the start of `deflated` holds, which is called `what` in errors and has at most
/// `len_max` bytes. Answers how many bytes the stream has; what is behind it is not looked at.
///
/// # Errors
///
/// `Limit` where it holds more, as soon as that is inflated, and `Format` where it is damaged or without its end.
pub(crate) fn inflate(
    deflated: &[u8],
    wrapper: DeflateWrapper,
    what: &str,
    len_max: usize,
    into: &mut Vec<u8>,
) -> Result<usize> {
    let mut decompress = Decompress::new(wrapper == DeflateWrapper::Zlib);
    into.clear();
    loop {
        let (taken, given) = (decompress.total_in() as usize, into.len());
        if given > len_max {
            return Err(Error::limit(
                format_args!("{what} inflated"),
                len_max as u64,
                given as u64,
            ));
        }
        if given == into.capacity() {
            let wanted = given.max(4 * deflated.len()).clamp(1 << 10, 1 << 24);
            into.reserve_exact(wanted.min(len_max + 1 - given));
        }
        let rest = deflated.get(taken..).unwrap_or_default();
        let status = decompress.decompress_vec(rest, into, FlushDecompress::Finish);
        let is_stuck = decompress.total_in() as usize == taken && into.len() == given;
        match status {
            // The bound has a byte of room to be passed.
            Ok(Status::StreamEnd) if into.len() <= len_max => {
                return Ok(decompress.total_in() as usize);
            }
            Ok(Status::StreamEnd) => {}
            Ok(_) if !is_stuck => {}
            Ok(_) => {
                return Err(Error::format(format_args!("{what} deflated"), "one without its end"));
            }
            Err(error) => return Err(Error::format(format_args!("{what} deflated"), error)),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    //! Goal: what was deflated is inflated within its bound, and nothing else is.

    use std::io::Write;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, ZlibEncoder};

    use super::*;

    fn deflated(bytes: &[u8], wrapper: DeflateWrapper) -> Vec<u8> {
        match wrapper {
            DeflateWrapper::None => {
                let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
                encoder.write_all(bytes).unwrap();
                encoder.finish().unwrap()
            }
            DeflateWrapper::Zlib => {
                let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
                encoder.write_all(bytes).unwrap();
                encoder.finish().unwrap()
            }
        }
    }

    #[test]
    fn what_was_deflated_is_inflated_up_to_its_bound() {
        for wrapper in [DeflateWrapper::None, DeflateWrapper::Zlib] {
            for len in [0, 1, 1000, 1 << 20] {
                let bytes = vec![7; len];
                let stream = deflated(&bytes, wrapper);
                let with_more = [&stream[..], b"more"].concat();
                let mut into = b"before".to_vec();
                let taken = inflate(&with_more, wrapper, "a value", len, &mut into).unwrap();
                assert_eq!((taken, &into), (stream.len(), &bytes));
                if len > 0 {
                    let mut into = Vec::new();
                    let error = inflate(&stream, wrapper, "a value", len - 1, &mut into);
                    let message = error.unwrap_err().to_string();
                    let expected = format!("expected a value inflated of at most {}", len - 1);
                    assert!(message.starts_with(&expected), "{message}");
                    assert!(into.capacity() <= len, "{} for {len}", into.capacity());
                }
            }
        }
    }

    #[test]
    fn a_damaged_stream_is_refused() {
        let stream = deflated(b"some bytes, some bytes", DeflateWrapper::Zlib);
        let mut into = Vec::new();
        for len in 0..stream.len() {
            let error = inflate(&stream[..len], DeflateWrapper::Zlib, "a value", 100, &mut into);
            assert!(error.unwrap_err().to_string().contains("without its end"), "{len}");
        }
        let mut damaged = stream.clone();
        *damaged.last_mut().unwrap() ^= 1;
        inflate(&damaged, DeflateWrapper::Zlib, "a value", 100, &mut into).unwrap_err();
    }
}
