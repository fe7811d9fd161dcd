//! `bytewright table dump` and `load`: tables as text that other programs read and write.

use std::io;
use std::path::Path;

use bytewright::Error;
use bytewright::bytes::StreamOptions;
use bytewright::export::DumpFile;
use bytewright::table::file::OpenOptions;
use bytewright::table::{Dump, DumpFormat, load as load_table};

use super::open;
use super::write::options_to_write;
use crate::args::{DumpArgs, LoadArgs};
use crate::session::{STDIN, Session, output_options};

pub(super) fn dump(args: &DumpArgs, session: &mut Session) -> io::Result<()> {
    let dump = open(&args.file, false, session).and_then(|origin| {
        session.progress.expect_count(origin.len()?);
        Dump::of_origin(&origin, DumpFormat::by_name(&args.format)?)
    });
    let written = match (dump, &args.output) {
        (Err(error), _) => Err(error),
        (Ok(dump), Some(output)) if output != Path::new(STDIN.0) => {
            write(dump, output, args, session)
        }
        (Ok(dump), _) => print(dump, session)?,
    };
    session.progress.finish();
    match written {
        Ok(Some(line)) => {
            session.output.line(&line);
            Ok(())
        }
        Ok(None) => Ok(()),
        Err(error) => session.report(&error.in_file(&args.file.to_string_lossy())),
    }
}

/// Writes the file; what is told of it.
fn write(
    dump: Dump,
    output: &Path,
    args: &DumpArgs,
    session: &Session,
) -> bytewright::Result<Option<String>> {
    let inputs = [args.file.clone()];
    let options = output_options(&inputs, args.replacing.options.force);
    let mut file = DumpFile::create(output, dump, &options)?;
    session.remove_at_signal(file.hidden_path())?;
    while file.step()? {
        session.progress.reach(file.written());
    }
    Ok(Some(format!("{}: {} entries", output.display(), file.written())))
}

/// Prints the text. An error of standard output is told apart from one of the table.
fn print(mut dump: Dump, session: &mut Session) -> io::Result<bytewright::Result<Option<String>>> {
    let mut failure = None;
    let output = &mut session.output;
    let printed = loop {
        let step = dump.step(&mut |text| {
            output.buffer().append(text);
            output.settle().map_err(|error| {
                let told = Error::io("write", &error);
                failure = Some(error);
                told
            })
        });
        match step {
            Ok(true) => {}
            Ok(false) => break Ok(None),
            Err(error) => break Err(error),
        }
    };
    failure.map_or(Ok(printed), Err)
}

pub(super) fn load(args: &LoadArgs, session: &mut Session) -> io::Result<()> {
    let options = OpenOptions { create: true, ..options_to_write(args.wait.options.timeout) };
    session.progress.expect(std::slice::from_ref(&args.dump));
    let stream = session.open(&args.dump, &StreamOptions::default());
    let loaded = stream.and_then(|stream| load_table(&args.file, stream, options));
    session.progress.finish();
    match loaded {
        Ok(count) => {
            session.output.line(&format!("{}: {count} entries loaded", args.file.display()));
            Ok(())
        }
        Err(error) => session.report(&error),
    }
}
