//! Ours, without a host language:
//!
//!     columns columns FILE [--jobs N]      every default column of every packet
//!     columns names FILE [--jobs N]        the same columns, and the name that each DNS message asks for
//!     columns decompress FILE [--jobs N]   the bytes of the capture, nothing looked at
//!     columns flows FILE [--jobs N]        a flow table over all packets
//!     columns features FILE [--jobs N]     the same, with all features of each flow
//!     columns conversations FILE [--jobs N]  the same, of which the answer is about TCP
//!     columns report FILE [--jobs N]       a report over all packets, whose page nobody gets
//!     columns sums FILE [--jobs N]         bytes by dst_port and minute, of all packets
//!     columns cut FILE [--jobs N]          a pcap file of the packets that are UDP in IPv4, on standard output
//!     columns copy FILE [--jobs N]         a pcap file of all packets, on standard output
//!     columns anonymous FILE [--jobs N]    the same with other addresses, and zeros behind the headers
//!     columns backends                     what decompresses gzip here, best first
//!
//! `BYTEWRIGHT_INFLATE`, `zlib` or `isal`, says which of those does.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use bytewright::Result;
use bytewright::ask::{CutOptions, SumQuestion, Summary, cut};
use bytewright::batch::{Batch, Value};
use bytewright::bytes::{ByteStream, Compression, InflateBackend, StreamOptions};
use bytewright::capture::Format;
use bytewright::export::{CaptureFile, CaptureForm};
use bytewright::flow::{Flow, FlowOptions, FlowTable};
use bytewright::input::{CaptureOptions, CaptureReader};
use bytewright::packet::{Field, PacketColumns};
use bytewright::query::GroupBy;
use bytewright::report::{PAGE_MAX, Report, ReportOptions};

const ROWS_MAX: usize = 1 << 16;

/// Finished flows that are taken from the table together.
const FINISHED_MAX: usize = 4096;

/// Number of TCP in the header of IP.
const TCP: u8 = 6;

const MINUTE: i64 = 60_000_000_000;

/// Filter that about a tenth of the packets of `mixed` match.
const UDP_IN_IPV4: &str = "ip and udp";

/// Key by which addresses are changed.
const KEY: &[u8] = b"of the benches";

const PCAP_HEADER_BYTES: u64 = 24;
const PCAP_RECORD_HEADER_BYTES: u64 = 16;

const USAGE: &str =
    "usage: columns columns|names|decompress|flows|features|conversations|report|sums|cut|copy|anonymous FILE [--jobs N]
       columns backends";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let answer = match arguments.as_slice() {
        ["backends"] => Ok(backends()),
        [mode, path, options @ ..] => {
            stream_options(options).and_then(|options| run(mode, Path::new(path), options))
        }
        _ => Err(USAGE.to_owned()),
    };
    match answer {
        // A capture is on standard output, and nothing else.
        Ok(answer) if answer.is_empty() => ExitCode::SUCCESS,
        Ok(answer) => {
            println!("{answer}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn stream_options(arguments: &[&str]) -> std::result::Result<StreamOptions, String> {
    let mut options = StreamOptions::default();
    for pair in arguments.chunks(2) {
        match pair {
            ["--jobs", count] => options.jobs = count.parse().map_err(|_| USAGE.to_owned())?,
            _ => return Err(USAGE.to_owned()),
        }
    }
    Ok(options)
}

fn run(mode: &str, path: &Path, stream: StreamOptions) -> std::result::Result<String, String> {
    let answer = match mode {
        "columns" => columns(path, Field::DEFAULT, stream),
        "names" => columns(path, &[Field::DEFAULT, &[Field::DnsQuery]].concat(), stream),
        "decompress" => decompress(path, &stream),
        "flows" => flows(path, stream, "none").map(|sums| sums.to_json()),
        "features" => flows(path, stream, "all").map(|sums| sums.to_json()),
        "conversations" => flows(path, stream, "none").map(|sums| sums.tcp_to_json()),
        "report" => report(path, stream),
        "sums" => sums(path, stream),
        "cut" => written(path, stream, Some(UDP_IN_IPV4), None),
        "copy" => written(path, stream, None, None),
        "anonymous" => written(path, stream, None, Some(KEY)),
        _ => return Err(USAGE.to_owned()),
    };
    answer.map_err(|error| error.to_string())
}

fn open(path: &Path, stream: StreamOptions) -> Result<CaptureReader> {
    CaptureReader::open(path, &CaptureOptions { stream, ..CaptureOptions::default() })
}

fn columns(path: &Path, fields: &[Field], stream: StreamOptions) -> Result<String> {
    let mut reader = open(path, stream)?;
    let mut columns = PacketColumns::new(fields);
    let (mut packets, mut lengths, mut caplens) = (0, 0, 0);
    loop {
        reader.read_columns(&mut columns, ROWS_MAX)?;
        if columns.is_empty() {
            break;
        }
        packets += columns.len() as u64;
        lengths += sum(&columns, Field::Length);
        caplens += sum(&columns, Field::Caplen);
    }
    // Bytes of a pcap file of these packets, so that the sides that see only bytes can be compared.
    let stream_bytes = PCAP_HEADER_BYTES + PCAP_RECORD_HEADER_BYTES * packets + caplens;
    Ok(format!("{{\"packets\":{packets},\"lengths\":{lengths},\"stream_bytes\":{stream_bytes}}}"))
}

/// The sum of a column of 32-bit numbers that every packet has.
fn sum(columns: &PacketColumns, field: Field) -> u64 {
    let bytes = columns.column(field).map_or(&[][..], |column| column.values());
    let (values, _) = bytes.as_chunks::<4>();
    values.iter().map(|value| u64::from(u32::from_le_bytes(*value))).sum()
}

fn decompress(path: &Path, stream: &StreamOptions) -> Result<String> {
    let mut stream = ByteStream::open(path, stream)?;
    loop {
        let count = stream.fill(1)?.len();
        if count == 0 {
            return Ok(format!("{{\"stream_bytes\":{}}}", stream.position()));
        }
        stream.consume(count);
    }
}

fn flows(path: &Path, stream: StreamOptions, features: &str) -> Result<FlowSums> {
    let mut reader = open(path, stream)?;
    let features = features.parse()?;
    let mut table = FlowTable::new(FlowOptions { features, ..FlowOptions::default() });
    let mut sums = FlowSums::default();
    loop {
        let goes_on = reader.each_while(|packet, captured| {
            table.add_frame(packet, captured);
            table.finished_len() < FINISHED_MAX
        })?;
        table.drain_finished().for_each(|flow| sums.add(&flow));
        if !goes_on {
            break;
        }
    }
    table.finish().for_each(|flow| sums.add(&flow));
    Ok(sums)
}

fn report(path: &Path, stream: StreamOptions) -> Result<String> {
    let mut reader = open(path, stream)?;
    let mut report = Report::new(ReportOptions::default())?;
    let reported = report.read(&mut reader)?;
    let page = report.finish();
    assert!(page.len() <= PAGE_MAX, "a page of {} bytes", page.len());
    let (packets, lengths) = (reported.packets, reported.bytes);
    Ok(format!("{{\"packets\":{packets},\"lengths\":{lengths}}}"))
}

fn sums(path: &Path, stream: StreamOptions) -> Result<String> {
    let by = GroupBy::new(&Field::SCHEMA, &["dst_port"], &["length"], Some(MINUTE))?;
    let mut adder = SumQuestion { by, condition: None, top: None, last: None }.adder();
    adder.read(&mut open(path, stream)?)?;
    let groups = adder.finish();
    let (mut packets, mut lengths, mut weighted, mut squares) = (0, 0, 0, 0);
    for row in 0..groups.len() {
        let [port, count, bytes] =
            ["dst_port", "packets", "length"].map(|name| number(&groups, row, name));
        packets += count;
        lengths += bytes;
        weighted += port * bytes;
        squares += count * count;
    }
    let groups = groups.len();
    Ok(format!(
        "{{\"packets\":{packets},\"lengths\":{lengths},\"groups\":{groups},\"weighted\":{weighted},\
         \"squares\":{squares}}}"
    ))
}

/// A number of a row; 0 where there is none.
fn number(batch: &Batch, row: usize, name: &str) -> u64 {
    match batch.schema().find(name).map(|place| batch.value(row, place)) {
        Some(Value::Unsigned(number)) => number,
        _ => 0,
    }
}

/// Writes the packets that match a filter to standard output.
fn written(
    path: &Path,
    stream: StreamOptions,
    filter: Option<&str>,
    key: Option<&[u8]>,
) -> Result<String> {
    let filter = filter.map(str::to_owned);
    let options = CaptureOptions { filter, stream, ..CaptureOptions::default() };
    let reader = CaptureReader::open(path, &options)?;
    let form = CaptureForm { format: Format::Pcap, compression: Compression::None };
    let file = CaptureFile::to_stream(form, Box::new(io::stdout()), "standard output")?;
    let options = CutOptions { key: key.map(<[u8]>::to_vec), ..CutOptions::default() };
    cut(vec![reader], &options, file)?;
    Ok(String::new())
}

/// Sums of all flows. A packet in the wrong flow shows in the sum of squares.
#[derive(Default)]
struct FlowSums {
    packets: u64,
    lengths: u64,
    /// Flows that have ports, and the squares of their numbers of packets.
    port_flows: u64,
    squares: u64,
    tcp: TcpSums,
}

/// Sums of the flows of TCP.
#[derive(Default)]
struct TcpSums {
    flows: u64,
    packets: u64,
    squares: u64,
}

impl FlowSums {
    fn add(&mut self, flow: &Flow) {
        let packets = flow.packets() + flow.rev_packets();
        self.packets += packets;
        self.lengths += flow.bytes() + flow.rev_bytes();
        if flow.src_port().is_some() {
            self.port_flows += 1;
            self.squares += packets * packets;
        }
        if flow.proto() == TCP {
            self.tcp.flows += 1;
            self.tcp.packets += packets;
            self.tcp.squares += packets * packets;
        }
    }

    fn to_json(&self) -> String {
        let FlowSums { packets, lengths, port_flows, squares, .. } = self;
        format!(
            "{{\"packets\":{packets},\"lengths\":{lengths},\"port_flows\":{port_flows},\
             \"squares\":{squares}}}"
        )
    }

    fn tcp_to_json(&self) -> String {
        let TcpSums { flows, packets, squares } = self.tcp;
        format!("{{\"conversations\":{flows},\"packets\":{packets},\"squares\":{squares}}}")
    }
}

fn backends() -> String {
    let names: Vec<_> = InflateBackend::available().iter().map(|backend| backend.name()).collect();
    names.join("\n")
}
