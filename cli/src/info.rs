//! `bytewright info`: what each capture is.

use std::io;

use bytewright::capture::Interface;
use bytewright::packet::LinkType;
use bytewright::scan::{CaptureInfo, CaptureOptions, info};
use bytewright::wire::Endian;

use crate::args::InfoArgs;
use crate::json::Object;
use crate::notation;
use crate::output::Output;
use crate::session::Session;

pub(crate) fn run(args: &InfoArgs, session: &mut Session) -> io::Result<()> {
    let options = CaptureOptions { stream: session.stream_options(), ..CaptureOptions::default() };
    session.progress.expect(&args.files);
    for (index, reader) in session.captures(&args.files, args.jobs, &options).enumerate() {
        let error = match reader.and_then(info) {
            Ok(info) if args.json => print_json(info, &mut session.output),
            Ok(info) => {
                if index > 0 {
                    session.output.line("");
                }
                print_text(info, &mut session.output)
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
    let mut object = Object::new(output.buffer());
    object.text("file", &info.file);
    object.text("format", info.format.name());
    object.text("version", &version(&info));
    object.text("byte_order", byte_order(&info));
    object.text("compression", &info.compression.to_string());
    object.unsigned("file_bytes", info.file_bytes);
    object.unsigned("content_bytes", info.content_bytes);
    object.unsigned("packets", info.packets);
    object.unsigned("bytes", info.bytes);
    object.unsigned("captured_bytes", info.captured_bytes);
    object.signed_or_null("first_ts", info.first_ts);
    object.signed_or_null("last_ts", info.last_ts);
    object.unsigned("sections", info.sections);
    object.objects("interfaces", &info.interfaces, |interface, object| {
        object.unsigned("link_type", interface.link_type.into());
        object.text_or_null("link_type_name", LinkType(interface.link_type).name());
        object.unsigned("snaplen", interface.snaplen.into());
        object.text("time_unit", &interface.clock.unit.to_string());
    });
    object.objects("link_types", &info.link_types, |(link_type, packets), object| {
        object.unsigned("link_type", link_type.0.into());
        object.text_or_null("name", link_type.name());
        object.unsigned("packets", *packets);
    });
    object.damage("damage", info.damage.as_ref());
    object.end_line();
    info.damage
}

/// Prints lines of `name  value`; answers the damage.
fn print_text(info: CaptureInfo, output: &mut Output) -> Option<bytewright::Error> {
    output.line(&info.file);
    let mut line = |name: &str, value: &str| output.line(&format!("  {name:<12} {value}"));
    let order = byte_order(&info);
    line("format", &format!("{} {}, {order}-endian", info.format.name(), version(&info)));
    line("compression", &info.compression.to_string());
    line(
        "size",
        &match info.file_bytes == info.content_bytes {
            true => format!("{} bytes", info.file_bytes),
            false => format!("{} bytes, {} decompressed", info.file_bytes, info.content_bytes),
        },
    );
    line("packets", &info.packets.to_string());
    line("bytes", &format!("{} on the wire, {} captured", info.bytes, info.captured_bytes));
    if let (Some(first), Some(last)) = (info.first_ts, info.last_ts) {
        line("first", &text(|into| notation::time(into, first)));
        line("last", &text(|into| notation::time(into, last)));
        let microseconds = last.abs_diff(first) / 1000;
        line("time span", &format!("{} s", text(|into| notation::seconds(into, microseconds))));
    }
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

fn version(info: &CaptureInfo) -> String {
    format!("{}.{}", info.version.0, info.version.1)
}

fn byte_order(info: &CaptureInfo) -> &'static str {
    match info.byte_order {
        Endian::Little => "little",
        Endian::Big => "big",
    }
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
    format!("{link_type}, {cut}, times in {}", &interface.clock.unit.to_string())
}

/// The unit of an interface's times, as a power in seconds or under its own name.
fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes);
    String::from_utf8(bytes).unwrap_or_default()
}
