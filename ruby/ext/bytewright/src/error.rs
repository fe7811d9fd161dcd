//! The core's errors as Ruby exceptions: one class per kind, made in this one place.

use bytewright::ErrorKind;
use bytewright::error::excerpt_of_bytes;
use bytewright::panics::{self, Panic};
use bytewright::terminal::{Harmless, is_harmful};
use bytewright::thrift::ProtocolError;
use magnus::value::{InnerValue, Lazy};
use magnus::{Error, Exception, ExceptionClass, RModule, RString, Ruby, Value, kwargs, prelude::*};

use crate::border::{bytes_of, class_name, inspected};

/// The module that everything of ours lives in.
static BYTEWRIGHT: Lazy<RModule> =
    Lazy::new(|ruby| ruby.define_module("Bytewright").unwrap_or_else(|_| ruby.module_kernel()));

/// `Bytewright`.
pub(crate) fn module(ruby: &Ruby) -> RModule {
    BYTEWRIGHT.get_inner_with(ruby)
}

/// The exception for an error of the core. What the system refused becomes the `Errno` class that
/// Ruby itself would raise.
pub(crate) fn to_ruby(ruby: &Ruby, error: &bytewright::Error) -> Error {
    build(ruby, error).unwrap_or_else(|failure| failure)
}

fn build(ruby: &Ruby, error: &bytewright::Error) -> Result<Error, Error> {
    let message = error.to_string();
    let name = match error.kind() {
        ErrorKind::Io(Some(errno)) => {
            let class: ExceptionClass = ruby.class_object().const_get("SystemCallError")?;
            // Ruby puts the system's words before; what is left to say is which file.
            let file = error.file().unwrap_or_else(|| error.message());
            let file = Harmless::line(file).to_string();
            let exception: Exception = class.funcall("new", (file, errno))?;
            return Ok(exception.into());
        }
        ErrorKind::Io(None) => return Ok(Error::new(ruby.exception_io_error(), message)),
        ErrorKind::Argument => return Ok(Error::new(ruby.exception_arg_error(), message)),
        ErrorKind::Format => "FormatError",
        ErrorKind::Truncated { .. } => "TruncatedError",
        ErrorKind::Limit => "LimitError",
        ErrorKind::Lock => "LockError",
        ErrorKind::Closed => "ClosedError",
        ErrorKind::Corrupt => "CorruptError",
        ErrorKind::MissingLibrary => "MissingLibraryError",
        _ => "InternalError",
    };
    let class: ExceptionClass = module(ruby).const_get(name)?;
    let place = kwargs!(ruby, "offset" => error.offset(), "file" => error.file());
    let exception: Exception = match error.kind() {
        ErrorKind::Truncated { needed, available } => {
            let place = kwargs!(
                ruby,
                "offset" => error.offset(),
                "file" => error.file(),
                "needed" => needed,
                "available" => available
            );
            class.funcall("new", (message, place))?
        }
        _ => class.funcall("new", (message, place))?,
    };
    Ok(exception.into())
}

/// The exception that the gem thrift raises for a message, where the gem is there.
pub(crate) fn to_thrift(ruby: &Ruby, error: &ProtocolError) -> Error {
    let message = error.to_string();
    let Some(number) = error.kind().number() else { return end_of_file(ruby, &message) };
    let built = || -> Result<Error, Error> {
        let thrift: RModule = ruby.class_object().const_get("Thrift")?;
        let class: ExceptionClass = thrift.const_get("ProtocolException")?;
        let exception: Exception = class.funcall("new", (number, message))?;
        Ok(exception.into())
    };
    built().unwrap_or_else(|failure| failure)
}

/// `Bytewright.excerpt(text)`: text from outside as an error repeats it. It is the same String, if it is short and holds nothing
/// that a terminal would act on.
pub(crate) fn excerpt(ruby: &Ruby, text: RString) -> RString {
    let bytes = bytes_of(text);
    let shown = excerpt_of_bytes(&bytes);
    match shown.as_bytes() == bytes && !shown.chars().any(is_harmful) {
        true => text,
        false => ruby.str_new(&Harmless::line(&shown).to_string()),
    }
}

/// `Bytewright.shown(object)`: what `inspect` gives, as far as an error repeats it; the class of an object without `inspect`.
///
/// # Errors
/// Returns the error of `inspect`, or that of an interrupt that comes meanwhile.
pub(crate) fn shown(ruby: &Ruby, object: Value) -> Result<String, Error> {
    match inspected(object) {
        Ok(text) => Ok(excerpt_of_bytes(&bytes_of(text)).into_owned()),
        Err(error) if error.is_kind_of(ruby.exception_no_method_error()) => {
            Ok(format!("#<{}>", class_name(object)))
        }
        Err(error) => Err(error),
    }
}

/// The exception that refuses an object: its message is made of what is [`shown`] of the object. What that raises comes in its
/// place.
pub(crate) fn refusal(
    ruby: &Ruby,
    class: ExceptionClass,
    object: Value,
    message: impl FnOnce(&str) -> String,
) -> Error {
    shown(ruby, object).map_or_else(|raised| raised, |found| Error::new(class, message(&found)))
}

/// An EOFError.
pub(crate) fn end_of_file(ruby: &Ruby, message: &str) -> Error {
    Error::new(ruby.exception_eof_error(), message.to_owned())
}

/// A `Bytewright::ClosedError` of our own.
pub(crate) fn closed(ruby: &Ruby, message: &str) -> Error {
    to_ruby(ruby, &bytewright::Error::new(ErrorKind::Closed, message))
}

/// Turns the core's result into Ruby's.
pub(crate) fn raised<T>(ruby: &Ruby, result: bytewright::Result<T>) -> Result<T, Error> {
    result.map_err(|error| to_ruby(ruby, &error))
}

/// Damage as an exception that is not raised; nil where there is none.
///
/// # Errors
/// Returns the error that is raised while the exception is made, as by an interrupt.
pub(crate) fn damage(ruby: &Ruby, damage: Option<&bytewright::Error>) -> Result<Value, Error> {
    let Some(damage) = damage else { return Ok(ruby.qnil().as_value()) };
    let exception = build(ruby, damage)?;
    Ok(exception.value().map_or(ruby.qnil().as_value(), |exception| exception.as_value()))
}

/// Runs `body` and turns a panic in it into `Bytewright::InternalError`, which a program can rescue;
/// Ruby would otherwise see a `fatal` that nothing rescues.
pub(crate) fn guarded<T>(ruby: &Ruby, body: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    panics::catch(body).unwrap_or_else(|panic| Err(defect(ruby, &panic)))
}

/// The InternalError for a panic that was caught.
pub(crate) fn defect(ruby: &Ruby, panic: &Panic) -> Error {
    to_ruby(ruby, &bytewright::Error::internal(panic))
}
