//! Options of readers.

use crate::Result;
use crate::bytes::{Compression, CompressionChoice};
use crate::options::{NamedOptions, OptionKind, OptionSpec, Setting, not_in_table};

/// Options of opening a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReaderOptions {
    /// Compression of the input.
    pub compression: CompressionChoice,
}

impl Default for ReaderOptions {
    fn default() -> Self {
        ReaderOptions { compression: CompressionChoice::AutoElseNone }
    }
}

impl NamedOptions for ReaderOptions {
    const OPTIONS: &'static [OptionSpec] = &[OptionSpec {
        name: "compressed",
        kind: OptionKind::Choice(&["auto", "gzip", "zstd", "none"]),
        default: "auto",
        summary: "Compression of the input: \"auto\" as its first bytes say, \"none\" to read the bytes as they are",
    }];

    fn set(&mut self, name: &str, setting: Setting) -> Result<()> {
        match name {
            "compressed" => self.compression = choice_named(name, &setting.text()?)?,
            _ => return Err(not_in_table(name)),
        }
        Ok(())
    }
}

fn choice_named(option: &str, word: &str) -> Result<CompressionChoice> {
    Ok(match word {
        "auto" => CompressionChoice::AutoElseNone,
        "gzip" => CompressionChoice::Is(Compression::Gzip),
        "zstd" => CompressionChoice::Is(Compression::Zstd),
        "none" => CompressionChoice::Is(Compression::None),
        _ => return Err(not_in_table(option)),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::options::Settings;

    #[test]
    fn each_compression_is_chosen_by_its_name() {
        let chosen = |text: &str| {
            let mut settings = Settings::of(&[ReaderOptions::OPTIONS]);
            settings.give_named(&[text])?;
            settings.take::<ReaderOptions>().map(|options| options.compression)
        };
        let auto = ReaderOptions::default().compression;
        assert_eq!(
            (auto, chosen("compressed=auto").unwrap()),
            (CompressionChoice::AutoElseNone, auto)
        );
        for compression in [Compression::None, Compression::Gzip, Compression::Zstd] {
            let found = chosen(&format!("compressed={compression}")).unwrap();
            assert_eq!(found, CompressionChoice::Is(compression));
        }
        let told = chosen("compressed=gzp").unwrap_err().to_string();
        let expected =
            "expected compressed to be auto, gzip, zstd or none, found \"gzp\"; did you mean gzip?";
        assert_eq!(told, expected);
    }
}
