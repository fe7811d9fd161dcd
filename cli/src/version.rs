//! `bytewright --version`: the version, and which libraries serve on this machine.

use std::io;

use bytewright::bytes::InflateBackend;
use bytewright::input::{LOADS_LIBPCAP, libpcap_version};

use crate::session::Session;

pub(crate) fn print(session: &mut Session) -> io::Result<()> {
    let output = &mut session.output;
    output.line(concat!("bytewright ", env!("CARGO_PKG_VERSION")));
    output.line(&match InflateBackend::serving() {
        Ok(backend) => format!("gzip: {backend}"),
        Err(error) => format!("gzip: {}", error.message()),
    });
    output.line(&match libpcap_version() {
        Some(version) => format!("filters: {version}"),
        None if !LOADS_LIBPCAP => {
            "filters: none, because this command is linked statically and loads no libpcap".into()
        }
        None => {
            "filters: libpcap is absent; on Debian and Ubuntu, apt-get install libpcap0.8".into()
        }
    });
    Ok(())
}
