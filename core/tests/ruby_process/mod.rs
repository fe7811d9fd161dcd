//! A Ruby script in a process of its own, which answers questions: an oracle.

use std::io::{BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The process, which ends with this value.
#[derive(Debug)]
pub(crate) struct RubyProcess {
    process: Child,
    questions: Option<ChildStdin>,
    /// Output of the script.
    pub(crate) answers: BufReader<ChildStdout>,
}

impl RubyProcess {
    /// Starts the script with that name in the folder of tests.
    pub(crate) fn start(script: &str) -> RubyProcess {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(script);
        let mut process = Command::new("ruby")
            .arg(path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("ruby runs");
        let questions = process.stdin.take();
        let answers = BufReader::new(process.stdout.take().expect("a pipe"));
        RubyProcess { process, questions, answers }
    }

    /// Gives the script a line to read.
    pub(crate) fn tell(&mut self, line: &str) {
        self.write(format!("{line}\n").as_bytes());
    }

    /// Gives the script bytes to read.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let questions = self.questions.as_mut().expect("open");
        questions.write_all(bytes).and_then(|()| questions.flush()).expect("ruby reads");
    }
}

impl Drop for RubyProcess {
    fn drop(&mut self) {
        // Without questions, the script ends.
        self.questions = None;
        let _ = self.process.wait();
    }
}
