//! `heaps`: the system's malloc serves what is not ours.

use std::process::ExitCode;

fn main() -> ExitCode {
    heaps::main()
}
