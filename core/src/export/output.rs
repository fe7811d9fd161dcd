//! The name that an output is to get: what has it already, and whether that may be replaced. What the output is made of
//! stays, and so does what may be the only one of its kind: captures, tables and stores.

use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use crate::bytes::{ByteStream, StreamOptions};
use crate::capture::Decoder;
use crate::files::{FileId, FileWriter};
use crate::options::{NamedOptions, OptionKind, OptionSpec, Setting, not_in_table};
use crate::table::kept_format;
use crate::{Error, ErrorKind, Result};

/// Bytes that tell what a file is.
const BEGINNING_LEN: usize = 64;

/// Options for the file of an output: the files that it may replace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutputOptions {
    /// Replaces a file that is a capture, a table or a store, too.
    pub force: bool,
    /// Files that the output is made of, none of which it ever replaces.
    pub inputs: Vec<FileId>,
}

impl NamedOptions for OutputOptions {
    const OPTIONS: &'static [OptionSpec] = &[OptionSpec {
        name: "force",
        kind: OptionKind::Flag,
        default: "false",
        summary: "Replace a file that is a capture, a table or a store, too. An input never is",
    }];

    fn set(&mut self, name: &str, setting: Setting) -> Result<()> {
        match name {
            "force" => self.force = setting.flag()?,
            _ => return Err(not_in_table(name)),
        }
        Ok(())
    }
}

impl OutputOptions {
    /// The options of an output that is made of what is at these paths, as far as there is something.
    pub fn made_of<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>, force: bool) -> Self {
        let found = paths.into_iter().filter_map(|path| FileId::at(path.as_ref()).ok());
        OutputOptions { force, inputs: found.collect() }
    }

    /// Refuses to write over an input, by whatever name or descriptor `path` leads to it. Errors call it `name`.
    ///
    /// # Errors
    /// `Argument` where it is one.
    pub fn check_inputs(&self, path: &Path, name: &str) -> Result<()> {
        let is_device = path.metadata().is_ok_and(|there| there.file_type().is_char_device());
        match FileId::at(path) {
            Ok(id) if !is_device && self.inputs.contains(&id) => {
                let message = "expected an output beside the inputs, found one of them; write to another name";
                Err(Error::new(ErrorKind::Argument, message).in_file(name))
            }
            _ => Ok(()),
        }
    }

    /// Refuses what must not be replaced.
    ///
    /// # Errors
    /// `Argument` for an input, and without `force` for a capture, a table or a store; `Io` where a file is there that
    /// cannot be looked at.
    pub fn check(&self, path: &Path) -> Result<()> {
        let name = path.to_string_lossy();
        self.check_inputs(path, &name)?;
        if self.force || !path.is_file() {
            return Ok(());
        }
        let Some(found) = kept_content(path)? else { return Ok(()) };
        let message = format!(
            "expected a name for the output that is free, found {found}; write to another name, or replace it with force"
        );
        Err(Error::new(ErrorKind::Argument, message).in_file(&name))
    }

    /// A file that takes the place of the one at `path` when it is finished.
    ///
    /// # Errors
    /// Those of [`FileWriter::replace`], and for what must not be replaced.
    pub(crate) fn replace(&self, path: &Path) -> Result<FileWriter> {
        self.check(path)?;
        FileWriter::replace(path)
    }
}

/// Returns the kind of a file that is a capture, compressed or not, a table or a store; `None` for all else.
fn kept_content(path: &Path) -> Result<Option<&'static str>> {
    let mut stream = match ByteStream::open(path, &StreamOptions::default()) {
        Ok(stream) => stream,
        Err(error) if matches!(error.kind(), ErrorKind::Io(_)) => return Err(error),
        // Compressed in a way that nothing here reads.
        Err(_) => return Ok(None),
    };
    // Of a file that is damaged there, what comes before the damage tells.
    let _ = stream.fill(BEGINNING_LEN);
    let beginning = stream.buffered();
    let mut decoder = Decoder::new();
    let _ = decoder.step(beginning, true);
    let capture = decoder.format().map(|_| "a packet capture");
    Ok(capture.or_else(|| kept_format(beginning)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod tests {
    use super::*;
    use crate::export::CaptureFile;

    /// A folder for one test, gone after it.
    struct Folder(std::path::PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let name = format!("bytewright-output-{name}-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            std::fs::create_dir_all(&path).unwrap();
            Folder(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            drop(std::fs::remove_dir_all(&self.0));
        }
    }

    #[test]
    fn captures_tables_and_stores_are_replaced_with_force_only() {
        let folder = Folder::new("kept");
        let path = |name: &str| folder.0.join(name);
        for name in ["a.pcap", "a.pcapng", "a.pcap.gz", "a.pcapng.zst"] {
            let mut file = CaptureFile::create(&path(name), &OutputOptions::default()).unwrap();
            file.packet(Some(1), 60, 1, b"a frame").unwrap();
            file.finish().unwrap();
        }
        let gzipped = std::fs::read(path("a.pcap.gz")).unwrap();
        // The rest of a capture that broke off.
        std::fs::write(path("b.pcap.gz"), &gzipped[..gzipped.len() - 5]).unwrap();
        std::fs::write(path("a.bwh"), b"\x89BWH\r\n\x1a\n and more").unwrap();
        std::fs::write(path("a.pstore"), b"\x04\x08{\x00").unwrap();
        std::os::unix::fs::symlink(path("a.pcap"), path("link")).unwrap();
        let forced = OutputOptions { force: true, inputs: Vec::new() };
        for entry in std::fs::read_dir(&folder.0).unwrap() {
            let path = entry.unwrap().path();
            let refused = OutputOptions::default().check(&path).map_err(|error| error.kind());
            assert_eq!(refused, Err(ErrorKind::Argument), "{}", path.display());
            forced.check(&path).unwrap();
        }
        for (name, content) in [("a", &b""[..]), ("b", b"text"), ("c", b"\x1f\x8bno gzip")] {
            std::fs::write(path(name), content).unwrap();
            OutputOptions::default().check(&path(name)).unwrap();
        }
        OutputOptions::default().check(&path("absent")).unwrap();
    }

    #[test]
    fn an_input_is_never_replaced_by_whatever_name() {
        let folder = Folder::new("inputs");
        let path = |name: &str| folder.0.join(name);
        std::fs::write(path("input"), b"text").unwrap();
        std::os::unix::fs::symlink("input", path("link")).unwrap();
        std::fs::hard_link(path("input"), path("hard")).unwrap();
        std::fs::write(path("other"), b"text").unwrap();
        let open = std::fs::File::open(path("input")).unwrap();
        let descriptor = format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&open));
        let options = OutputOptions::made_of([path("absent"), path("input")], true);
        assert_eq!(options.inputs.len(), 1);
        for to in [path("input"), path("link"), path("hard"), descriptor.into()] {
            let refused = options.replace(&to).map_err(|error| error.kind());
            assert_eq!(refused.err(), Some(ErrorKind::Argument), "{}", to.display());
        }
        options.replace(&path("other")).unwrap();
        options.replace(&path("absent")).unwrap();
        // A file that takes all and keeps nothing may be both.
        OutputOptions::made_of(["/dev/null"], false).check(Path::new("/dev/null")).unwrap();
    }
}
