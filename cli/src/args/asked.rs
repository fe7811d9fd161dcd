//! Questions that are asked by their name: a subcommand for each of the core's table.

use std::path::PathBuf;

use bytewright::ask::{Question, QuestionSpec};
use clap::error::ErrorKind;
use clap::{ArgMatches, Args as ArgGroup, Command, Error, FromArgMatches, Subcommand};

use super::columns::ColumnsArgs;
use super::headings::headed;
use super::jobs::Jobs;
use super::named::OptionsOf;
use super::selection::Selection;
use super::{Format, Units};

/// A question by its name.
#[derive(Debug)]
pub(crate) struct AskedArgs {
    pub(crate) question: Question,
    pub(crate) read: ReadArgs,
}

/// The captures that are asked, and the form of the answer.
#[derive(Debug, ArgGroup)]
#[command(mut_args(headed))]
pub(crate) struct ReadArgs {
    /// Captures, which are read as one run; `-` is standard input.
    #[arg(required_unless_present = "interface", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) selection: Selection,

    #[command(flatten)]
    pub(crate) jobs: Jobs,

    #[command(flatten)]
    pub(crate) format: Format,

    #[command(flatten)]
    pub(crate) units: Units,

    #[command(flatten)]
    pub(crate) columns: ColumnsArgs,
}

impl Subcommand for AskedArgs {
    fn augment_subcommands(command: Command) -> Command {
        QuestionSpec::ALL.iter().fold(command, |command, question| {
            let (about, details) =
                question.summary.split_once(". ").unwrap_or((question.summary, ""));
            let asked = OptionsOf(question).add_to(Command::new(question.name));
            let asked = ReadArgs::augment_args(asked).about(about);
            command.subcommand(match details {
                "" => asked,
                _ => asked.long_about(format!("{about}.\n\n{details}.")),
            })
        })
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        QuestionSpec::named(name).is_ok()
    }
}

impl FromArgMatches for AskedArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let refused = |error| Error::raw(ErrorKind::ValueValidation, error);
        let (name, matches) = matches.subcommand().unwrap_or(("", matches));
        let question = QuestionSpec::named(name).map_err(refused)?;
        let settings = OptionsOf(question).read(matches).map_err(refused)?;
        let question = question.question(&settings).map_err(refused)?;
        Ok(AskedArgs { question, read: ReadArgs::from_arg_matches(matches)? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        Self::from_arg_matches(matches).map(|read| *self = read)
    }
}
