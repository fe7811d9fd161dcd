//! Options of rows that go into a file of columns.

use std::path::PathBuf;

use bytewright::batch::{AddressForm, ExportOptions, TimeUnit};
use bytewright::export::OutputOptions;
use clap::{Args as ArgGroup, ValueEnum};

use super::named::NamedArgs;

/// A file of columns in the place of printed rows.
#[derive(Debug, ArgGroup)]
#[command(mut_arg("force", |force| force.requires("parquet")))]
pub(crate) struct ColumnsArgs {
    /// Write the rows to this Parquet file instead of printing them. It replaces an older file
    /// when it is complete.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "csv", "csv_safe"])]
    pub(crate) parquet: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) replacing: NamedArgs<OutputOptions>,

    /// Write times in this unit. Spark refuses nanoseconds; with microseconds, the column
    /// `ts_nanos` has the remaining nanoseconds.
    #[arg(long, value_enum, default_value_t, value_name = "UNIT", requires = "parquet")]
    timestamps: Timestamps,

    /// Write unsigned numbers as signed ones of the next larger width, for Spark and other JVM
    /// programs.
    #[arg(long, requires = "parquet")]
    signed: bool,

    /// Write addresses as text, or as 16 bytes, IPv4 as ::ffff:a.b.c.d.
    #[arg(long, value_enum, default_value_t, value_name = "FORM", requires = "parquet")]
    addresses: Addresses,
}

impl ColumnsArgs {
    pub(crate) fn options(&self) -> ExportOptions {
        let timestamps = match self.timestamps {
            Timestamps::Ns => TimeUnit::Nanoseconds,
            Timestamps::Us => TimeUnit::Microseconds,
        };
        let addresses = match self.addresses {
            Addresses::Text => AddressForm::Text,
            Addresses::Binary => AddressForm::Binary,
        };
        ExportOptions { timestamps, signed: self.signed, addresses }
    }
}

/// The unit of times.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum Timestamps {
    /// Nanoseconds.
    #[default]
    Ns,
    /// Microseconds.
    Us,
}

/// The form of addresses.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum Addresses {
    #[default]
    Text,
    Binary,
}
