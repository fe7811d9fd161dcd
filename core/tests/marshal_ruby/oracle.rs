//! Ruby in a process of its own, which answers questions.

use std::io::{BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The process, which ends with this value.
#[derive(Debug)]
pub(crate) struct Oracle {
    process: Child,
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Oracle {
    pub(crate) fn start() -> Oracle {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/marshal_ruby/oracle.rb");
        let mut process = Command::new("ruby")
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("ruby runs");
        let questions = process.stdin.take();
        let answers = BufReader::new(process.stdout.take().expect("a pipe"));
        Oracle { process, questions, answers }
    }

    /// Says something to which there is no answer.
    pub(crate) fn tell(&mut self, line: &str) {
        self.write(format!("{line}\n").as_bytes());
    }

    /// Asks something to which there are as many answers.
    pub(crate) fn ask<const N: usize>(&mut self, question: &str) -> [Vec<u8>; N] {
        self.tell(question);
        std::array::from_fn(|_| self.answer(question))
    }

    /// What Ruby dumps after loading `stream`, or `!` and why it cannot.
    pub(crate) fn round_trip(&mut self, stream: &[u8]) -> Vec<u8> {
        self.tell(&format!("roundtrip {}", stream.len()));
        self.write(stream);
        self.answer("roundtrip")
    }

    fn write(&mut self, bytes: &[u8]) {
        let questions = self.questions.as_mut().expect("open");
        questions.write_all(bytes).and_then(|()| questions.flush()).expect("ruby reads");
    }

    fn answer(&mut self, question: &str) -> Vec<u8> {
        let mut len = [0; 4];
        self.answers.read_exact(&mut len).unwrap_or_else(|_| panic!("no answer to: {question}"));
        let mut answer = vec![0; u32::from_le_bytes(len) as usize];
        self.answers.read_exact(&mut answer).expect("a whole answer");
        answer
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        // Without questions, the script ends.
        self.questions = None;
        let _ = self.process.wait();
    }
}
