//! A file and all that it includes, each once, included ones first.

use std::collections::HashMap;

use super::syntax::{FileSyntax, Name};
use super::text::IdlText;
use super::{FILES_MAX, IdlOptions, TEXT_LEN_MAX, TEXTS_LEN_MAX, parser};
use crate::{Error, Result};

/// Maximum number of files that include each other in a row.
const INCLUDE_DEPTH_MAX: usize = 32;

/// Maximum number of includes in all files together; the same file counts each time.
const INCLUDES_MAX: usize = 4096;

/// The text of a file.
#[derive(Debug, Clone)]
pub struct SourceText {
    /// Path that tells the file from others, and that errors show. Its last part without the extension
    /// is the name that its definitions have in files that include it.
    pub path: String,
    /// The text; UTF-8, though comments may be in another encoding.
    pub bytes: Vec<u8>,
}

/// Finds the files that others include: this module reads none itself.
pub trait Includes {
    /// The file that `from`, the path of another one, includes by `name`.
    ///
    /// # Errors
    ///
    /// Whatever there is to say about a file that is not there or cannot be read.
    fn find(&mut self, name: &str, from: &str) -> Result<SourceText>;
}

impl<F: FnMut(&str, &str) -> Result<SourceText>> Includes for F {
    fn find(&mut self, name: &str, from: &str) -> Result<SourceText> {
        self(name, from)
    }
}

/// A file, taken apart.
#[derive(Debug)]
pub(super) struct ParsedFile {
    pub(super) text: IdlText,
    pub(super) syntax: FileSyntax,
    /// The numbers of the files that it includes, each once.
    pub(super) includes: Vec<usize>,
}

/// A file and all that it includes. It comes last, and each of them after those that it includes.
pub(super) fn gather(
    main: SourceText,
    includes: &mut dyn Includes,
    options: IdlOptions,
) -> Result<Vec<ParsedFile>> {
    let mut gathering = Gathering {
        includes,
        options,
        files: Vec::new(),
        numbers: HashMap::new(),
        texts_len: 0,
        include_count: 0,
    };
    gathering.file(main, 0)?;
    Ok(gathering.files)
}

struct Gathering<'i> {
    includes: &'i mut dyn Includes,
    options: IdlOptions,
    files: Vec<ParsedFile>,
    /// The number of each file by its path; none while what it includes is gathered.
    numbers: HashMap<String, Option<usize>>,
    texts_len: usize,
    include_count: usize,
}

impl Gathering<'_> {
    fn file(&mut self, source: SourceText, depth: usize) -> Result<usize> {
        self.numbers.insert(source.path.clone(), None);
        let text = IdlText::new(source);
        self.texts_len = self.texts_len.saturating_add(text.bytes().len());
        bound("a text in bytes", TEXT_LEN_MAX, text.bytes().len(), &text)?;
        bound("all texts in bytes", TEXTS_LEN_MAX, self.texts_len, &text)?;
        bound("a number of files", FILES_MAX, self.numbers.len(), &text)?;
        let syntax = parser::parse(&text, self.options)?;
        let mut includes = Vec::new();
        for name in &syntax.includes {
            let number = self.include(name, &text, depth)?;
            if !includes.contains(&number) {
                includes.push(number);
            }
        }
        let number = self.files.len();
        self.numbers.insert(text.path.clone(), Some(number));
        self.files.push(ParsedFile { text, syntax, includes });
        Ok(number)
    }

    /// The number of the file that `from` includes by that name.
    fn include(&mut self, name: &Name, from: &IdlText, depth: usize) -> Result<usize> {
        self.include_count += 1;
        if self.include_count > INCLUDES_MAX {
            return Err(from.above(name.span, "a number of includes", INCLUDES_MAX));
        }
        let found = self.includes.find(&name.text, &from.path);
        let source = found.map_err(|error| from.because(name.span, &error))?;
        match self.numbers.get(&source.path) {
            Some(Some(number)) => return Ok(*number),
            Some(None) => {
                let expected = "files that do not include each other in a circle";
                let found = format!("{}, which leads here", source.path);
                return Err(from.expected(name.span, expected, found));
            }
            None => {}
        }
        if depth >= INCLUDE_DEPTH_MAX {
            return Err(from.above(name.span, "a row of includes", INCLUDE_DEPTH_MAX));
        }
        self.file(source, depth + 1)
    }
}

fn bound(what: &str, limit: usize, found: usize, text: &IdlText) -> Result<()> {
    if found <= limit {
        return Ok(());
    }
    let error = Error::limit(what, limit as u64, found as u64);
    Err(error.in_file(&text.path))
}
