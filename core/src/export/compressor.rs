//! Bytes on their way out, compressed or not.

use std::io::Write;

use flate2::write::GzEncoder;
use zstd_safe::zstd_sys::ZSTD_EndDirective::{self, ZSTD_e_continue, ZSTD_e_end, ZSTD_e_flush};
use zstd_safe::{CCtx, CParameter, InBuffer, OutBuffer};

use crate::bytes::Compression;
use crate::{Error, Result};

/// Compression level of zstd: its own default.
const ZSTD_LEVEL: i32 = 3;

/// Compresses bytes as they come.
pub(super) enum Compressor {
    None,
    Gzip(Box<GzEncoder<Vec<u8>>>),
    Zstd(CCtx<'static>),
}

impl Compressor {
    pub(super) fn new(compression: Compression) -> Result<Self> {
        Ok(match compression {
            Compression::None => Compressor::None,
            Compression::Gzip => Compressor::Gzip(Box::new(GzEncoder::new(
                Vec::new(),
                flate2::Compression::default(),
            ))),
            Compression::Zstd => {
                let failed = || Error::internal("zstd cannot be set up");
                let mut context = CCtx::try_create().ok_or_else(failed)?;
                for parameter in
                    [CParameter::CompressionLevel(ZSTD_LEVEL), CParameter::ChecksumFlag(true)]
                {
                    context.set_parameter(parameter).map_err(|_| failed())?;
                }
                Compressor::Zstd(context)
            }
        })
    }

    /// Moves `bytes` to `into`, compressed as far as the compressor gives them out.
    pub(super) fn push(&mut self, bytes: &mut Vec<u8>, into: &mut Vec<u8>) -> Result<()> {
        match self {
            Compressor::None => into.append(bytes),
            Compressor::Gzip(encoder) => {
                encoder.write_all(bytes).map_err(|error| Error::io("compress", &error))?;
                into.append(encoder.get_mut());
            }
            Compressor::Zstd(context) => zstd(context, bytes, into, ZSTD_e_continue)?,
        }
        bytes.clear();
        Ok(())
    }

    /// Appends what it holds back, so that a reader can have it.
    pub(super) fn flush(&mut self, into: &mut Vec<u8>) -> Result<()> {
        match self {
            Compressor::None => {}
            Compressor::Gzip(encoder) => {
                encoder.flush().map_err(|error| Error::io("compress", &error))?;
                into.append(encoder.get_mut());
            }
            Compressor::Zstd(context) => zstd(context, &[], into, ZSTD_e_flush)?,
        }
        Ok(())
    }

    /// Appends what is left, and the end.
    pub(super) fn finish(&mut self, into: &mut Vec<u8>) -> Result<()> {
        match self {
            Compressor::None => {}
            Compressor::Gzip(encoder) => {
                encoder.try_finish().map_err(|error| Error::io("compress", &error))?;
                into.append(encoder.get_mut());
            }
            Compressor::Zstd(context) => zstd(context, &[], into, ZSTD_e_end)?,
        }
        Ok(())
    }
}

/// Has zstd take all of `bytes`, and with a directive to end give out all that it holds.
fn zstd(
    context: &mut CCtx<'static>,
    bytes: &[u8],
    into: &mut Vec<u8>,
    directive: ZSTD_EndDirective,
) -> Result<()> {
    let mut input = InBuffer::around(bytes);
    loop {
        into.reserve(CCtx::out_size());
        let position = into.len();
        let mut output = OutBuffer::around_pos(into, position);
        let left = context
            .compress_stream2(&mut output, &mut input, directive)
            .map_err(|code| Error::internal(zstd_safe::get_error_name(code)))?;
        let is_taken = input.pos == bytes.len();
        if is_taken && (left == 0 || directive == ZSTD_e_continue) {
            return Ok(());
        }
    }
}
