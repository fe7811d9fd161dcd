//! Options of the core's tables as arguments: `--name` for each, with its summary as help. The core checks the values, and
//! its words tell what is wrong with them.

use std::marker::PhantomData;
use std::path::PathBuf;

use bytewright::ask::{CallOptions, CutOptions, QuestionSpec};
use bytewright::batch::ExportOptions;
use bytewright::export::OutputOptions;
use bytewright::flow::FlowOptions;
use bytewright::options::{NamedOptions, OptionKind, OptionSpec, Setting, Settings};
use bytewright::report::ReportOptions;
use clap::builder::{PathBufValueParser, TypedValueParser, ValueParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, ValueHint};

use super::selection::help_of_libpcap;

/// Options of a table that are arguments, all of them by default, and what the command adds to each.
pub(crate) trait Choice {
    fn choose(argument: Arg) -> Option<Arg> {
        Some(argument)
    }
}

/// A condition on rows is one of all questions, which the command groups and draws, too.
impl Choice for CallOptions {
    fn choose(argument: Arg) -> Option<Arg> {
        (argument.get_id() != "where").then_some(argument)
    }
}

impl Choice for CutOptions {}
impl Choice for ExportOptions {}
impl Choice for FlowOptions {}
impl Choice for OutputOptions {}
impl Choice for ReportOptions {}

/// The options of a struct, as the command line gives them. `C` chooses which; by default the struct itself does.
#[derive(Debug)]
pub(crate) struct NamedArgs<O, C = O> {
    pub(crate) options: O,
    choice: PhantomData<C>,
}

impl<O: NamedOptions + Default + 'static, C: Choice> NamedArgs<O, C> {
    fn chosen() -> impl Iterator<Item = (&'static OptionSpec, Arg)> {
        O::OPTIONS.iter().filter_map(|option| {
            let parse = |text: &str| {
                let setting = option.setting(text).and_then(|setting| {
                    // The struct knows more of its values than the kind says: it reads times, flows and conditions.
                    O::default().set(option.name, setting.clone()).map(|()| setting)
                });
                setting.map_err(|error| error.message().to_owned())
            };
            C::choose(argument(option, ValueParser::new(parse)))
                .map(|argument| (option, helped(option, argument)))
        })
    }

    fn read(matches: &ArgMatches) -> bytewright::Result<Self> {
        let mut settings = Settings::of(const { &[O::OPTIONS] });
        for (option, _) in Self::chosen() {
            add_given(&mut settings, option, matches)?;
        }
        Ok(NamedArgs { options: settings.take()?, choice: PhantomData })
    }
}

/// The own options of a question that is asked by its name.
#[derive(Clone, Copy)]
pub(crate) struct OptionsOf(pub(crate) &'static QuestionSpec);

impl OptionsOf {
    fn options(self) -> impl Iterator<Item = &'static OptionSpec> {
        self.0.own_tables().iter().copied().flatten()
    }

    /// The setting that a text means, which the question takes.
    fn setting(self, option: &'static OptionSpec, text: &str) -> bytewright::Result<Setting> {
        let (setting, mut alone) = (option.setting(text)?, Settings::of(self.0.own_tables()));
        alone.give(option, setting.clone())?;
        self.0.question(&alone).map(|_| setting)
    }

    /// The command with an argument for each option.
    pub(crate) fn add_to(self, command: Command) -> Command {
        command.args(self.options().map(|option| {
            let parse = move |text: &str| {
                self.setting(option, text).map_err(|error| error.message().to_owned())
            };
            helped(option, argument(option, ValueParser::new(parse)))
        }))
    }

    /// The settings that were given.
    pub(crate) fn read(self, matches: &ArgMatches) -> bytewright::Result<Settings> {
        let mut settings = Settings::of(self.0.own_tables());
        self.options().try_for_each(|option| add_given(&mut settings, option, matches))?;
        Ok(settings)
    }
}

/// Adds what an option was given.
fn add_given(
    settings: &mut Settings,
    option: &'static OptionSpec,
    matches: &ArgMatches,
) -> bytewright::Result<()> {
    let mut given = matches.get_many::<Setting>(option.name).into_iter().flatten();
    given.try_for_each(|setting| settings.add(option, setting.clone()))
}

/// The argument with the summary of its option, and the default.
fn helped(option: &'static OptionSpec, argument: Arg) -> Arg {
    let help = match (option.kind, option.default) {
        (OptionKind::Flag, _) | (_, "none" | "all") => option.summary.to_owned(),
        // clap tells its own.
        _ if !argument.get_default_values().is_empty() => option.summary.to_owned(),
        (_, default) => format!("{} [default: {default}]", option.summary),
    };
    let help = if option.name == "filter" { help_of_libpcap(&help) } else { help };
    argument.help(help)
}

fn argument(option: &'static OptionSpec, texts: ValueParser) -> Arg {
    let argument = Arg::new(option.name).long(option.name.replace('_', "-")).value_parser(texts);
    let argument = argument.action(match option.kind {
        OptionKind::Texts | OptionKind::Paths => ArgAction::Append,
        _ => ArgAction::Set,
    });
    let of_paths = |argument: Arg, setting: fn(PathBuf) -> Setting| {
        let argument = argument.value_name("PATH").value_hint(ValueHint::AnyPath);
        argument.value_parser(PathBufValueParser::new().map(setting))
    };
    match option.kind {
        OptionKind::Flag => argument.num_args(0).default_missing_value("true"),
        OptionKind::Count { .. } => argument.value_name("N"),
        OptionKind::Seconds => argument.value_name("SECONDS"),
        OptionKind::Time => argument.value_name("TIME").allow_hyphen_values(true),
        OptionKind::Path => of_paths(argument, Setting::Path),
        OptionKind::Paths => of_paths(argument, |path| Setting::Paths(vec![path])),
        OptionKind::Choice(words) => argument.value_name(words.join("|")),
        // It may be taken off.
        OptionKind::Text if option.name == "shift" => {
            argument.value_name("TIME").allow_hyphen_values(true)
        }
        OptionKind::Text if option.name == "anonymize" => argument.value_name("KEY"),
        OptionKind::Text if matches!(option.name, "rotate" | "stop_after") => {
            argument.value_name("LIMITS")
        }
        OptionKind::Text | OptionKind::Texts => argument.value_name(option.name.to_uppercase()),
    }
}

impl<O: NamedOptions + Default + 'static, C: Choice> Args for NamedArgs<O, C> {
    fn augment_args(command: Command) -> Command {
        Self::chosen().fold(command, |command, (option, argument)| {
            // The first of two tables with the option says what it means to the command.
            let is_there = command.get_arguments().any(|other| other.get_id() == option.name);
            if is_there { command } else { command.arg(argument) }
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<O: NamedOptions + Default + 'static, C: Choice> FromArgMatches for NamedArgs<O, C> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Self::read(matches).map_err(|error| Error::raw(ErrorKind::ValueValidation, error))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        Self::from_arg_matches(matches).map(|read| *self = read)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    use clap::Parser;

    use super::super::{Args as Line, Command as Subcommand, CutArgs, FlowsArgs};

    fn command(line: &str) -> Result<Subcommand, String> {
        let args = Line::try_parse_from(line.split(' ')).map_err(|error| error.to_string())?;
        Ok(args.command.unwrap())
    }

    #[test]
    fn values_are_refused_in_the_words_of_the_core() {
        for (line, told) in [
            ("--jobs 0", "'--jobs <N>': expected jobs of 1 or more, found 0"),
            ("--idle-timeout=-1", "expected idle_timeout of 0 seconds or more, found -1"),
            ("--active-timeout soon", "expected active_timeout to be a number of seconds"),
            ("--flow 10.0.0.1", "'--flow <FLOW>': expected a flow"),
            ("--filter a --filter b", "cannot be used multiple times"),
            ("--damage keep", "unexpected argument '--damage'"),
        ] {
            let told_of = command(&format!("flows a.pcap {line}")).unwrap_err();
            assert!(told_of.contains(told), "{line}: {told_of}");
        }
    }

    #[test]
    fn flows_of_an_interface_end_after_a_minute_where_nothing_else_is_said() {
        let idle = |line: &str| match command(line) {
            Ok(Subcommand::Flows(FlowsArgs { ends, .. })) => ends.options.idle_timeout,
            other => unreachable!("{other:?}"),
        };
        assert_eq!(idle("flows a.pcap"), None);
        assert_eq!(idle("flows --interface lo"), Some(60_000_000_000));
        assert_eq!(idle("flows --interface lo --idle-timeout 0.5"), Some(500_000_000));
    }

    #[test]
    fn an_option_of_two_tables_is_one_argument_that_both_take() {
        match command("cut --interface lo --snaplen 60 -o a.pcap") {
            Ok(Subcommand::Cut(CutArgs { cut, selection, .. })) => {
                assert_eq!(cut.options.snaplen, Some(60));
                assert_eq!(selection.interfaces().unwrap().1.snaplen, 60);
            }
            other => unreachable!("{other:?}"),
        }
    }

    #[test]
    fn folders_are_gathered_and_their_names_are_any_bytes() {
        let odd = OsString::from_vec(vec![b'a', 0xff]);
        let line = ["rpc", "a.pcap", "--idl", "b", "--include", "c", "--include"];
        let line = line.into_iter().map(OsString::from).chain([odd.clone()]);
        match Line::try_parse_from(line).unwrap().command {
            Some(Subcommand::Rpc(args)) => {
                assert_eq!(
                    args.service.options.include,
                    ["c".into(), std::path::PathBuf::from(odd)]
                );
            }
            other => unreachable!("{other:?}"),
        }
    }
}
