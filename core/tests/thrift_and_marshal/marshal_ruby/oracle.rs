//! Oracle for streams: Ruby itself.

use std::io::Read;

use crate::ruby_process::RubyProcess;

/// Ruby, which answers questions.
#[derive(Debug)]
pub(crate) struct Oracle(RubyProcess);

impl Oracle {
    pub(crate) fn start() -> Oracle {
        Oracle(RubyProcess::start("thrift_and_marshal/marshal_ruby/oracle.rb"))
    }

    /// Says something to which there is no answer.
    pub(crate) fn tell(&mut self, line: &str) {
        self.0.tell(line);
    }

    /// Asks something to which there are as many answers.
    pub(crate) fn ask<const N: usize>(&mut self, question: &str) -> [Vec<u8>; N] {
        self.tell(question);
        std::array::from_fn(|_| self.answer(question))
    }

    /// Returns what Ruby dumps after loading `stream`, or `!` and why it cannot.
    pub(crate) fn round_trip(&mut self, stream: &[u8]) -> Vec<u8> {
        self.tell(&format!("roundtrip {}", stream.len()));
        self.0.write(stream);
        self.answer("roundtrip")
    }

    fn answer(&mut self, question: &str) -> Vec<u8> {
        let answers = &mut self.0.answers;
        let mut len = [0; 4];
        answers.read_exact(&mut len).unwrap_or_else(|_| panic!("no answer to: {question}"));
        let mut answer = vec![0; u32::from_le_bytes(len) as usize];
        answers.read_exact(&mut answer).expect("a whole answer");
        answer
    }
}
