//! Options by name: keywords of Python as settings of the core's tables. None is an option that is not given.

use std::collections::BTreeMap;
use std::path::PathBuf;

use bytewright::flow::FlowOptions;
use bytewright::input::CaptureOptions;
use bytewright::options::{NamedOptions, OptionKind, OptionSpec, Setting, Settings};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::error::{raised, to_python};
use crate::shown::class_name;

/// The tables of the options that a call takes.
pub(crate) type Tables = &'static [&'static [OptionSpec]];

/// The settings that the keywords of a call mean. An unknown one is a `TypeError`, as Python's own calls have it.
pub(crate) fn settings(
    py: Python<'_>,
    tables: Tables,
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<Settings> {
    let mut settings = Settings::of(tables);
    for (name, value) in keywords.into_iter().flatten() {
        let name: String = name.extract()?;
        let option = settings
            .option(&name)
            .map_err(|error| PyTypeError::new_err(error.message().to_owned()))?;
        if !value.is_none() {
            let setting = setting_of(option, &value)?;
            raised(py, settings.give(option, setting))?;
        }
    }
    Ok(settings)
}

fn setting_of(option: &OptionSpec, value: &Bound<'_, PyAny>) -> PyResult<Setting> {
    let setting = match option.kind {
        OptionKind::Flag => value.is_truthy().map(Setting::Flag),
        OptionKind::Count { .. } => value.extract().map(Setting::Count),
        OptionKind::Seconds => value.extract().map(Setting::Seconds),
        OptionKind::Text | OptionKind::Choice(_) | OptionKind::Time => {
            value.extract().map(Setting::Text)
        }
        OptionKind::Path => value.extract().map(Setting::Path),
        OptionKind::Texts if value.is_instance_of::<PyString>() => {
            value.extract().map(|text| Setting::Texts(vec![text]))
        }
        OptionKind::Texts => elements::<String>(value).map(Setting::Texts),
        OptionKind::Paths => elements::<PathBuf>(value).map(Setting::Paths),
    };
    setting.map_err(|error| described(option, value, error))
}

fn elements<T>(value: &Bound<'_, PyAny>) -> PyResult<Vec<T>>
where
    T: for<'py> FromPyObjectOwned<'py, Error: Into<PyErr>>,
{
    value.try_iter()?.map(|element| element?.extract().map_err(Into::into)).collect()
}

/// The error of a conversion. What is of another class is told in our words; an error of the value's own code stays.
fn described(option: &OptionSpec, value: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    if !error.is_instance_of::<PyTypeError>(value.py()) {
        return error;
    }
    let told = option.kind.not(option.name, class_name(value));
    PyTypeError::new_err(told.message().to_owned())
}

/// Options of captures and flows that are texts, as another program hands them over, as keywords.
#[pyfunction]
pub(crate) fn parse_options<'py>(
    py: Python<'py>,
    texts: BTreeMap<String, String>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut settings = Settings::of(&[CaptureOptions::OPTIONS, FlowOptions::OPTIONS]);
    for (name, text) in &texts {
        raised(py, settings.give_text(name, text))?;
    }
    let keywords = PyDict::new(py);
    for (name, setting) in settings.given() {
        match setting {
            Setting::Flag(flag) => keywords.set_item(name, flag)?,
            Setting::Count(count) => keywords.set_item(name, count)?,
            Setting::Seconds(seconds) => keywords.set_item(name, seconds)?,
            Setting::Text(text) => keywords.set_item(name, text)?,
            Setting::Path(path) => keywords.set_item(name, path)?,
            Setting::Texts(texts) => keywords.set_item(name, texts)?,
            Setting::Paths(paths) => keywords.set_item(name, paths)?,
        }
    }
    Ok(keywords)
}

/// The error for an option that is none of `names`, of a program that hands over its own beside those of the core.
#[pyfunction]
pub(crate) fn unknown_option(py: Python<'_>, name: &str, names: Vec<String>) -> PyErr {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    to_python(py, &bytewright::options::unknown_option(name, &names))
}
