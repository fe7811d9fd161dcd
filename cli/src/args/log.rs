//! Options of flows in the words of another program.

use std::path::PathBuf;

use bytewright::flow::FlowFormat;
use clap::Args as ArgGroup;
use clap::builder::PossibleValuesParser;

use super::columns::FILE;

/// Flows in the words of another program.
#[derive(Debug, ArgGroup)]
pub(crate) struct LogArgs {
    /// Write the flows as another program has them: as Zeek's conn.log or its JSON, as JSON by the Elastic Common Schema,
    /// or as a file of IPFIX. Features that the form has a place for are counted.
    #[arg(long = "as", value_name = "FORM", value_parser = PossibleValuesParser::new(FlowFormat::NAMES))]
    form: Option<String>,

    /// Write the flows of --as to this file instead of standard output. It replaces an older file when it is complete.
    #[arg(short, long, value_name = "FILE", group = FILE, requires = "form")]
    pub(crate) output: Option<PathBuf>,
}

impl LogArgs {
    /// The format of the other program, if one is asked for.
    pub(crate) fn format(&self) -> Option<FlowFormat> {
        // The parser knows the same names.
        self.form.as_deref().and_then(|name| FlowFormat::by_name(name).ok())
    }
}
