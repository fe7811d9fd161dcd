//! Options by name: keywords of Ruby as settings of the core's tables. nil is an option that is not given.

use std::path::PathBuf;

use bytewright::input::CaptureOptions;
use bytewright::options::{NamedOptions, OptionKind, OptionSpec, Setting, Settings};
use magnus::r_hash::ForEach;
use magnus::{Error, Integer, RArray, RHash, RString, Ruby, Symbol, TryConvert, Value, prelude::*};

use crate::border::{class_name, path_of};
use crate::error::raised;

/// The tables of the options that a call takes.
pub(crate) type Tables = &'static [&'static [OptionSpec]];

/// The settings that the keywords of a call mean.
pub(crate) fn settings(ruby: &Ruby, tables: Tables, keywords: RHash) -> Result<Settings, Error> {
    collected(ruby, Settings::of(tables), keywords)
}

/// The settings that the keywords of a call with an open capture mean.
pub(crate) fn settings_of_open(
    ruby: &Ruby,
    tables: Tables,
    keywords: RHash,
) -> Result<Settings, Error> {
    collected(ruby, Settings::of_open(tables, CaptureOptions::OPTIONS), keywords)
}

fn collected(ruby: &Ruby, mut settings: Settings, keywords: RHash) -> Result<Settings, Error> {
    keywords.foreach(|name: Symbol, value: Value| {
        let option = raised(ruby, settings.option(&name.name()?))?;
        if !value.is_nil() {
            let setting = setting_of(ruby, option, value)?;
            raised(ruby, settings.give(option, setting))?;
        }
        Ok(ForEach::Continue)
    })?;
    Ok(settings)
}

fn setting_of(ruby: &Ruby, option: &OptionSpec, value: Value) -> Result<Setting, Error> {
    let setting = match option.kind {
        OptionKind::Flag => return Ok(Setting::Flag(value.to_bool())),
        OptionKind::Count { .. } => count(value).map(Setting::Count),
        OptionKind::Seconds => f64::try_convert(value).map(Setting::Seconds),
        OptionKind::Text | OptionKind::Choice(_) | OptionKind::Time => {
            text(value).map(Setting::Text)
        }
        OptionKind::Path => path(value).map(Setting::Path),
        OptionKind::Texts => elements(value, text).map(Setting::Texts),
        OptionKind::Paths => elements(value, path).map(Setting::Paths),
    };
    setting.map_err(|error| described(ruby, option, value, error))
}

/// An Integer, as far as any option goes.
fn count(value: Value) -> Result<i128, Error> {
    let number = Integer::try_convert(value)?;
    if let Ok(count) = number.to_i64() {
        return Ok(i128::from(count));
    }
    let is_negative: bool = number.funcall("negative?", ())?;
    Ok(if is_negative { i128::from(i64::MIN) } else { i128::from(u64::MAX) })
}

fn text(value: Value) -> Result<String, Error> {
    match Symbol::from_value(value) {
        Some(symbol) => Ok(symbol.name()?.into_owned()),
        None => String::try_convert(value),
    }
}

fn path(value: Value) -> Result<PathBuf, Error> {
    if RString::from_value(value).is_none() && value.respond_to("to_path", false)? {
        return path_of(value.funcall("to_path", ())?);
    }
    path_of(RString::try_convert(value)?)
}

/// The elements of an Array, or a value alone.
fn elements<T>(value: Value, element: fn(Value) -> Result<T, Error>) -> Result<Vec<T>, Error> {
    let array = RArray::to_ary(value)?;
    array.into_iter().map(element).collect()
}

/// The error of a conversion. What is of another class is told in our words; an error of the value's own code stays.
fn described(ruby: &Ruby, option: &OptionSpec, value: Value, error: Error) -> Error {
    if !error.is_kind_of(ruby.exception_type_error()) {
        return error;
    }
    let told = option.kind.not(option.name, class_name(value));
    Error::new(ruby.exception_type_error(), told.message().to_owned())
}
