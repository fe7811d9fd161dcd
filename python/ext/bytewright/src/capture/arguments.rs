//! What keywords of captures mean.

use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;

use bytewright::batch::{AddressForm, ExportOptions, TimeUnit};
use bytewright::flow::{FlowField, FlowOptions};
use bytewright::packet::Field;
use bytewright::rpc::{CallField, Methods};
use bytewright::scan::{CaptureOptions, load_methods};
use pyo3::prelude::*;

use crate::error::{argument, guarded, raised};

/// How a capture is read.
pub(super) fn capture_options(
    py: Python<'_>,
    filter: Option<String>,
    flow: Option<String>,
    inner: bool,
    jobs: Option<usize>,
    damage: &str,
) -> PyResult<CaptureOptions> {
    let flow = raised(py, flow.map(|flow| flow.parse()).transpose())?;
    let damage = raised(py, damage.parse())?;
    let mut options = CaptureOptions { filter, flow, damage, ..CaptureOptions::default() };
    options.decode.inner = inner;
    options.stream.jobs = jobs.unwrap_or_else(all_cores).max(1);
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

/// The fields of flows; all where none is named.
pub(super) fn flow_fields(py: Python<'_>, names: &[String]) -> PyResult<Vec<FlowField>> {
    if names.is_empty() {
        return Ok(FlowField::ALL.to_vec());
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

/// When flows end.
pub(super) fn flow_options(
    py: Python<'_>,
    idle_timeout: Option<f64>,
    active_timeout: Option<f64>,
    max_flows: usize,
) -> PyResult<FlowOptions> {
    let mut options = FlowOptions { max_flows, ..FlowOptions::default() };
    options.idle_timeout = idle_timeout.map(|seconds| duration(py, seconds)).transpose()?;
    options.active_timeout = active_timeout.map(|seconds| duration(py, seconds)).transpose()?;
    Ok(options)
}

/// Nanoseconds, at most as many as the core counts.
fn duration(py: Python<'_>, seconds: f64) -> PyResult<i64> {
    match seconds >= 0.0 {
        true => Ok((seconds * 1e9) as i64),
        false => {
            Err(argument(py, format!("expected a timeout of 0 seconds or more, found {seconds}")))
        }
    }
}

/// The methods of an IDL file, where there is one.
pub(super) fn methods(
    py: Python<'_>,
    idl: Option<PathBuf>,
    service: Option<&str>,
    include: &[PathBuf],
) -> PyResult<Option<Arc<Methods>>> {
    let Some(idl) = idl else {
        return match service.is_some() || !include.is_empty() {
            true => Err(argument(py, "expected idl with service or include, found none")),
            false => Ok(None),
        };
    };
    let methods = py.detach(|| guarded(|| load_methods(&idl, include, service)));
    Ok(Some(Arc::new(raised(py, methods)?)))
}

/// How rows leave for programs that lack some of our types.
pub(super) fn export_options(
    py: Python<'_>,
    timestamps: &str,
    signed: bool,
    addresses: &str,
) -> PyResult<ExportOptions> {
    let timestamps = match timestamps {
        "ns" => TimeUnit::Nanoseconds,
        "us" => TimeUnit::Microseconds,
        other => {
            let message = format!("expected timestamps to be \"ns\" or \"us\", found {other:?}");
            return Err(argument(py, message));
        }
    };
    let addresses = match addresses {
        "text" => AddressForm::Text,
        "binary" => AddressForm::Binary,
        other => {
            let message =
                format!("expected addresses to be \"text\" or \"binary\", found {other:?}");
            return Err(argument(py, message));
        }
    };
    Ok(ExportOptions { timestamps, signed, addresses })
}
