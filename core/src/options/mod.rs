//! Options by name. An operation takes options; each stands once, in the table of the struct that holds it: its name, the
//! kind of its values, its default and a sentence. A face hands over names and values, and what is generated from the tables
//! describes them in each language.
//!
//! A struct with options implements [`NamedOptions`]. A call collects what it was given in [`Settings`], over the tables of
//! all structs that it needs, and then fills each of them.

mod duration;
mod kind;
mod setting;

use crate::error::excerpt;
use crate::spelling::nearest;
use crate::{Error, ErrorKind, Result};

pub(crate) use duration::duration_ns;
pub use kind::OptionKind;
pub(crate) use kind::choice_named;
pub use setting::Setting;

/// An option, as it is said once for all languages.
#[derive(Debug, Clone, Copy)]
pub struct OptionSpec {
    /// Its name.
    pub name: &'static str,
    /// The values that it takes.
    pub kind: OptionKind,
    /// The default, in a word or two: "all", "false", "65536".
    pub default: &'static str,
    /// The meaning: a sentence without its full stop.
    pub summary: &'static str,
}

impl OptionSpec {
    /// Reads the setting that a text means. Of an option with several values it is one of them.
    ///
    /// # Errors
    /// `Argument` for a text that means no value of the option's kind.
    pub fn setting(&self, text: &str) -> Result<Setting> {
        let setting = self.kind.parse(self.name, text)?;
        self.kind.check(self.name, &setting).map(|()| setting)
    }
}

/// A struct that is filled by the names of a table.
pub trait NamedOptions {
    /// Its options, in the order in which they are told.
    const OPTIONS: &'static [OptionSpec];

    /// Takes a setting for one of [`NamedOptions::OPTIONS`], whose kind it has.
    ///
    /// # Errors
    /// `Argument` for a value that the option does not take.
    fn set(&mut self, name: &str, setting: Setting) -> Result<()>;
}

/// The settings of one call, by the tables of options that it takes.
#[derive(Debug)]
pub struct Settings {
    tables: &'static [&'static [OptionSpec]],
    opening: &'static [OptionSpec],
    given: Vec<(&'static OptionSpec, Setting)>,
}

impl Settings {
    /// No setting yet, of a call with the options of these tables.
    pub const fn of(tables: &'static [&'static [OptionSpec]]) -> Self {
        Settings { tables, opening: &[], given: Vec::new() }
    }

    /// No setting yet, of a call with a capture that is open: the error for one of the options of `opening` says where it belongs.
    pub const fn of_open(
        tables: &'static [&'static [OptionSpec]],
        opening: &'static [OptionSpec],
    ) -> Self {
        Settings { tables, opening, given: Vec::new() }
    }

    /// The option with that name.
    ///
    /// # Errors
    /// `Argument` where there is none, with the names that there are and the one that was probably meant.
    pub fn option(&self, name: &str) -> Result<&'static OptionSpec> {
        self.options().find(|option| option.name == name).ok_or_else(|| self.no_option(name))
    }

    /// Notes a setting. The last of an option counts.
    ///
    /// # Errors
    /// `Argument` for a value that is not of the option's kind.
    pub fn give(&mut self, option: &'static OptionSpec, setting: Setting) -> Result<()> {
        option.kind.check(option.name, &setting)?;
        self.given.retain(|(given, _)| given.name != option.name);
        self.given.push((option, setting));
        Ok(())
    }

    /// Notes the setting that a text means, as it stands in a list of `name=value`, as [`Settings::add`] does.
    ///
    /// # Errors
    /// Those of [`Settings::option`] and of [`OptionSpec::setting`].
    pub fn give_text(&mut self, name: &str, text: &str) -> Result<()> {
        let option = self.option(name)?;
        self.add(option, option.setting(text)?)
    }

    /// Notes a setting. Of an option with several values, those before it count, too.
    ///
    /// # Errors
    /// Those of [`Settings::give`].
    pub fn add(&mut self, option: &'static OptionSpec, setting: Setting) -> Result<()> {
        let before = self.given.iter().find(|(given, _)| given.name == option.name);
        let setting = match (before.map(|(_, before)| before.clone()), setting) {
            (Some(Setting::Texts(before)), Setting::Texts(more)) => {
                Setting::Texts([before, more].concat())
            }
            (Some(Setting::Paths(before)), Setting::Paths(more)) => {
                Setting::Paths([before, more].concat())
            }
            (_, setting) => setting,
        };
        self.give(option, setting)
    }

    /// Notes settings that are written as `name=value`.
    ///
    /// # Errors
    /// Those of [`Settings::give_text`], and `Argument` for a text without `=`.
    pub fn give_named(&mut self, named: &[&str]) -> Result<()> {
        named.iter().try_for_each(|text| match text.split_once('=') {
            Some((name, value)) => self.give_text(name, value),
            None => {
                let found = excerpt(text);
                let message = format!("expected an option as name=value, found {found:?}");
                Err(Error::new(ErrorKind::Argument, message))
            }
        })
    }

    /// Hands the settings of its table over to `options`.
    ///
    /// # Errors
    /// Those of [`NamedOptions::set`].
    pub fn fill<O: NamedOptions>(&self, options: &mut O) -> Result<()> {
        self.given_of::<O>()
            .try_for_each(|(option, setting)| options.set(option.name, setting.clone()))
    }

    /// The options of a table as they were given, and their defaults beside.
    ///
    /// # Errors
    /// Those of [`NamedOptions::set`].
    pub fn take<O: NamedOptions + Default>(&self) -> Result<O> {
        let mut options = O::default();
        self.fill(&mut options)?;
        Ok(options)
    }

    /// The text that an option was given.
    pub fn text_of(&self, name: &str) -> Option<&str> {
        let mut found = self.given.iter().filter(|(option, _)| option.name == name);
        found.find_map(|(_, setting)| match setting {
            Setting::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// The settings, by the names of their options.
    pub fn given(&self) -> impl Iterator<Item = (&'static str, &Setting)> {
        self.given.iter().map(|(option, setting)| (option.name, setting))
    }

    fn given_of<O: NamedOptions>(&self) -> impl Iterator<Item = &(&'static OptionSpec, Setting)> {
        let is_of_table = |name| O::OPTIONS.iter().any(|option| option.name == name);
        self.given.iter().filter(move |(option, _)| is_of_table(option.name))
    }

    fn options(&self) -> impl Iterator<Item = &'static OptionSpec> + use<> {
        self.tables.iter().copied().flatten()
    }

    fn no_option(&self, name: &str) -> Error {
        if self.opening.iter().any(|option| option.name == name) {
            let message = format!(
                "expected {name} where the capture is opened, found it in a call with one that is open"
            );
            return Error::new(ErrorKind::Argument, message);
        }
        let names: Vec<&str> = self.options().map(|option| option.name).collect();
        unknown_option(name, &names)
    }
}

/// Returns the error for an option that is none of `names`, with these and the one that was probably meant. Programs that other ones
/// hand options to may have some of their own beside those of a table, and letters of either case.
pub fn unknown_option(name: &str, names: &[&str]) -> Error {
    let lower: Vec<String> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
    let near = nearest(&name.to_ascii_lowercase(), lower.iter().map(String::as_str));
    let meant = names.iter().find(|name| near.is_some_and(|near| name.eq_ignore_ascii_case(near)));
    let hint = meant.map_or_else(String::new, |meant| format!("; did you mean {meant}?"));
    let (known, found) = (names.join(", "), excerpt(name));
    let message = match known.is_empty() {
        true => format!("expected no options, found {found}"),
        false => format!("expected an option ({known}), found {found}{hint}"),
    };
    Error::new(ErrorKind::Argument, message)
}

/// The option of a table, with a kind that no option has, which only a defect can ask for.
pub(crate) fn not_in_table(name: &str) -> Error {
    Error::internal(format!("an option {name} that is not in its table"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[derive(Debug, Default, PartialEq)]
    struct ReadingOptions {
        is_fast: bool,
        rows: u32,
        patience: Option<f64>,
        mode: String,
    }

    impl NamedOptions for ReadingOptions {
        const OPTIONS: &'static [OptionSpec] = &[
            OptionSpec { name: "fast", kind: OptionKind::Flag, default: "false", summary: "" },
            OptionSpec { name: "rows", kind: OptionKind::POSITIVE_32, default: "0", summary: "" },
            OptionSpec { name: "wait", kind: OptionKind::Seconds, default: "none", summary: "" },
            OptionSpec {
                name: "mode",
                kind: OptionKind::Choice(&["loud", "quiet", "mute"]),
                default: "loud",
                summary: "",
            },
        ];

        fn set(&mut self, name: &str, setting: Setting) -> Result<()> {
            match name {
                "fast" => self.is_fast = setting.flag()?,
                "rows" => self.rows = setting.count()?,
                "wait" => self.patience = Some(setting.seconds()?),
                "mode" => self.mode = setting.text()?,
                _ => return Err(not_in_table(name)),
            }
            Ok(())
        }
    }

    const TABLES: &[&[OptionSpec]] = &[ReadingOptions::OPTIONS];

    fn told(name: &str, text: &str) -> String {
        let mut settings = Settings::of(TABLES);
        settings.give_text(name, text).map_or_else(|error| error.to_string(), |()| "taken".into())
    }

    #[test]
    fn options_are_filled_by_their_names_and_the_last_setting_counts() {
        let mut settings = Settings::of(TABLES);
        for (name, text) in
            [("rows", "1"), ("fast", "true"), ("wait", "0.5"), ("mode", "mute"), ("rows", "7")]
        {
            settings.give_text(name, text).unwrap();
        }
        let mode = "mute".to_owned();
        let expected = ReadingOptions { is_fast: true, rows: 7, patience: Some(0.5), mode };
        assert_eq!(settings.take::<ReadingOptions>().unwrap(), expected);
        let names: Vec<_> = settings.given().map(|(name, _)| name).collect();
        assert_eq!(names, ["fast", "wait", "mode", "rows"]);
    }

    #[test]
    fn settings_are_written_as_names_and_values_and_lists_gather_theirs() {
        let mut settings = Settings::of(TABLES);
        settings.give_named(&["rows=1e3", "wait=2", "fast=", "mode=quiet"]).unwrap();
        let (mode, patience) = ("quiet".to_owned(), Some(2.0));
        let expected = ReadingOptions { is_fast: false, rows: 1000, patience, mode };
        assert_eq!(settings.take::<ReadingOptions>().unwrap(), expected);
        let told = settings.give_named(&["rows"]).unwrap_err().to_string();
        assert_eq!(told, "expected an option as name=value, found \"rows\"");
        const BY: OptionSpec =
            OptionSpec { name: "by", kind: OptionKind::Texts, default: "none", summary: "" };
        const LISTS: &[&[OptionSpec]] = &[&[BY]];
        let mut settings = Settings::of(LISTS);
        settings.give_named(&["by=src_ip", "by=a=b"]).unwrap();
        let found = settings.given().map(|(_, setting)| setting.clone()).collect::<Vec<_>>();
        assert_eq!(found, [Setting::Texts(vec!["src_ip".into(), "a=b".into()])]);
    }

    #[test]
    fn an_unknown_name_is_refused_with_those_there_are_and_the_one_that_was_meant() {
        let known = "expected an option (fast, rows, wait, mode), found ";
        assert_eq!(told("row", "1"), format!("{known}row; did you mean rows?"));
        assert_eq!(told("colour", "1"), format!("{known}colour"));
        assert_eq!(
            Settings::of(&[]).option("row").unwrap_err().to_string(),
            "expected no options, found row"
        );
    }

    #[test]
    fn an_option_of_opening_is_refused_with_where_it_belongs() {
        const OPENING: &[OptionSpec] =
            &[OptionSpec { name: "way", kind: OptionKind::Text, default: "none", summary: "" }];
        let settings = Settings::of_open(TABLES, OPENING);
        assert!(settings.option("fast").is_ok());
        let message = |name| settings.option(name).unwrap_err().message().to_owned();
        assert_eq!(
            message("way"),
            "expected way where the capture is opened, found it in a call with one that is open"
        );
        assert!(
            message("ways").starts_with("expected an option (fast, rows, wait, mode), found ways")
        );
    }

    #[test]
    fn a_value_of_another_kind_is_refused_with_what_was_expected_and_found() {
        assert_eq!(told("fast", "maybe"), "expected fast to be true or false, found \"maybe\"");
        assert_eq!(told("rows", "-1"), "expected rows of 1 or more, found -1");
        assert_eq!(
            told("rows", "4294967296"),
            "expected rows of at most 4294967295, found 4294967296"
        );
        assert_eq!(told("rows", "two"), "expected rows to be an integer, found \"two\"");
        assert_eq!(told("wait", "-1"), "expected wait of 0 seconds or more, found -1");
        assert_eq!(told("wait", "NaN"), "expected wait of 0 seconds or more, found NaN");
        let modes = "expected mode to be loud, quiet or mute, found \"lout\"; did you mean loud?";
        assert_eq!(told("mode", "lout"), modes);
    }

    #[test]
    fn an_unknown_option_is_told_with_the_one_that_was_meant_in_letters_of_any_case() {
        let message = |name| unknown_option(name, &["rows", "maxFiles"]).message().to_owned();
        assert_eq!(
            message("maxfile"),
            "expected an option (rows, maxFiles), found maxfile; did you mean maxFiles?"
        );
        assert_eq!(
            message("RAWS"),
            "expected an option (rows, maxFiles), found RAWS; did you mean rows?"
        );
        assert_eq!(message("colour"), "expected an option (rows, maxFiles), found colour");
    }
}
