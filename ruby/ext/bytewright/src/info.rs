//! What a capture is, as a Hash.

use bytewright::scan::CaptureInfo;
use bytewright::wire::Endian;
use magnus::{Error, IntoValue, Ruby, Value, prelude::*};

/// The facts of `info` under the names that the command's `--json` prints.
pub(crate) fn to_hash(ruby: &Ruby, info: &CaptureInfo) -> Result<Value, Error> {
    let hash = ruby.hash_new();
    let set = |name: &str, value: Value| hash.aset(ruby.to_symbol(name), value);
    let number = |number: u64| ruby.integer_from_u64(number).as_value();
    let text = |text: &str| ruby.str_new(text).as_value();
    set("name", text(&info.name))?;
    set("format", ruby.to_symbol(info.format.name()).as_value())?;
    set("version", text(&format!("{}.{}", info.version.0, info.version.1)))?;
    let endian = match info.endian {
        Endian::Little => "little",
        Endian::Big => "big",
    };
    set("endian", ruby.to_symbol(endian).as_value())?;
    set("compression", ruby.to_symbol(info.compression.to_string()).as_value())?;
    set("file_bytes", number(info.file_bytes))?;
    set("content_bytes", number(info.content_bytes))?;
    set("sections", number(info.sections))?;
    set("interfaces", number(info.interfaces.len() as u64))?;
    set("packets", number(info.packets))?;
    set("wire_bytes", number(info.wire_bytes))?;
    set("captured_bytes", number(info.captured_bytes))?;
    let link_types = ruby.hash_new();
    for (link_type, packets) in &info.link_types {
        link_types.aset(u64::from(link_type.0), *packets)?;
    }
    set("link_types", link_types.as_value())?;
    set("first", info.first.into_value_with(ruby))?;
    set("last", info.last.into_value_with(ruby))?;
    let damage = info.damage.as_ref().map(|error| {
        crate::error::to_ruby(ruby, error).value().unwrap_or_else(|| ruby.qnil().as_value())
    });
    set("damage", damage.into_value_with(ruby))?;
    Ok(hash.as_value())
}
