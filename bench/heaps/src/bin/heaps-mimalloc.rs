//! `heaps-mimalloc`: mimalloc serves what is not ours.

use std::process::ExitCode;

use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    heaps::main()
}
