//! Questions that are asked by their name: the rows of the table that packets add up to.

use std::io;

use bytewright::ask::Answer;

use crate::args::AskedArgs;
use crate::ask::Listing;
use crate::packets::capture_options;
use crate::rows::Rows;
use crate::session::Session;

pub(crate) fn run(args: &AskedArgs, session: &mut Session) -> io::Result<()> {
    let AskedArgs { question, read } = args;
    let Some(mut options) = capture_options(&read.files, &read.selection, session)? else {
        return Ok(());
    };
    question.prepare(&mut options);
    session.progress.expect(&read.files);
    let (schema, filter) = (question.schema(), read.selection.filter());
    let rows = read.columns.rows(schema, read.format, &read.files, filter, session)?;
    let Some(mut listed) = rows.map(Listed) else { return Ok(()) };
    let captures = session.captures(&read.files, read.jobs.count(), &options, question.needs());
    session.ask(question.clone(), captures, &mut listed)?;
    listed.0.finish(session)
}

/// Rows on their way to the output.
struct Listed(Rows);

impl Listing for Listed {
    fn take(&mut self, answer: &mut Answer, session: &mut Session) -> io::Result<()> {
        let Answer::Sums(batch) = answer else { return Ok(()) };
        let mut rows = 0..batch.len();
        rows.try_for_each(|row| self.0.push(&mut session.output, |place| batch.value(row, place)))
    }

    fn flush(&mut self, session: &mut Session) -> io::Result<()> {
        self.0.flush(&mut session.output)
    }
}
