//! A struct that comes in pieces through a BufferedTransport, whose buffer is filled until the struct
//! is whole, and no read waits for a byte behind it.

use bytewright::thrift::{Encoding, Limits, Progress, StructExtent};
use magnus::value::ReprValue;
use magnus::{Error, Object, RObject, RString, Ruby, Value};

use super::{empty_bytes, extent_advance};
use crate::error::{end_of_file, to_thrift};

/// Bytes that the gem asks for at once, at least; a transport gives those that are there.
const READ_LEN_MIN: usize = 4096;

// Bound (Thrift): bytes asked of a transport at once = 64 KiB, whatever a message claims.
const READ_LEN_MAX: usize = 1 << 16;

/// Reads what a struct lacks that begins at `@index` of the transport's buffer.
pub(crate) fn complete(
    ruby: &Ruby,
    transport: Value,
    encoding: Encoding,
    limits: Limits,
) -> Result<(), Error> {
    let Some(transport) = RObject::from_value(transport) else { return Ok(()) };
    let (old, index): (RString, usize) =
        (transport.ivar_get("@rbuf")?, transport.ivar_get("@index")?);
    let inner: Value = transport.ivar_get("@transport")?;
    let buffer = empty_bytes(ruby);
    let left: Option<RString> = old.funcall("byteslice", (index, old.len()))?;
    if let Some(left) = left {
        append(buffer, left)?;
    }
    // From here on the bytes are the new buffer's, also where the next read raises.
    transport.ivar_set("@rbuf", buffer)?;
    transport.ivar_set("@index", 0)?;
    let mut extent = StructExtent::new(encoding, limits);
    loop {
        match extent_advance(&mut extent, buffer).map_err(|error| to_thrift(ruby, &error))? {
            Progress::Complete(_) => return Ok(()),
            Progress::Needs(len) => {
                let wanted = len.clamp(READ_LEN_MIN, READ_LEN_MAX);
                let piece: Option<RString> = inner.funcall("read", (wanted,))?;
                match piece.filter(|piece| !piece.is_empty()) {
                    Some(piece) => append(buffer, piece)?,
                    None => {
                        let found = format!("expected {len} bytes more of a struct, found the end");
                        return Err(end_of_file(ruby, &found));
                    }
                }
            }
        }
    }
}

/// Appends bytes, whatever encoding their String is marked with.
fn append(buffer: RString, piece: RString) -> Result<(), Error> {
    buffer.buf_append(piece.funcall("b", ())?)
}
