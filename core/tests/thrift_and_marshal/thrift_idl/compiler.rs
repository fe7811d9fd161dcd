//! The real compiler, and the code that it generates as Ruby finds it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// The compiler whose answers these tests were made for.
const VERSION: &str = "Thrift version 0.17.0";

/// Returns true if the compiler is here; prints that there is a gap if it is not.
pub(crate) fn is_here(test: &str) -> bool {
    let version = Command::new("thrift").arg("--version").output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    match version {
        Ok(version) if version == VERSION => return true,
        Ok(version) => println!("{test}: gap: not compared with {version}, expected {VERSION}"),
        Err(_) => {
            println!("{test}: gap: not compared with thrift-compiler, which is not installed")
        }
    }
    false
}

/// A folder that goes with its owner.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("bytewright-idl-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// A file in it.
    pub(crate) fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, content).expect("a file");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Lets the compiler generate code of a file and what it includes; what it printed if it refuses.
/// It never ends on some circles, so it gets 10 s of processor time.
pub(crate) fn generate(generator: &str, file: &Path, into: &Path) -> Result<(), String> {
    let limited = "ulimit -t 10; exec \"$@\"";
    let output = Command::new("sh")
        .args(["-c", limited, "sh", "thrift", "-r", "--gen", generator, "-out"])
        .args([into, file])
        .output()
        .expect("sh runs");
    if output.status.success() {
        return Ok(());
    }
    let printed = [output.stdout, output.stderr].concat();
    Err(String::from_utf8_lossy(&printed).into_owned())
}

/// A Ruby that says what generated code is.
pub(crate) struct Ruby {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Ruby {
    /// Starts it; says that there is a gap where it lacks the thrift gem.
    pub(crate) fn start(test: &str) -> Option<Self> {
        let has_gem = Command::new("ruby").args(["-e", "require 'thrift'"]).output();
        if !has_gem.is_ok_and(|output| output.status.success()) {
            println!("{test}: gap: not compared with ruby-thrift, which is not installed");
            return None;
        }
        let script = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/thrift_and_marshal/thrift_idl/dump.rb");
        let mut process = Command::new("ruby")
            .arg("-W0")
            .arg(script)
            .env("LANG", "C.UTF-8")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("ruby starts");
        let input = process.stdin.take().expect("its input");
        let output = BufReader::new(process.stdout.take().expect("its output"));
        Some(Ruby { process, input, output })
    }

    /// Describes the code in a folder, a line for each definition.
    pub(crate) fn dump(&mut self, folder: &Path) -> Vec<String> {
        writeln!(self.input, "{}", folder.display()).expect("ruby reads");
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            let len = self.output.read_line(&mut line).expect("ruby answers");
            assert!(len > 0, "ruby ended in {}: {lines:?}", folder.display());
            match line.trim_end_matches('\n') {
                "." => return lines,
                line => lines.push(line.to_owned()),
            }
        }
    }
}

impl Drop for Ruby {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
