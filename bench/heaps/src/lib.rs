//! Costs of memory that is taken and given back as decoders and tables do: of ours, and of the allocator
//! that the program has. `heaps` has the system's malloc, `heaps-mimalloc` has mimalloc;
//! they are one program otherwise: `PROGRAM TASK ENGINE FILE`, where the file holds a number that says
//! how much there is to do.

mod churn;
mod frames;
mod trees;

use std::process::ExitCode;
use std::{env, fs};

use table_workload::{Report, Result};

const USAGE: &str = "usage: PROGRAM trees tape|bumpalo|boxes FILE\n       \
     PROGRAM frames-256|frames-1024 as-is|zeroed|each-zeroed FILE\n       \
     PROGRAM churn record-heap|boxes|hash-table|hash-map FILE";

/// The program.
pub fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [task, engine, path] = &arguments[..] else { return usage() };
    match run(task, engine, path) {
        Ok(Some(report)) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Ok(None) => usage(),
        Err(error) => {
            eprintln!("{task} {engine} {path}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: &str, engine: &str, path: &str) -> Result<Option<Report>> {
    let number: u32 = fs::read_to_string(path)?.trim().parse()?;
    match task {
        "trees" => Ok(trees::run(engine, number)),
        "frames-256" => Ok(frames::run::<32>(engine, number)),
        "frames-1024" => Ok(frames::run::<128>(engine, number)),
        "churn" => churn::run(engine, number),
        _ => Ok(None),
    }
}

fn usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}
