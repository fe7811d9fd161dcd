//! What is known of a capture after reading all of it, as a dict.

use bytewright::packet::LinkType;
use bytewright::scan::CaptureInfo;
use bytewright::wire::Endian;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::error::to_python;

pub(super) fn to_dict<'py>(py: Python<'py>, info: &CaptureInfo) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let (major, minor) = info.version;
    dict.set_item("file", &info.file)?;
    dict.set_item("format", info.format.name())?;
    dict.set_item("version", format!("{major}.{minor}"))?;
    let byte_order = match info.byte_order {
        Endian::Little => "little",
        Endian::Big => "big",
    };
    dict.set_item("byte_order", byte_order)?;
    dict.set_item("compression", info.compression.to_string())?;
    for (name, number) in [
        ("file_bytes", info.file_bytes),
        ("content_bytes", info.content_bytes),
        ("packets", info.packets),
        ("bytes", info.bytes),
        ("captured_bytes", info.captured_bytes),
        ("sections", info.sections),
    ] {
        dict.set_item(name, number)?;
    }
    dict.set_item("first_ts", info.first_ts)?;
    dict.set_item("last_ts", info.last_ts)?;
    dict.set_item("interfaces", interfaces(py, info)?)?;
    dict.set_item("link_types", link_types(py, info)?)?;
    dict.set_item(
        "damage",
        info.damage.as_ref().map(|damage| to_python(py, damage).into_value(py)),
    )?;
    Ok(dict)
}

fn interfaces<'py>(py: Python<'py>, info: &CaptureInfo) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for interface in &info.interfaces {
        let dict = PyDict::new(py);
        dict.set_item("link_type", interface.link_type)?;
        dict.set_item("link_type_name", LinkType(interface.link_type).name())?;
        dict.set_item("snaplen", interface.snaplen)?;
        dict.set_item("time_unit", interface.clock.unit.to_string())?;
        list.append(dict)?;
    }
    Ok(list)
}

fn link_types<'py>(py: Python<'py>, info: &CaptureInfo) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for (link_type, packets) in &info.link_types {
        let dict = PyDict::new(py);
        dict.set_item("link_type", link_type.0)?;
        dict.set_item("name", link_type.name())?;
        dict.set_item("packets", *packets)?;
        list.append(dict)?;
    }
    Ok(list)
}
