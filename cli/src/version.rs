//! `bytewright --version`: the version, and which libraries serve on this machine.

use std::io;

use bytewright::scan::libpcap_version;
use bytewright::stream::InflateBackend;
use clap::ValueEnum;

use crate::args::Inflate;
use crate::session::Session;

pub(crate) fn print(inflate: Inflate, session: &mut Session) -> io::Result<()> {
    let available = InflateBackend::available();
    let names: Vec<_> = available.iter().map(|backend| backend.name()).collect();
    let serving = match inflate {
        Inflate::Auto => available.first().copied(),
        Inflate::ZlibRs => Some(InflateBackend::ZlibRs),
        Inflate::IsaL => available.iter().copied().find(|name| *name == InflateBackend::Isal),
    };
    let forced = inflate.to_possible_value().filter(|_| inflate != Inflate::Auto);
    let why = forced.map_or(String::new(), |value| format!(" by --inflate {}", value.get_name()));
    let serving = serving.map_or("none", InflateBackend::name);
    let output = &mut session.output;
    output.line(concat!("bytewright ", env!("CARGO_PKG_VERSION")));
    output.line(&format!("inflate: {serving}{why} (available: {})", names.join(", ")));
    output.line(&match libpcap_version() {
        Some(version) => format!("filters: {version}"),
        None => {
            "filters: libpcap is absent; on Debian and Ubuntu, apt-get install libpcap0.8".into()
        }
    });
    Ok(())
}
