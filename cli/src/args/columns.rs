//! Options of rows that go into a file of columns.

use std::path::PathBuf;

use bytewright::batch::ExportOptions;
use bytewright::export::OutputOptions;
use clap::Args as ArgGroup;

use super::named::NamedArgs;

/// The group of the options that name a file for the output.
pub(super) const FILE: &str = "file";

/// A file of columns in the place of printed rows.
#[derive(Debug, ArgGroup)]
#[command(
    mut_arg("force", |it| it.requires(FILE)),
    mut_arg("timestamps", |it| it.requires("parquet")),
    mut_arg("signed", |it| it.requires("parquet")),
    mut_arg("addresses", |it| it.requires("parquet"))
)]
pub(crate) struct ColumnsArgs {
    /// Write the rows to this Parquet file instead of printing them. It replaces an older file
    /// when it is complete.
    #[arg(long, value_name = "FILE", group = FILE, conflicts_with_all = ["json", "csv", "csv_safe"])]
    pub(crate) parquet: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) replacing: NamedArgs<OutputOptions>,

    #[command(flatten)]
    pub(crate) form: NamedArgs<ExportOptions>,
}
