//! The command line of a native engine's program: `PROGRAM TASK ENGINE RECORDS`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use crate::stored::Batch;
use crate::{
    Engine, Records, Report, Result, StoredEngine, churn, commits, growth, memory, stored, times,
};

/// The engines of a program. Each method runs `task` on the engine of that name, and gives `None`
/// where there is none.
pub trait Engines {
    fn in_memory(name: &str, task: &Task) -> Option<Result<Report>>;
    fn stored(name: &str, task: &StoredTask) -> Option<Result<Report>>;
}

/// Task for a table in memory.
pub struct Task {
    records: Records,
    run: &'static str,
}

impl Task {
    /// Creates the table when memory was looked at, because what an empty table takes counts too.
    pub fn run<E: Engine>(&self, create: impl FnOnce() -> E) -> Result<Report> {
        match self.run {
            "memory" => memory::run(&self.records, create),
            "times" => times::run(&self.records, &mut create()),
            "growth" => growth::run(&self.records, create),
            _ => churn::run(&self.records, create),
        }
    }
}

/// Task for a table in a file, below a folder of its own.
pub struct StoredTask {
    records: Records,
    folder: PathBuf,
    run: StoredRun,
}

#[derive(Debug, Clone, Copy)]
enum StoredRun {
    File(Batch),
    /// In commits of so many records.
    Commits(usize),
}

impl StoredTask {
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Creates the table as [`Task::run`] does.
    pub fn run<E: StoredEngine>(&self, create: impl FnOnce() -> Result<E>) -> Result<Report> {
        match self.run {
            StoredRun::File(batch) => stored::run(&self.records, &self.folder, batch, create),
            StoredRun::Commits(len) => commits::run(&self.records, &self.folder, len, create),
        }
    }
}

const TASKS: [&str; 4] = ["memory", "times", "growth", "churn"];
const STORED_TASKS: [(&str, StoredRun); 4] = [
    ("file", StoredRun::File(Batch::Single)),
    ("file-all", StoredRun::File(Batch::All)),
    ("commits", StoredRun::Commits(1_000)),
    ("large-commits", StoredRun::Commits(100_000)),
];

/// The program of `E`. The task `answer` needs no engine: it says what every engine must answer.
pub fn main_with<E: Engines>() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [task, engine, path] = &arguments[..] else { return usage() };
    let report = match run::<E>(task, engine, Path::new(path)) {
        Ok(Some(report)) => Ok(report),
        Ok(None) => return usage(),
        Err(error) => Err(error),
    };
    match report {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{task} {engine} {path}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run<E: Engines>(task: &str, engine: &str, path: &Path) -> Result<Option<Report>> {
    if task == "answer" {
        return Report::of_input(&Records::open(path)?).map(Some);
    }
    if let Some(run) = TASKS.into_iter().find(|name| *name == task) {
        let task = Task { records: Records::open(path)?, run };
        return E::in_memory(engine, &task).transpose();
    }
    let Some((_, run)) = STORED_TASKS.into_iter().find(|(name, _)| *name == task) else {
        return Ok(None);
    };
    let folder = Folder::create(path)?;
    let task = StoredTask { records: Records::open(path)?, folder: folder.0.clone(), run };
    E::stored(engine, &task).transpose()
}

fn usage() -> ExitCode {
    let tasks: Vec<&str> = TASKS.into_iter().chain(STORED_TASKS.map(|(name, _)| name)).collect();
    eprintln!("usage: PROGRAM answer|{} ENGINE RECORDS", tasks.join("|"));
    ExitCode::from(2)
}

/// A folder beside the records, on their disk, that goes with this.
struct Folder(PathBuf);

impl Folder {
    fn create(records: &Path) -> Result<Folder> {
        let folder = records.with_extension(format!("{}.tables", std::process::id()));
        fs::create_dir_all(&folder)?;
        Ok(Folder(folder))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The rest of it is below bench/data, which `make clean` takes away.
        let _ = fs::remove_dir_all(&self.0);
    }
}
