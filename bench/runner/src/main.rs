//! `bench-runner STDOUT_FILE COMMAND ARGUMENT...`: runs the command with its standard output in
//! STDOUT_FILE and prints one JSON line with its wall time, processor time and peak memory.
//!
//! A program of its own, because Linux carries the peak memory of the process that forks over into
//! the child: started from a Ruby harness, every peer would seem to need at least Ruby's memory.

use std::fs::File;
use std::io;
use std::process::{Command, ExitCode};
use std::time::Instant;

struct Usage {
    status: i32,
    user_s: f64,
    system_s: f64,
    peak_kb: i64,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [stdout_file, program, rest @ ..] = arguments.as_slice() else {
        eprintln!("usage: bench-runner STDOUT_FILE COMMAND ARGUMENT...");
        return ExitCode::from(2);
    };
    match run(stdout_file, program, rest) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("bench-runner: {program}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(stdout_file: &str, program: &str, arguments: &[String]) -> io::Result<String> {
    let mut command = Command::new(program);
    command.args(arguments).stdout(File::create(stdout_file)?);
    let start = Instant::now();
    let child = command.spawn()?;
    let usage = wait_with_usage(child.id())?;
    let wall_s = start.elapsed().as_secs_f64();
    let Usage { status, user_s, system_s, peak_kb } = usage;
    Ok(format!(
        "{{\"status\":{status},\"wall_s\":{wall_s:.6},\"user_s\":{user_s:.6},\
         \"system_s\":{system_s:.6},\"peak_kb\":{peak_kb}}}"
    ))
}

fn wait_with_usage(child_id: u32) -> io::Result<Usage> {
    let mut status = 0;
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both pointers are to live locals of the types that wait4 writes, and the child was
    // started by this process and is waited for nowhere else.
    let waited =
        unsafe { libc::wait4(child_id as libc::pid_t, &mut status, 0, usage.as_mut_ptr()) };
    if waited < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: rusage is plain numbers, for which all zeroes is a value, and wait4 has filled it.
    let usage = unsafe { usage.assume_init() };
    let exit =
        if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { -libc::WTERMSIG(status) };
    Ok(Usage {
        status: exit,
        user_s: seconds(usage.ru_utime),
        system_s: seconds(usage.ru_stime),
        peak_kb: peak_kb(&usage),
    })
}

fn seconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 / 1e6
}

/// Linux counts in kilobytes, macOS in bytes.
fn peak_kb(usage: &libc::rusage) -> i64 {
    if cfg!(target_os = "macos") { usage.ru_maxrss / 1024 } else { usage.ru_maxrss }
}
