//! Writes deterministic captures of invented traffic: the same arguments give the same bytes on
//! every machine, so a bench's input need not be stored anywhere.
//!
//! It is not a protocol simulator: no loss, no retransmission, no congestion. What it keeps true is
//! what costs a reader time: the mix of headers, the number of flows, the sizes, and how well the
//! payload compresses.

mod capture_file;
mod checksum;
mod conversation;
mod endpoint;
mod frame;
mod payload;
mod traffic;

use std::fs::File;
use std::io::{self, BufWriter};
use std::process::ExitCode;

use capture_file::{CaptureWriter, Container, TimeUnit};
use payload::Content;
use traffic::Traffic;

const USAGE: &str = "\
usage: capture-generator SEED MEGABYTES PROFILE OUT [--packets COUNT]
  PROFILE   mixed | patterned, then any of the suffixes
            -ns (nanosecond timestamps) and -ng (pcapng instead of pcap)
  --packets stops after COUNT packets, if MEGABYTES (2^20 bytes) have not been reached before";

struct Order {
    seed: u64,
    bytes_min: u64,
    packets_max: u64,
    content: Content,
    container: Container,
    unit: TimeUnit,
    path: String,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(order) = parse(&arguments) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match generate(&order) {
        Ok(summary) => {
            println!("{summary}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("capture-generator: {}: {error}", order.path);
            ExitCode::FAILURE
        }
    }
}

fn parse(arguments: &[String]) -> Option<Order> {
    let (positional, packets_max) = match arguments {
        [positional @ .., flag, count] if flag == "--packets" => (positional, count.parse().ok()?),
        positional => (positional, u64::MAX),
    };
    let [seed, megabytes, profile, path] = positional else { return None };
    let mut words = profile.split('-');
    let content = match words.next()? {
        "mixed" => Content::Mixed,
        "patterned" => Content::Patterned,
        _ => return None,
    };
    let mut order = Order {
        seed: seed.parse().ok()?,
        bytes_min: megabytes.parse::<u64>().ok()?.checked_mul(1 << 20)?,
        packets_max,
        content,
        container: Container::Pcap,
        unit: TimeUnit::Microseconds,
        path: path.clone(),
    };
    for suffix in words {
        match suffix {
            "ns" => order.unit = TimeUnit::Nanoseconds,
            "ng" => order.container = Container::Pcapng,
            _ => return None,
        }
    }
    Some(order)
}

fn generate(order: &Order) -> io::Result<String> {
    let file = BufWriter::with_capacity(1 << 20, File::create(&order.path)?);
    let mut writer = CaptureWriter::start(file, order.container, order.unit)?;
    let mut traffic = Traffic::new(order.seed, order.content);
    let mut frame = Vec::with_capacity(2048);
    let mut packets = 0;
    let mut frame_bytes = 0;
    while writer.bytes_written() < order.bytes_min && packets < order.packets_max {
        let time_ns = traffic.next_frame(&mut frame);
        writer.packet(time_ns, &frame)?;
        packets += 1;
        frame_bytes += frame.len() as u64;
    }
    let file_bytes = writer.finish()?;
    Ok(format!(
        "{{\"packets\":{packets},\"frame_bytes\":{frame_bytes},\"file_bytes\":{file_bytes},\
         \"flows\":{},\"mean_frame_bytes\":{}}}",
        traffic.conversations_started(),
        frame_bytes / packets.max(1)
    ))
}
