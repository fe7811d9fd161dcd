//! One question over captures that are read one after another.

use std::convert::Infallible;

use bytewright::ask::{Answer, Answers, Run, SumOptions};
use bytewright::batch::csv;
use bytewright::bytes::{ByteStream, Source};
use bytewright::input::{CaptureOptions, CaptureReader, DamagePolicy};
use bytewright::options::{NamedOptions, OptionSpec, Settings};
use bytewright::report::{Report, ReportOptions};
use bytewright::{Error, ErrorKind, Result};

const OF_REPORTS: &[&[OptionSpec]] = &[ReportOptions::OPTIONS, CaptureOptions::OPTIONS];
const OF_SUMS: &[&[OptionSpec]] = &[SumOptions::OPTIONS, CaptureOptions::OPTIONS];

/// Beginning of a word that names a field to be summed.
const SUM: &str = "sum=";

/// A question under way.
pub struct PageQuestion {
    options: CaptureOptions,
    work: Work,
    /// Captures that were read.
    captures: u64,
}

enum Work {
    Report(Box<Report>),
    Sums(Run),
}

impl PageQuestion {
    /// Begins the question that `words` mean: `report` or `sums`, and options as `name=value`; `sum=length` sums a field.
    ///
    /// # Errors
    /// `Argument` for another question, and those of the options.
    pub fn new<'w>(words: impl IntoIterator<Item = &'w str>) -> Result<Self> {
        let mut words = words.into_iter();
        let name = words.next().unwrap_or_default();
        let (sums, named): (Vec<&str>, Vec<&str>) = words.partition(|word| word.starts_with(SUM));
        let (settings, work) = match name {
            "report" => {
                let mut settings = Settings::of(OF_REPORTS);
                settings.give_named(&named)?;
                let report = Report::new(ReportOptions::of(&settings)?)?;
                (settings, Work::Report(Box::new(report)))
            }
            "sums" => {
                let mut settings = Settings::of(OF_SUMS);
                settings.give_named(&named)?;
                let sums: Vec<&str> = sums.iter().filter_map(|sum| sum.strip_prefix(SUM)).collect();
                let question = settings.take::<SumOptions>()?.question(&sums)?;
                (settings, Work::Sums(Run::new(question)))
            }
            other => {
                let message = format!("expected report or sums, found {other:?}");
                return Err(Error::new(ErrorKind::Argument, message));
            }
        };
        Ok(PageQuestion { options: settings.take()?, work, captures: 0 })
    }

    /// Reads a capture. Returns its damage: the packets before it count.
    ///
    /// # Errors
    /// Those of an input that is no capture, which counts as none, and of `source`.
    pub fn add(&mut self, name: &str, source: Box<dyn Source>) -> Result<Option<Error>> {
        let stream = ByteStream::new(source, name, &self.options.stream)?;
        let mut reader = CaptureReader::new(stream, &self.options)?;
        reader.read_header()?;
        let damage = match &mut self.work {
            Work::Report(report) => report.read(&mut reader)?.damage,
            Work::Sums(run) => {
                let mut found = Found::default();
                let Ok(read) = run.read(&mut reader, DamagePolicy::Keep, &mut found);
                read?;
                found.damage
            }
        };
        self.captures += 1;
        Ok(damage)
    }

    /// Ends the question: the page of a report, or the sums as CSV.
    ///
    /// # Errors
    /// `Argument` where no capture was read.
    pub fn finish(self) -> Result<Vec<u8>> {
        if self.captures == 0 {
            return Err(Error::new(ErrorKind::Argument, "expected captures, found none"));
        }
        match self.work {
            Work::Report(report) => Ok(report.finish().into_bytes()),
            Work::Sums(run) => {
                let mut found = Found::default();
                let Ok(()) = run.finish(&mut found);
                let mut text = Vec::new();
                let writer = csv::RowWriter::new(&run.question().schema(), &mut text)?;
                for batch in found.answers.into_iter().filter_map(Answer::into_batch) {
                    writer.push_batch(&mut text, &batch);
                }
                Ok(text)
            }
        }
    }
}

/// Answers, all of them kept, and the damage of a capture.
#[derive(Default)]
struct Found {
    answers: Vec<Answer>,
    damage: Option<Error>,
}

impl Answers for Found {
    type Error = Infallible;

    fn take(&mut self, answer: Answer) -> Result<(), Infallible> {
        self.answers.push(answer);
        Ok(())
    }

    fn note_damage(&mut self, damage: Error) -> Result<(), Infallible> {
        self.damage = Some(damage);
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    //! Goal: what a page cannot ask is refused in words, and a file that is no capture leaves the answer as it was. The tests in
    //! `page/tests/` compare answers with those of the command.

    use bytewright::bytes::Feed;

    use super::*;

    fn source(bytes: &[u8]) -> Box<dyn Source> {
        let feed = Feed::new(false);
        feed.push(bytes);
        feed.end();
        Box::new(feed.source())
    }

    fn refused(words: &[&str]) -> String {
        match PageQuestion::new(words.iter().copied()) {
            Ok(_) => panic!("{words:?} was taken"),
            Err(error) => error.to_string(),
        }
    }

    /// Header of a capture of format pcap without packets.
    const EMPTY: &[u8] = b"\xd4\xc3\xb2\xa1\x02\0\x04\0\0\0\0\0\0\0\0\0\0\0\x04\0\x01\0\0\0";

    #[test]
    fn a_question_that_there_is_not_is_refused() {
        assert!(refused(&["guess"]).contains("expected report or sums, found \"guess\""));
        assert!(refused(&[]).contains("expected report or sums"));
        assert!(refused(&["report", "where=lenth > 3"]).contains("length"));
        assert!(refused(&["sums", "by=nothing"]).contains("nothing"));
        assert!(refused(&["report", "widht=3"]).contains("widht"));
    }

    #[test]
    fn what_is_no_capture_is_an_error_and_the_others_count() {
        let mut question = PageQuestion::new(["sums", "by=proto", "sum=length"]).unwrap();
        assert!(question.add("notes.txt", source(b"no capture at all, but text")).is_err());
        assert!(question.add("empty.pcap", source(EMPTY)).unwrap().is_none());
        assert_eq!(question.finish().unwrap(), b"proto,packets,length,groups\n");
    }

    #[test]
    fn damage_is_told_and_the_capture_counts() {
        for words in [["report", "where=length > 0"], ["sums", "by=proto"]] {
            let mut question = PageQuestion::new(words).unwrap();
            let cut = [EMPTY, b"half a header"].concat();
            let damage = question.add("cut.pcap", source(&cut)).unwrap();
            assert!(matches!(damage.unwrap().kind(), ErrorKind::Truncated { .. }));
            assert!(!question.finish().unwrap().is_empty());
        }
    }

    #[test]
    fn no_capture_is_no_answer() {
        let question = PageQuestion::new(["report"]).unwrap();
        assert_eq!(question.finish().unwrap_err().message(), "expected captures, found none");
    }
}
