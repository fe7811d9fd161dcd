//! A call as bytes, for hosts whose programs write objects to files and hand them to other processes.

use std::net::{IpAddr, SocketAddr};

use crate::rpc::{Call, Framing, Outcome, Protocol};
use crate::thrift::{Encoding, MessageForm};
use crate::wire::{Endian::Little, Reader};

/// The first byte.
const VERSION: u8 = 1;

/// Forms of messages by their numbers.
const FORMS: [MessageForm; 3] = [
    MessageForm::Packed(Encoding::Binary),
    MessageForm::Packed(Encoding::Compact),
    MessageForm::Json,
];

/// Framings by their numbers.
const FRAMINGS: [Framing; 3] = [Framing::Unframed, Framing::Framed, Framing::Header];

/// Outcomes by their numbers.
const OUTCOMES: [Outcome; 6] = [
    Outcome::Returned,
    Outcome::Exception,
    Outcome::Failure,
    Outcome::Oneway,
    Outcome::Unanswered,
    Outcome::Cut,
];

/// The bytes of a call, of which [`call_of_bytes`] makes an equal one; none if it has structs, which only what reads them here
/// can read.
pub fn call_to_bytes(call: &Call) -> Option<Vec<u8>> {
    if call.arguments.is_some() || call.result.is_some() {
        return None;
    }
    let Protocol { form, framing } = call.protocol;
    let form = FORMS.iter().position(|known| *known == form)? as u8;
    let mut bytes = vec![VERSION, form, framing as u8, call.outcome as u8];
    bytes.extend(call.connection.to_le_bytes());
    bytes.extend(call.sequence_id.to_le_bytes());
    for end in [call.client, call.server] {
        match end.ip() {
            IpAddr::V4(address) => bytes.extend([&[4], &address.octets()[..]].concat()),
            IpAddr::V6(address) => bytes.extend([&[6], &address.octets()[..]].concat()),
        }
        bytes.extend(end.port().to_le_bytes());
    }
    let time = call.ts.map(i64::cast_unsigned);
    for number in [time, call.latency, call.request_bytes, call.reply_bytes] {
        bytes.push(number.is_some().into());
        bytes.extend(number.unwrap_or_default().to_le_bytes());
    }
    bytes.extend(call.method.as_bytes());
    Some(bytes)
}

/// The call of these bytes; none if they are others than [`call_to_bytes`] gives.
pub fn call_of_bytes(bytes: &[u8]) -> Option<Call> {
    let mut reader = Reader::new(bytes);
    if reader.u8()? != VERSION {
        return None;
    }
    let form = *FORMS.get(usize::from(reader.u8()?))?;
    let framing = *FRAMINGS.get(usize::from(reader.u8()?))?;
    let protocol = Protocol { form, framing };
    let outcome = *OUTCOMES.get(usize::from(reader.u8()?))?;
    let connection = reader.u64(Little)?;
    let sequence_id = i32::from_le_bytes(reader.array()?);
    let (client, server) = (end(&mut reader)?, end(&mut reader)?);
    let mut number = || -> Option<Option<u64>> {
        let is_there = flag(&mut reader)?;
        let number = reader.u64(Little)?;
        (is_there || number == 0).then_some(is_there.then_some(number))
    };
    let ts = number()?.map(u64::cast_signed);
    let (latency, request_bytes, reply_bytes) = (number()?, number()?, number()?);
    let method = Box::from(std::str::from_utf8(reader.rest()).ok()?);
    let (arguments, result) = (None, None);
    Some(Call {
        connection,
        client,
        server,
        method,
        sequence_id,
        protocol,
        outcome,
        ts,
        latency,
        request_bytes,
        reply_bytes,
        arguments,
        result,
    })
}

fn flag(reader: &mut Reader<'_>) -> Option<bool> {
    match reader.u8()? {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

fn end(reader: &mut Reader<'_>) -> Option<SocketAddr> {
    let address: IpAddr = match reader.u8()? {
        4 => reader.array::<4>()?.into(),
        6 => reader.array::<16>()?.into(),
        _ => return None,
    };
    Some(SocketAddr::new(address, reader.u16(Little)?))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    //! Goal: bytes give the call that gave them, and no others give one that could not have.
    //!
    //! Method: calls with and without each number, of both versions of IP; their beginnings, and bytes that were changed.

    use super::*;

    fn calls() -> Vec<Call> {
        let first = Call {
            connection: 1,
            client: "10.0.0.1:40000".parse().unwrap(),
            server: "[fd00::1]:9090".parse().unwrap(),
            method: "Logs:get\u{e9}".into(),
            sequence_id: -3,
            protocol: Protocol { form: Encoding::Compact.into(), framing: Framing::Header },
            outcome: Outcome::Cut,
            ts: Some(-1),
            latency: None,
            request_bytes: Some(u64::MAX),
            reply_bytes: Some(0),
            arguments: None,
            result: None,
        };
        let outcomes = OUTCOMES.map(|outcome| Call { outcome, ts: None, ..first.clone() });
        [vec![first], outcomes.into()].concat()
    }

    #[test]
    fn bytes_give_the_call_that_gave_them() {
        for call in calls() {
            assert_eq!(call_of_bytes(&call_to_bytes(&call).unwrap()), Some(call));
        }
    }

    #[test]
    fn a_call_with_structs_has_none() {
        let call = calls().remove(0);
        assert_eq!(call_to_bytes(&Call { arguments: Some(vec![0]), ..call.clone() }), None);
        assert_eq!(call_to_bytes(&Call { result: Some(vec![0]), ..call }), None);
    }

    #[test]
    fn bytes_that_give_a_call_are_those_that_it_gives() {
        for bytes in calls().iter().map(|call| call_to_bytes(call).unwrap()) {
            for (at, bit) in (0..bytes.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
                let mut changed = bytes.clone();
                changed[at] ^= 1 << bit;
                for bytes in [&bytes[..at], &changed] {
                    if let Some(call) = call_of_bytes(bytes) {
                        assert_eq!(call_to_bytes(&call).unwrap(), bytes);
                    }
                }
            }
        }
    }
}
