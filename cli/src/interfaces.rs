//! `bytewright interfaces`: what --interface takes.

use std::io;

use bytewright::input::{LiveInterface, live_interfaces};

use crate::args::InterfacesArgs;
use crate::rows::Rows;
use crate::session::Session;

pub(crate) fn run(args: &InterfacesArgs, session: &mut Session) -> io::Result<()> {
    let found = match live_interfaces() {
        Ok(found) => LiveInterface::to_batch(&found),
        Err(error) => return session.report(&error),
    };
    let (schema, reader) = (found.schema().clone(), args.format.reader());
    let rows = Rows::new(schema, reader, None, &mut session.output);
    let mut rows = rows.map_err(io::Error::other)?;
    for row in 0..found.len() {
        rows.push(&mut session.output, |place| found.value(row, place))?;
    }
    rows.finish(session)
}
