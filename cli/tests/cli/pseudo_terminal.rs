//! A terminal for the program: a pseudo-terminal of the kernel's, which a minimal root without `/dev/pts` does not have.

use std::fs::File;
use std::io::Read;
use std::process::Command;

use rustix::io::Errno;
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::run::Outcome;

/// Runs a command whose standard streams are a terminal of 24 rows and so many columns. What it shows, on either stream, is
/// in `stdout`. Nothing, and a word about it, where the system has no terminals.
pub(crate) fn run_on_terminal(mut command: Command, columns: u16) -> Option<Outcome> {
    let controller = match openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY) {
        Err(Errno::NODEV | Errno::NOENT) => {
            eprintln!("gap: no terminal can be made here, so none was tried");
            return None;
        }
        opened => opened.unwrap(),
    };
    unlockpt(&controller).unwrap();
    let terminal = ioctl_tiocgptpeer(&controller, OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    tcsetwinsize(&terminal, Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 })
        .unwrap();
    command.stdin(terminal.try_clone().unwrap()).stdout(terminal.try_clone().unwrap());
    let mut child = command.stderr(terminal).spawn().unwrap();
    // The command has the ends of the terminal, until it is dropped.
    drop(command);
    let mut shown = Vec::new();
    // Its end is an error: EIO.
    let _ = File::from(controller).read_to_end(&mut shown);
    let code = child.wait().unwrap().code().unwrap_or(-1);
    let stdout = String::from_utf8_lossy(&shown).into_owned();
    Some(Outcome { stdout, stderr: String::new(), code })
}
