//! `bytewright info`: what each capture is.

use std::io;

use bytewright::ask::{CaptureInfo, InfoField, info, info_seeing};
use bytewright::batch::json;
use bytewright::capture::Interface;
use bytewright::input::{CaptureOptions, Needs};
use bytewright::packet::LinkType;

mod traffic;

use crate::args::InfoArgs;
use crate::notation;
use crate::output::Output;
use crate::session::Session;
use traffic::Traffic;

pub(crate) fn run(args: &InfoArgs, session: &mut Session) -> io::Result<()> {
    let mut options = CaptureOptions::default();
    options.stream.hash = args.hash.options.stream.hash;
    session.progress.expect(&args.files);
    // The identity of a capture is that of its bytes.
    let captures = session.captures(&args.files, args.jobs.count(), &options, Needs::Frames);
    for (index, reader) in captures.enumerate() {
        let mut traffic = Traffic::new();
        let known = reader.and_then(|mut reader| match args.json {
            true => info(&mut reader),
            false => info_seeing(&mut reader, |packet| traffic.add(packet)),
        });
        let error = match known {
            Ok(info) if args.json => print_json(info, &mut session.output),
            Ok(info) => {
                if index > 0 {
                    session.output.line("");
                }
                print_text(info, traffic, &mut session.output)
            }
            Err(error) => Some(error),
        };
        session.output.flush()?;
        if let Some(error) = error {
            session.report(&error)?;
        }
    }
    Ok(())
}

/// Prints an object; answers the damage.
fn print_json(info: CaptureInfo, output: &mut Output) -> Option<bytewright::Error> {
    let writer = json::RowWriter::new(&InfoField::SCHEMA);
    writer.push_batch(output.buffer(), &info.to_batch());
    info.damage
}

/// Prints lines of `name  value`; answers the damage.
fn print_text(
    info: CaptureInfo,
    traffic: Traffic,
    output: &mut Output,
) -> Option<bytewright::Error> {
    let bytes = |count| output.bytes(count);
    let size = match info.file_bytes == info.content_bytes {
        true => bytes(info.file_bytes),
        false => format!(
            "{}, {} decompressed",
            bytes(info.file_bytes),
            amount(output, info.content_bytes)
        ),
    };
    let on_wire = format!(
        "{} on the wire, {} captured",
        amount(output, info.bytes),
        amount(output, info.captured_bytes)
    );
    let traffic = traffic.line(output);
    let per_second = info.per_second(info.packets).zip(info.per_second(info.bytes));
    let per_second = per_second.map(|(packets, rate)| match output.has_units() {
        true => format!("{packets:.1} packets, {} on the wire", bytes(rate as u64)),
        false => format!("{packets:.1} packets, {rate:.0} bytes on the wire"),
    });
    output.line(&info.file);
    let mut line = |name: &str, value: &str| output.line(&format!("  {name:<12} {value}"));
    let order = info.byte_order_name();
    line("format", &format!("{} {}, {order}-endian", info.format.name(), version(&info)));
    line("compression", &info.compression.to_string());
    line("size", &size);
    line("packets", &info.packets.to_string());
    line("bytes", &on_wire);
    if let (Some(first), Some(last)) = (info.first_ts, info.last_ts) {
        line("first", &text(|into| notation::time(into, first)));
        line("last", &text(|into| notation::time(into, last)));
        line("time span", &text(|into| notation::span(into, last.abs_diff(first) / 1000)));
        per_second.inspect(|rates| line("per second", rates));
        traffic.inspect(|traffic| line("traffic", traffic));
    }
    line("content id", &info.content_id.to_string());
    info.sha256_text().inspect(|hash| line("sha-256", hash));
    for (link_type, packets) in &info.link_types {
        line("link type", &format!("{}: {packets} packets", link_type_text(*link_type)));
    }
    line("sections", &info.sections.to_string());
    for (number, interface) in info.interfaces.iter().enumerate() {
        line(&format!("interface {number}"), &interface_text(interface));
    }
    line(
        "damage",
        &match &info.damage {
            None => "none".to_owned(),
            Some(damage) => {
                let place =
                    damage.offset().map_or(String::new(), |offset| format!("byte {offset}: "));
                format!("{place}{}", damage.message())
            }
        },
    );
    info.damage
}

/// A number of bytes beside others, of which a program sees digits only.
fn amount(output: &Output, count: u64) -> String {
    if output.has_units() { output.bytes(count) } else { count.to_string() }
}

fn version(info: &CaptureInfo) -> String {
    format!("{}.{}", info.version.0, info.version.1)
}

fn link_type_text(link_type: LinkType) -> String {
    let LinkType(number) = link_type;
    link_type.name().map_or(number.to_string(), |name| format!("{name} ({number})"))
}

fn interface_text(interface: &Interface) -> String {
    let link_type = link_type_text(LinkType(interface.link_type));
    let cut = match interface.snaplen {
        0 => "not cut".to_owned(),
        snaplen => format!("cut at {snaplen} bytes"),
    };
    let name = interface.name.as_ref().map_or(String::new(), |name| format!(", named {name}"));
    format!("{link_type}, {cut}, times in {}{name}", &interface.clock.unit.to_string())
}

/// The unit of an interface's times, as a power in seconds or under its own name.
fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes);
    String::from_utf8(bytes).unwrap_or_default()
}
