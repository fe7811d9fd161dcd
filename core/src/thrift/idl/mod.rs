//! Thrift's interface definition language: files in it, read without the compiler, as far as the
//! compiler of version 0.17 accepts them, and the `uuid` of later ones.
//!
//! [`parse`] takes the text of a file, asks for those it includes ([`Includes`]), and gives a
//! [`Document`]: the [`ThriftSchema`](super::ThriftSchema) of all structs, and what a host needs beside it to make
//! classes like generated ones: names, namespaces, constants, defaults, services. A host whose classes are made in its own
//! language takes it as lists of facts ([`Document::described`]). Names are looked up
//! as the compiler does: a type may be used before it is defined, but not by a value; a constant, an
//! exception that is thrown and a service that is extended stand before their use.
//!
//! Four steps, a file or folder each: `lexer` makes words of a text, `parser` a tree of the words,
//! `gather` does both for a file and all that it includes, `resolve` looks names up.
//!
//! Differences from the compiler, on purpose:
//!
//! - Words that languages reserve (`class`, `next`) may be names: a generator refuses them, the
//!   language does not. Fields may be called like most words of the language, as in later versions.
//! - A constant that is another list or map has its elements, a double of an integer constant its
//!   value: 0.17 leaves the first empty and makes the second 0.
//! - A `required` exception is not: 0.17 takes the word, and then no result is valid.
//! - A file that is missing, an id outside of 16 bits, a typedef of what is not defined, a name with a
//!   dot for the value of an enum, an exception called `success` and a value of the wrong shape for a
//!   list or map are errors, where 0.17 warns, drops or says nothing. So is a number that is only a sign.
//! - A file may include another twice.

mod description;
mod document;
mod gather;
mod keywords;
mod lexer;
mod parser;
mod resolve;
mod syntax;
mod text;

pub use description::Described;
pub use document::{
    Annotation, Const, ConstValue, Document, EnumDefinition, FieldDefinition, Function, Namespace,
    Program, ProgramId, Service, ServiceId, StructDefinition, StructOrigin, Typedef,
};
pub use gather::{Includes, SourceText};

use crate::Result;

// Bound (Thrift): IDL texts = 4 MiB each, 16 MiB together, 256 files.
/// Maximum length of the text of one file, in bytes.
pub const TEXT_LEN_MAX: usize = 4 << 20;

/// Maximum length of the texts of all files together, in bytes.
pub const TEXTS_LEN_MAX: usize = 16 << 20;

/// Maximum number of files.
pub const FILES_MAX: usize = 256;

// Bound (Thrift): nesting of IDL values = 64.
/// Maximum depth of values of constants and defaults in each other.
pub const VALUE_DEPTH_MAX: usize = 64;

/// Options for reading IDL.
#[derive(Debug, Clone, Copy, Default)]
pub struct IdlOptions {
    /// Keeps ids of fields that are written and not above 0, as with the compiler's
    /// `--allow-neg-keys`. Otherwise they are numbered like fields without an id.
    pub keep_negative_ids: bool,
}

/// Reads an IDL file and all that it includes.
///
/// # Errors
///
/// `Format` for what the language does not allow, `Limit` for what is above a bound; the message has
/// line and column, the line and a caret, the error the file. An error of `includes` keeps its kind.
pub fn parse(
    main: SourceText,
    includes: &mut dyn Includes,
    options: IdlOptions,
) -> Result<Document> {
    let files = gather::gather(main, includes, options)?;
    resolve::resolve(&files)
}
