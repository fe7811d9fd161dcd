//! Files of Thrift messages as rows: a question by options, which is asked for some of its columns.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::messages::{MessageRows, MessageSource};
use super::pass_host::Host;
use crate::ask::load_idl;
use crate::batch::{Batch, Schema};
use crate::bytes::{ByteStream, StreamOptions};
use crate::options::{NamedOptions, OptionKind, OptionSpec, Setting, not_in_table};
use crate::thrift::idl::IdlOptions;
use crate::thrift::{Columns, MessageLayout, PATHS_MAX, Plan, Projection};
use crate::{Error, ErrorKind, Result};

/// Rows in a batch.
const ROWS_MAX: usize = 65_536;

/// The messages that are meant, and their fields, as a program names them.
#[derive(Debug, Clone)]
pub struct MessageOptions {
    /// The IDL file that defines them.
    pub idl: Option<PathBuf>,
    /// The name of their struct, union or exception.
    pub type_name: Option<String>,
    /// The fields that become columns; all fields without any.
    pub paths: Vec<String>,
    /// Folders to look for files that the IDL file includes.
    pub include: Vec<PathBuf>,
    /// The name of their protocol.
    pub protocol: String,
    /// True if the length of each comes before it.
    pub framed: bool,
}

impl Default for MessageOptions {
    fn default() -> Self {
        let (protocol, paths, include) = ("binary".to_owned(), Vec::new(), Vec::new());
        MessageOptions { idl: None, type_name: None, paths, include, protocol, framed: false }
    }
}

impl NamedOptions for MessageOptions {
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "idl",
            kind: OptionKind::Path,
            default: "none",
            summary: "IDL file that defines the messages",
        },
        OptionSpec {
            name: "type",
            kind: OptionKind::Text,
            default: "none",
            summary: "Name of the struct, union or exception that they are, file.Name if it is in an included file",
        },
        OptionSpec {
            name: "paths",
            kind: OptionKind::Texts,
            default: "all fields",
            summary: "Fields that become columns, such as place.city, rows.size, or rows[].size for a row of each element",
        },
        OptionSpec {
            name: "include",
            kind: OptionKind::Paths,
            default: "none",
            summary: "Folders to search for files that the IDL file includes",
        },
        OptionSpec {
            name: "protocol",
            kind: OptionKind::Choice(&MessageLayout::PROTOCOLS),
            default: "binary",
            summary: "How messages are written",
        },
        OptionSpec {
            name: "framed",
            kind: OptionKind::Flag,
            default: "false",
            summary: "Each message has its length before it, as it has with the protocol header",
        },
    ];

    fn set(&mut self, name: &str, setting: Setting) -> Result<()> {
        match name {
            "idl" => self.idl = Some(setting.path()?),
            "type" => self.type_name = Some(setting.text()?),
            "paths" => self.paths = setting.texts()?,
            "include" => self.include = setting.paths()?,
            "protocol" => self.protocol = setting.text()?,
            "framed" => self.framed = setting.flag()?,
            _ => return Err(not_in_table(name)),
        }
        Ok(())
    }
}

impl MessageOptions {
    fn layout(&self) -> Result<MessageLayout> {
        let layout = MessageLayout::named(&self.protocol)
            .ok_or_else(|| Error::internal("a protocol without a layout"))?;
        Ok(layout.framed_if(self.framed))
    }
}

/// A question to files of messages.
#[derive(Debug)]
pub struct MessageQuestion {
    files: Vec<PathBuf>,
    layout: MessageLayout,
    /// All columns.
    whole: Arc<Projection>,
    /// The path that has a row for each element of a list, where there is one.
    rows_path: Option<usize>,
}

impl MessageQuestion {
    /// The question for messages of these files, which are read in this order.
    ///
    /// # Errors
    /// `Argument` without an IDL file or a type; those of [`load_idl`], and of the paths.
    pub fn new(files: Vec<PathBuf>, options: &MessageOptions) -> Result<Self> {
        let (Some(idl), Some(type_name)) = (&options.idl, &options.type_name) else {
            let missing = if options.idl.is_none() { "idl" } else { "type" };
            let message = format!("expected {missing} with messages of Thrift, found none");
            return Err(Error::new(ErrorKind::Argument, message));
        };
        let document = load_idl(idl, &options.include, IdlOptions::default())?;
        let root = document.struct_named(type_name)?;
        let plan = Arc::new(Plan::new(Arc::new(document.schema))?);
        let whole = Arc::new(Projection::of_columns(plan, root, &options.paths)?);
        let (rows_path, layout) = (whole.rows_path()?, options.layout()?);
        Ok(MessageQuestion { files, layout, whole, rows_path })
    }

    /// The rows with the columns whose names are wanted, and perhaps that of the list whose elements they are. Nothing is read yet.
    ///
    /// # Errors
    /// Those of [`Columns::new`].
    pub fn rows(&self, is_wanted: impl Fn(&str) -> bool) -> Result<MessageFiles> {
        let mut chosen: Vec<&str> = Vec::new();
        for (place, (path, _)) in self.whole.paths().iter().enumerate() {
            // Who wants other columns alone has the rows of the list nevertheless.
            if is_wanted(path) || self.rows_path == Some(place) {
                chosen.push(path);
            }
        }
        let is_whole = chosen.len() == self.whole.paths().len() || chosen.len() > PATHS_MAX;
        let projection = match is_whole {
            true => Arc::clone(&self.whole),
            false => {
                let (plan, root) = (Arc::clone(self.whole.plan()), self.whole.root());
                Arc::new(Projection::of_columns(plan, root, &chosen)?)
            }
        };
        let schema = Columns::new(Arc::clone(&projection))?.batch().schema().clone();
        let files = self.files.clone().into();
        Ok(MessageFiles { files, layout: self.layout, projection, schema, rows: None })
    }
}

/// The rows of files of messages, one file after the other.
pub struct MessageFiles {
    files: VecDeque<PathBuf>,
    layout: MessageLayout,
    projection: Arc<Projection>,
    schema: Schema,
    rows: Option<MessageRows>,
}

impl MessageFiles {
    /// Returns the schema of the rows.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The next rows; none at the end.
    ///
    /// # Errors
    /// Those of [`MessageRows::next`] and of opening a file.
    pub fn next<H: Host>(&mut self, host: &H) -> Result<Option<Batch>, H::Error> {
        loop {
            if let Some(rows) = &mut self.rows
                && let Some(batch) = rows.next(host)?
            {
                return Ok(Some(batch));
            }
            let Some(file) = self.files.front() else { return Ok(None) };
            // One that fails to open stays, so that its error comes again.
            self.rows = Some(self.open(file).map_err(|error| host.error(error))?);
            self.files.pop_front();
        }
    }

    fn open(&self, file: &Path) -> Result<MessageRows> {
        let source = MessageSource::of_stream(ByteStream::open(file, &StreamOptions::default())?);
        let columns = Columns::new(Arc::clone(&self.projection))?;
        Ok(MessageRows::new(source, self.layout, columns, ROWS_MAX))
    }
}
