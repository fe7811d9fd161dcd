//! `read-discard FILE` (or `-`): the least that any reader of a file must do. It reads in pieces of
//! 256 KiB, as Bytewright does, and looks at nothing.

use std::fs::File;
use std::io::{self, Read};
use std::process::ExitCode;

const PIECE_BYTES: usize = 256 << 10;

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: read-discard FILE");
        return ExitCode::from(2);
    };
    match open(&path).and_then(read_to_end) {
        Ok(bytes) => {
            println!("{{\"stream_bytes\":{bytes}}}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("read-discard: {path}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn open(path: &str) -> io::Result<Box<dyn Read>> {
    Ok(if path == "-" { Box::new(io::stdin().lock()) } else { Box::new(File::open(path)?) })
}

fn read_to_end(mut input: Box<dyn Read>) -> io::Result<u64> {
    let mut piece = vec![0; PIECE_BYTES];
    let mut bytes = 0;
    loop {
        match input.read(&mut piece)? {
            0 => return Ok(bytes),
            count => bytes += count as u64,
        }
    }
}
