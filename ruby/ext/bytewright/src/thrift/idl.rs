//! Content of IDL files, as Arrays of which `ruby/lib` makes classes.

use bytewright::ErrorKind;
use bytewright::thrift::idl::{Described, IdlOptions, SourceText, parse};
use magnus::block::Proc;
use magnus::{Error, RClass, RString, Ruby, Value, function, prelude::*};

use crate::border::bytes_of;
use crate::error::to_ruby;
use crate::record::fact_of;

/// `ThriftCodec.read_idl(path, text, finder)`: the finder is asked for included files by their name and
/// the path of the file that includes them, and answers a path and a text.
fn read_idl(ruby: &Ruby, path: String, text: RString, finder: Proc) -> Result<Value, Error> {
    let main = SourceText { path, bytes: bytes_of(text) };
    let mut failure = None;
    let mut find = |name: &str, from: &str| {
        let found: Result<(String, RString), Error> = finder.call((name, from));
        found.map(|(path, text)| SourceText { path, bytes: bytes_of(text) }).map_err(|error| {
            failure = Some(error);
            bytewright::Error::new(ErrorKind::Io(None), "an included file cannot be read")
        })
    };
    match parse(main, &mut find, IdlOptions::default()) {
        Ok(document) => object(ruby, &document.described("rb")),
        Err(error) => Err(failure.unwrap_or_else(|| to_ruby(ruby, &error))),
    }
}

/// A description of the core's, with words as Symbols.
fn object(ruby: &Ruby, described: &Described<'_>) -> Result<Value, Error> {
    match described {
        Described::Fact(fact) => fact_of(ruby, *fact),
        Described::Word(word) => Ok(ruby.to_symbol(*word).as_value()),
        Described::List(parts) => {
            let list = ruby.ary_new_capa(parts.len());
            parts.iter().try_for_each(|part| list.push(object(ruby, part)?))?;
            Ok(list.as_value())
        }
    }
}

pub(super) fn define(class: RClass) -> Result<(), Error> {
    class.define_singleton_method("read_idl", function!(read_idl, 3))
}
