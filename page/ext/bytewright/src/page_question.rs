//! One question over captures that are read one after another.

use std::convert::Infallible;
use std::io::Write;
use std::path::PathBuf;

use bytewright::ask::{Answer, Answers, CutOptions, Run, SumOptions, cut};
use bytewright::batch::csv;
use bytewright::bytes::{ByteStream, Source};
use bytewright::export::{CaptureFile, CaptureForm};
use bytewright::input::{CaptureOptions, CaptureReader, DamagePolicy};
use bytewright::options::{NamedOptions, OptionSpec, Settings};
use bytewright::report::{Report, ReportOptions};
use bytewright::{Error, ErrorKind, Result};

const OF_REPORTS: &[&[OptionSpec]] = &[ReportOptions::OPTIONS, CaptureOptions::OPTIONS];
const OF_SUMS: &[&[OptionSpec]] = &[SumOptions::OPTIONS, CaptureOptions::OPTIONS];
const OF_CUTS: &[&[OptionSpec]] = &[CutOptions::OPTIONS, CaptureOptions::OPTIONS];

/// Beginning of a word that names a field to be summed.
const SUM: &str = "sum=";

/// Beginning of the word with the name of the capture that is written.
const NAME: &str = "name=";

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
    Cut(Box<CutWork>),
}

/// Captures whose packets are to be one capture, in the order of time: they are read at the end, side by side.
struct CutWork {
    options: CutOptions,
    name: PathBuf,
    form: CaptureForm,
    readers: Vec<CaptureReader>,
}

impl PageQuestion {
    /// Begins the question that `words` mean: `report`, `sums` or `cut`, and options as `name=value`; `sum=length` sums a field, and
    /// `name=web.pcapng.zst` is the name of a capture that is cut, which says its form.
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
            "cut" => {
                let (names, named): (Vec<&str>, Vec<&str>) =
                    named.into_iter().partition(|word| word.starts_with(NAME));
                let mut settings = Settings::of(OF_CUTS);
                settings.give_named(&named)?;
                let work =
                    CutWork::new(names.last().copied().unwrap_or_default(), settings.take()?)?;
                (settings, Work::Cut(Box::new(work)))
            }
            other => {
                let message = format!("expected report, sums or cut, found {other:?}");
                return Err(Error::new(ErrorKind::Argument, message));
            }
        };
        Ok(PageQuestion { options: settings.take()?, work, captures: 0 })
    }

    /// Reads a capture, or its beginning where all are read at the end. Returns its damage: the packets before it count.
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
            Work::Cut(work) => {
                work.readers.push(reader);
                None
            }
        };
        self.captures += 1;
        Ok(damage)
    }

    /// Ends the question: writes the page of a report, the sums as CSV, or a capture, and returns what there is to say of it.
    ///
    /// # Errors
    /// `Argument` where no capture was read; `Io` where `output` refuses something; those of reading.
    pub fn finish(self, mut output: Box<dyn Write + Send>) -> Result<Vec<String>> {
        if self.captures == 0 {
            return Err(Error::new(ErrorKind::Argument, "expected captures, found none"));
        }
        let answer = match self.work {
            Work::Report(report) => report.finish().into_bytes(),
            Work::Sums(run) => sums(run)?,
            Work::Cut(work) => return work.finish(output),
        };
        let written = output.write_all(&answer).and_then(|()| output.flush());
        written.map_err(|error| Error::io("write", &error))?;
        Ok(Vec::new())
    }
}

fn sums(run: Run) -> Result<Vec<u8>> {
    let mut found = Found::default();
    let Ok(()) = run.finish(&mut found);
    let mut text = Vec::new();
    let writer = csv::RowWriter::new(&run.question().schema(), &mut text)?;
    for batch in found.answers.into_iter().filter_map(Answer::into_batch) {
        writer.push_batch(&mut text, &batch);
    }
    Ok(text)
}

impl CutWork {
    fn new(name: &str, options: CutOptions) -> Result<CutWork> {
        let name = PathBuf::from(name.strip_prefix(NAME).unwrap_or_default());
        let form = CaptureForm::of_name(&name)?;
        if options.rotate.is_some() {
            let message = "expected one capture to write, found rotate";
            return Err(Error::new(ErrorKind::Argument, message));
        }
        Ok(CutWork { options, name, form, readers: Vec::new() })
    }

    fn finish(self, output: Box<dyn Write + Send>) -> Result<Vec<String>> {
        let file = CaptureFile::to_stream(self.form, output, &self.name.to_string_lossy())?;
        let totals = cut(self.readers, &self.options, file)?;
        let mut told = vec![format!("packets written: {}", totals.packets)];
        if totals.opaque > 0 {
            told.push(format!("packets without a known header, all payload: {}", totals.opaque));
        }
        told.extend(totals.damage.iter().map(|damage| format!("damaged: {damage}")));
        Ok(told)
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

    use std::sync::{Arc, Mutex};

    use bytewright::bytes::Feed;

    use super::*;

    fn source(bytes: &[u8]) -> Box<dyn Source> {
        let feed = Feed::new(false);
        feed.push(bytes);
        feed.end();
        Box::new(feed.source())
    }

    /// Answer that was written.
    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// Returns what a question writes, and what it says of it.
    fn finished(question: PageQuestion) -> (Vec<u8>, Vec<String>) {
        let kept = Kept::default();
        let told = question.finish(Box::new(kept.clone())).unwrap();
        let written = kept.0.lock().unwrap().clone();
        (written, told)
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
        assert!(refused(&["guess"]).contains("expected report, sums or cut, found \"guess\""));
        assert!(refused(&[]).contains("expected report, sums or cut"));
        assert!(refused(&["report", "where=lenth > 3"]).contains("length"));
        assert!(refused(&["sums", "by=nothing"]).contains("nothing"));
        assert!(refused(&["report", "widht=3"]).contains("widht"));
        assert!(refused(&["cut"]).contains("expected the name of a capture to write"));
        assert!(refused(&["cut", "name=a.pcap", "rotate=1h"]).contains("found rotate"));
    }

    #[test]
    fn what_is_no_capture_is_an_error_and_the_others_count() {
        let mut question = PageQuestion::new(["sums", "by=proto", "sum=length"]).unwrap();
        assert!(question.add("notes.txt", source(b"no capture at all, but text")).is_err());
        assert!(question.add("empty.pcap", source(EMPTY)).unwrap().is_none());
        assert_eq!(finished(question).0, b"proto,packets,length,groups\n");
    }

    #[test]
    fn damage_is_told_and_the_capture_counts() {
        for words in [["report", "where=length > 0"], ["sums", "by=proto"]] {
            let mut question = PageQuestion::new(words).unwrap();
            let cut = [EMPTY, b"half a header"].concat();
            let damage = question.add("cut.pcap", source(&cut)).unwrap();
            assert!(matches!(damage.unwrap().kind(), ErrorKind::Truncated { .. }));
            assert!(!finished(question).0.is_empty());
        }
    }

    #[test]
    fn a_cut_writes_the_packets_of_all_captures_and_tells_their_number_and_the_damage() {
        let mut question = PageQuestion::new(["cut", "name=a.pcap"]).unwrap();
        assert!(question.add("empty.pcap", source(EMPTY)).unwrap().is_none());
        let cut = [EMPTY, b"half a header"].concat();
        assert!(question.add("cut.pcap", source(&cut)).unwrap().is_none());
        let (written, told) = finished(question);
        assert_eq!(written, EMPTY);
        assert_eq!(told[0], "packets written: 0");
        assert!(told[1].starts_with("damaged: cut.pcap: byte "), "{told:?}");
    }

    #[test]
    fn no_capture_is_no_answer() {
        for words in [&["report"][..], &["sums", "by=proto"], &["cut", "name=a.pcap"]] {
            let question = PageQuestion::new(words.iter().copied()).unwrap();
            let error = question.finish(Box::new(Kept::default())).unwrap_err();
            assert_eq!(error.message(), "expected captures, found none");
        }
    }
}
