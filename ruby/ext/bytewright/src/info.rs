//! What a capture is, as a Hash.

use bytewright::packet::LinkType;
use bytewright::scan::CaptureInfo;
use bytewright::wire::Endian;
use magnus::{Error, IntoValue, Ruby, Value, prelude::*};

/// The facts of `info` under the names that the command's `--json` prints.
pub(crate) fn to_hash(ruby: &Ruby, info: &CaptureInfo) -> Result<Value, Error> {
    let hash = ruby.hash_new();
    let set = |name: &str, value: Value| hash.aset(ruby.to_symbol(name), value);
    let number = |number: u64| ruby.integer_from_u64(number).as_value();
    let text = |text: &str| ruby.str_new(text).as_value();
    set("file", text(&info.file))?;
    set("format", ruby.to_symbol(info.format.name()).as_value())?;
    set("version", text(&format!("{}.{}", info.version.0, info.version.1)))?;
    let byte_order = match info.byte_order {
        Endian::Little => "little",
        Endian::Big => "big",
    };
    set("byte_order", ruby.to_symbol(byte_order).as_value())?;
    set("compression", ruby.to_symbol(info.compression.to_string()).as_value())?;
    set("file_bytes", number(info.file_bytes))?;
    set("content_bytes", number(info.content_bytes))?;
    set("packets", number(info.packets))?;
    set("bytes", number(info.bytes))?;
    set("captured_bytes", number(info.captured_bytes))?;
    set("first_ts", info.first_ts.into_value_with(ruby))?;
    set("last_ts", info.last_ts.into_value_with(ruby))?;
    set("sections", number(info.sections))?;
    set("interfaces", interfaces(ruby, info)?)?;
    set("link_types", link_types(ruby, info)?)?;
    let damage = info.damage.as_ref().map(|error| {
        crate::error::to_ruby(ruby, error).value().unwrap_or_else(|| ruby.qnil().as_value())
    });
    set("damage", damage.into_value_with(ruby))?;
    Ok(hash.as_value())
}

fn interfaces(ruby: &Ruby, info: &CaptureInfo) -> Result<Value, Error> {
    let list = ruby.ary_new();
    for interface in &info.interfaces {
        let hash = ruby.hash_new();
        hash.aset(ruby.to_symbol("link_type"), interface.link_type)?;
        hash.aset(ruby.to_symbol("link_type_name"), LinkType(interface.link_type).name())?;
        hash.aset(ruby.to_symbol("snaplen"), interface.snaplen)?;
        hash.aset(ruby.to_symbol("time_unit"), interface.clock.unit.to_string())?;
        list.push(hash)?;
    }
    Ok(list.as_value())
}

fn link_types(ruby: &Ruby, info: &CaptureInfo) -> Result<Value, Error> {
    let list = ruby.ary_new();
    for (link_type, packets) in &info.link_types {
        let hash = ruby.hash_new();
        hash.aset(ruby.to_symbol("link_type"), link_type.0)?;
        hash.aset(ruby.to_symbol("name"), link_type.name())?;
        hash.aset(ruby.to_symbol("packets"), *packets)?;
        list.push(hash)?;
    }
    Ok(list.as_value())
}
