//! Bytes on their way out, compressed or not.

use std::io::Write;

use flate2::write::GzEncoder;
use zstd_safe::zstd_sys::ZSTD_EndDirective::{self, ZSTD_e_continue, ZSTD_e_end, ZSTD_e_flush};
use zstd_safe::{CCtx, CParameter, InBuffer, OutBuffer};

use crate::bytes::{Compression, SeekTable};
use crate::{Error, Result};

/// Compression level of zstd: its own default.
const ZSTD_LEVEL: i32 = 3;

/// Bytes after which a gzip member ends. A member begins with no history, which costs 0.1 % here.
const GZIP_MEMBER_LEN: u64 = 2 << 20;

/// Bytes after which a zstd frame ends that is not much shorter compressed, and any frame. Of packets 0.7 % are lost; where
/// each repeats the others it is more, so such frames are longer, and lose 1.1 %.
const ZSTD_FRAME_LEN: u64 = 4 << 20;
const ZSTD_FRAME_PACKED_LEN: u64 = 1 << 20;
const ZSTD_FRAME_LEN_MAX: u64 = 7 << 20;

/// Bytes that a member has at most beside its blocks, and the table of zstd's frames behind it.
const MEMBER_OVERHEAD_MAX: u64 = 256;

/// Compresses bytes as they come, into members of gzip or frames of zstd that can be decompressed side by side.
pub(super) struct Compressor {
    packer: Packer,
    /// Bytes of the present member, and the same compressed as far as they are given out.
    member: MemberLen,
    has_members: bool,
    /// The zstd frames before it.
    table: SeekTable,
}

/// Encoder of one member after another.
enum Packer {
    None,
    Gzip(Box<GzEncoder<Vec<u8>>>),
    Zstd(CCtx<'static>),
}

#[derive(Debug, Clone, Copy, Default)]
struct MemberLen {
    bytes: u64,
    packed: u64,
}

impl Compressor {
    pub(super) fn new(compression: Compression) -> Result<Self> {
        let packer = Packer::new(compression)?;
        let (member, table) = (MemberLen::default(), SeekTable::default());
        Ok(Compressor { packer, member, has_members: false, table })
    }

    /// Moves `bytes` to `into`, compressed as far as the compressor gives them out.
    pub(super) fn push(&mut self, bytes: &mut Vec<u8>, into: &mut Vec<u8>) -> Result<()> {
        self.member.bytes += bytes.len() as u64;
        let packed = into.len();
        self.packer.push(bytes, into)?;
        self.member.packed += (into.len() - packed) as u64;
        Ok(())
    }

    /// Appends what it holds back, so that a reader can have it.
    pub(super) fn flush(&mut self, into: &mut Vec<u8>) -> Result<()> {
        let packed = into.len();
        self.packer.flush(into)?;
        self.member.packed += (into.len() - packed) as u64;
        Ok(())
    }

    /// Returns true if the member is long enough to end where the bytes so far do.
    pub(super) fn has_long_member(&self) -> bool {
        let MemberLen { bytes, packed } = self.member;
        match self.packer {
            Packer::None => false,
            Packer::Gzip(_) => bytes >= GZIP_MEMBER_LEN,
            Packer::Zstd(_) => {
                bytes >= ZSTD_FRAME_LEN_MAX
                    || bytes >= ZSTD_FRAME_LEN && packed >= ZSTD_FRAME_PACKED_LEN
            }
        }
    }

    /// Returns the most bytes that the member can still give out: those of random bytes, of which no block is shorter
    /// compressed.
    pub(super) fn held_max(&self) -> u64 {
        let MemberLen { bytes, packed } = self.member;
        match self.packer {
            Packer::None => 0,
            Packer::Gzip(_) | Packer::Zstd(_) => {
                (bytes + bytes / 1000 + MEMBER_OVERHEAD_MAX).saturating_sub(packed)
            }
        }
    }

    /// Ends the member: appends what is left of it. What is pushed next begins another.
    pub(super) fn end_member(&mut self, into: &mut Vec<u8>) -> Result<()> {
        let packed = into.len();
        self.packer.end_member(into)?;
        let MemberLen { bytes, packed: before } = std::mem::take(&mut self.member);
        if let Packer::Zstd(_) = self.packer {
            let packed = before + (into.len() - packed) as u64;
            self.table.add(packed, bytes);
        }
        self.has_members = true;
        Ok(())
    }

    /// Appends what is left, and the end.
    pub(super) fn finish(&mut self, into: &mut Vec<u8>) -> Result<()> {
        if self.member.bytes > 0 || !self.has_members {
            self.end_member(into)?;
        }
        into.extend(self.table.to_bytes().unwrap_or_default());
        Ok(())
    }
}

impl Packer {
    fn new(compression: Compression) -> Result<Self> {
        Ok(match compression {
            Compression::None => Packer::None,
            Compression::Gzip => Packer::Gzip(gzip_encoder()),
            Compression::Zstd => {
                let failed = || Error::internal("zstd cannot be set up");
                let mut context = CCtx::try_create().ok_or_else(failed)?;
                for parameter in
                    [CParameter::CompressionLevel(ZSTD_LEVEL), CParameter::ChecksumFlag(true)]
                {
                    context.set_parameter(parameter).map_err(|_| failed())?;
                }
                Packer::Zstd(context)
            }
        })
    }

    fn push(&mut self, bytes: &mut Vec<u8>, into: &mut Vec<u8>) -> Result<()> {
        match self {
            Packer::None => into.append(bytes),
            Packer::Gzip(encoder) => {
                encoder.write_all(bytes).map_err(compressing)?;
                into.append(encoder.get_mut());
            }
            Packer::Zstd(context) => zstd(context, bytes, into, ZSTD_e_continue)?,
        }
        bytes.clear();
        Ok(())
    }

    fn flush(&mut self, into: &mut Vec<u8>) -> Result<()> {
        match self {
            Packer::None => {}
            Packer::Gzip(encoder) => {
                encoder.flush().map_err(compressing)?;
                into.append(encoder.get_mut());
            }
            Packer::Zstd(context) => zstd(context, &[], into, ZSTD_e_flush)?,
        }
        Ok(())
    }

    fn end_member(&mut self, into: &mut Vec<u8>) -> Result<()> {
        match self {
            Packer::None => {}
            Packer::Gzip(encoder) => {
                encoder.try_finish().map_err(compressing)?;
                into.append(encoder.get_mut());
                *encoder = gzip_encoder();
            }
            Packer::Zstd(context) => zstd(context, &[], into, ZSTD_e_end)?,
        }
        Ok(())
    }
}

fn gzip_encoder() -> Box<GzEncoder<Vec<u8>>> {
    Box::new(GzEncoder::new(Vec::new(), flate2::Compression::default()))
}

fn compressing(error: std::io::Error) -> Error {
    Error::io("compress", &error)
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
