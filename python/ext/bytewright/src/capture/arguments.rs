//! Meaning of the keywords of captures.

use std::num::NonZero;

use bytewright::ask::{CallOptions, CallQuestion, FlowQuestion};
use bytewright::flow::FlowField;
use bytewright::input::CaptureOptions;
use bytewright::options::Settings;
use bytewright::packet::Field;
use bytewright::rpc::CallField;
use pyo3::prelude::*;

use crate::error::{guarded, raised, warn_of_replaced};

/// Makes the options by which a capture is read.
pub(super) fn capture_options(py: Python<'_>, settings: &Settings) -> PyResult<CaptureOptions> {
    let mut options = CaptureOptions::default();
    options.stream.jobs = all_cores();
    raised(py, settings.fill(&mut options))?;
    options.labels.as_deref().map_or(Ok(()), |labels| warn_of_replaced(py, labels))?;
    Ok(options)
}

fn all_cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// The field of a packet.
pub(super) fn field_named(name: &str) -> bytewright::Result<Field> {
    Field::SCHEMA.place_of(name).map(|place| Field::ALL[place])
}

/// The fields of packets, or those that are given where none is named.
pub(super) fn packet_fields(py: Python<'_>, names: &[String]) -> PyResult<Vec<Field>> {
    if names.is_empty() {
        return Ok(Field::DEFAULT.to_vec());
    }
    raised(py, names.iter().map(|name| field_named(name)).collect())
}

/// The fields of flows; those that the question gives where none is named.
pub(super) fn flow_fields(
    py: Python<'_>,
    names: &[String],
    question: &FlowQuestion,
) -> PyResult<Vec<FlowField>> {
    if names.is_empty() {
        return Ok(question.default_fields());
    }
    let place = |name: &String| FlowField::SCHEMA.place_of(name).map(|place| FlowField::ALL[place]);
    raised(py, names.iter().map(place).collect())
}

/// The fields of calls; all where none is named.
pub(super) fn call_fields(py: Python<'_>, names: &[String]) -> PyResult<Vec<CallField>> {
    if names.is_empty() {
        return Ok(CallField::ALL.to_vec());
    }
    let place = |name: &String| CallField::SCHEMA.place_of(name).map(|place| CallField::ALL[place]);
    raised(py, names.iter().map(place).collect())
}

/// The calls that are meant, by an IDL file where there is one.
pub(super) fn load_calls(py: Python<'_>, options: CallOptions) -> PyResult<CallQuestion> {
    raised(py, py.detach(|| guarded(|| options.load())))
}
