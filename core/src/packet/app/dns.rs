//! DNS messages (RFC 1035, section 4): the first question, and the addresses and names among the answers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::batch::Value;
use crate::packet::Field;
use crate::wire::{Endian::Big, Reader};

const HEADER_LEN: usize = 12;

/// The bit of a response in the third byte of the header, and the bits of its code in the fourth.
const RESPONSE: u8 = 0x80;
const RCODE: u8 = 0x0f;

/// Types of records (RFC 1035, RFC 3596) and the class of the Internet.
const A: u16 = 1;
const CNAME: u16 = 5;
const PTR: u16 = 12;
const AAAA: u16 = 28;
const INTERNET: u16 = 1;

/// In the class of an answer, multicast DNS tells others to forget what they knew (RFC 6762, section 10.2).
const CACHE_FLUSH: u16 = 0x8000;

// Bound (Captures): name in a DNS message; names in its answers = 255 bytes each; a longer name is none, names of
// answers beyond are left out. A name has 127 pointers, and names of 32 answers are read.
/// RFC 1035, section 2.3.4.
const NAME_MAX: usize = 255;

/// Bytes that the names of all answers have at most, with what is between them. Those that have no room are left out, and
/// [`CUT`] stands in their place.
const ANSWER_NAMES_MAX: usize = 255;
const CUT: &str = "…";

/// Records of answers whose names are read.
const NAME_RECORDS_MAX: u8 = 32;

/// Pointers in a name: as many as it has labels at most, each of a letter and its length.
const POINTERS_MAX: usize = 127;

/// Parts of a message that are read.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::packet) struct DnsMessage {
    id: u16,
    /// The code of a response; none for a query.
    rcode: Option<u8>,
    /// The name of the first question, with dots between its labels; empty for the root.
    query: Option<String>,
    /// The type of the first question.
    query_type: Option<u16>,
    answers: DnsAnswers,
}

impl DnsMessage {
    /// Reads a message as far as it was captured; nothing where it is not one.
    pub(super) fn read(bytes: &[u8]) -> Option<DnsMessage> {
        let mut reader = Reader::new(bytes);
        let header = reader.array_ref::<HEADER_LEN>()?;
        let questions = u16::from_be_bytes([header[4], header[5]]);
        let answers = u16::from_be_bytes([header[6], header[7]]);
        let query = match questions {
            0 => None,
            _ => Some(name(bytes, HEADER_LEN)?),
        };
        let id = u16::from_be_bytes([header[0], header[1]]);
        let rcode = (header[2] & RESPONSE != 0).then_some(header[3] & RCODE);
        let mut message =
            DnsMessage { id, rcode, query, query_type: None, answers: DnsAnswers::default() };
        message.read_rest(bytes, &mut reader, questions, answers);
        Some(message)
    }

    /// Reads the first message of a segment of TCP. A length precedes each (RFC 7766, section 8); none unless all of the segment is
    /// whole messages, because what goes on from the segment before may look like a length, too.
    pub(super) fn read_segment(segment: &[u8]) -> Option<DnsMessage> {
        let mut reader = Reader::new(segment);
        let mut first = None;
        while reader.remaining() > 0 {
            let len = reader.u16(Big)?;
            let message = reader.take(len.into())?;
            first = first.or(Some(message));
        }
        DnsMessage::read(first?)
    }

    /// The value of a field of DNS; null for others.
    pub(super) fn value(&self, field: Field) -> Value<'_> {
        match field {
            Field::DnsQuery => self.query.as_deref().map_or(Value::Null, Value::Text),
            Field::DnsType => self.query_type.into(),
            Field::DnsId => self.id.into(),
            Field::DnsIsResponse => Value::Bool(self.rcode.is_some()),
            Field::DnsRcode => self.rcode.into(),
            Field::DnsAnswers => self.answers.addresses.value(),
            Field::DnsAnswerNames => self.answers.names.value(),
            _ => Value::Null,
        }
    }

    /// Reads what stands behind the header, until something is cut off or wrong: what came before stays.
    fn read_rest(
        &mut self,
        bytes: &[u8],
        reader: &mut Reader<'_>,
        questions: u16,
        answers: u16,
    ) -> Option<()> {
        for place in 0..questions {
            skip_name(reader)?;
            let kind = reader.u16(Big)?;
            if place == 0 {
                self.query_type = Some(kind);
            }
            let _class = reader.u16(Big)?;
        }
        for _ in 0..answers {
            self.answers.read_record(bytes, reader)?;
        }
        Some(())
    }
}

/// Values among the answers.
#[derive(Debug, Default, PartialEq, Eq)]
struct DnsAnswers {
    addresses: TextList,
    names: TextList,
    /// Records with a name so far; one more than are read where the list of names is cut.
    name_records: u8,
}

impl DnsAnswers {
    /// Steps over a record of a message, and takes the address or the name that it holds. None where the message ends.
    fn read_record(&mut self, message: &[u8], reader: &mut Reader<'_>) -> Option<()> {
        skip_name(reader)?;
        let (kind, class) = (reader.u16(Big)?, reader.u16(Big)?);
        let _time_to_live = reader.u32(Big)?;
        let len = reader.u16(Big)?;
        let data = reader.take(len.into())?;
        if class & !CACHE_FLUSH != INTERNET {
            return Some(());
        }
        if let Some(address) = address(kind, data) {
            self.addresses.add(&address.to_string());
        }
        if matches!(kind, CNAME | PTR) {
            let up_to_record_end = message.get(..message.len() - reader.remaining())?;
            self.add_name(up_to_record_end, data.len());
        }
        Some(())
    }

    /// Takes the name in the last `len` bytes of a message that ends behind it.
    fn add_name(&mut self, message: &[u8], len: usize) {
        if self.name_records > NAME_RECORDS_MAX {
            return;
        }
        self.name_records += 1;
        let name = name(message, message.len() - len).unwrap_or_default();
        let is_full = self.names.0.len() + name.len() > ANSWER_NAMES_MAX - 2 - CUT.len();
        if is_full || self.name_records > NAME_RECORDS_MAX {
            self.names.add(CUT);
            self.name_records = NAME_RECORDS_MAX + 1;
        } else if !name.is_empty() {
            self.names.add(&name);
        }
    }
}

/// The address that a record of a kind holds.
fn address(kind: u16, data: &[u8]) -> Option<IpAddr> {
    match kind {
        A => data.try_into().ok().map(|bytes: [u8; 4]| Ipv4Addr::from(bytes).into()),
        AAAA => data.try_into().ok().map(|bytes: [u8; 16]| Ipv6Addr::from(bytes).into()),
        _ => None,
    }
}

/// Texts with commas between them.
#[derive(Debug, Default, PartialEq, Eq)]
struct TextList(String);

impl TextList {
    fn add(&mut self, text: &str) {
        if !self.0.is_empty() {
            self.0.push(',');
        }
        self.0.push_str(text);
    }

    /// The texts; null if there are none.
    fn value(&self) -> Value<'_> {
        if self.0.is_empty() { Value::Null } else { Value::Text(&self.0) }
    }
}

/// The two high bits of a length say that the rest of the name stands elsewhere.
const POINTER: u8 = 0xc0;

/// Steps over a name.
fn skip_name(reader: &mut Reader<'_>) -> Option<()> {
    loop {
        match reader.array::<1>()? {
            [0] => return Some(()),
            [len] if len & POINTER == POINTER => return reader.take(1).map(drop),
            [len] if len & POINTER == 0 => reader.take(len.into())?,
            _ => return None,
        };
    }
}

/// The name at a place of the message. Pointers lead only backwards, and there are not many of them, so that names end soon.
fn name(bytes: &[u8], mut at: usize) -> Option<String> {
    let mut labels: Vec<u8> = Vec::new();
    let mut limit = at;
    let mut pointers = 0;
    loop {
        let len = *bytes.get(at)?;
        match len & POINTER {
            0 if len == 0 => break,
            0 => {
                let label = bytes.get(at + 1..at + 1 + usize::from(len))?;
                if !labels.is_empty() {
                    labels.push(b'.');
                }
                labels.extend_from_slice(label);
                if labels.len() > NAME_MAX {
                    return None;
                }
                at += 1 + label.len();
            }
            POINTER => {
                let target = usize::from(len & !POINTER) << 8 | usize::from(*bytes.get(at + 1)?);
                pointers += 1;
                if target >= limit || pointers > POINTERS_MAX {
                    return None;
                }
                (at, limit) = (target, target);
            }
            _ => return None,
        }
    }
    Some(String::from_utf8_lossy(&labels).into_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    const QUERY: &[u8] =
        b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x03www\x07example\x03org\x00\x00\x1c\x00\x01";

    fn response(records: &[(&[u8], u16, &[u8])]) -> Vec<u8> {
        let mut bytes = QUERY.to_vec();
        bytes[2] = 0x81;
        bytes[7] = records.len() as u8;
        for (name, kind, data) in records {
            bytes.extend_from_slice(name);
            bytes.extend_from_slice(&kind.to_be_bytes());
            bytes.extend_from_slice(&[0, 1, 0, 0, 0, 60]);
            bytes.extend_from_slice(&(data.len() as u16).to_be_bytes());
            bytes.extend_from_slice(data);
        }
        bytes
    }

    #[test]
    fn a_query_has_a_name_and_a_type() {
        let message = DnsMessage::read(QUERY).unwrap();
        assert_eq!(message.query.as_deref(), Some("www.example.org"));
        assert_eq!((message.query_type, message.answers), (Some(28), DnsAnswers::default()));
    }

    #[test]
    fn a_response_has_a_code_and_a_query_has_none() {
        let query = DnsMessage::read(QUERY).unwrap();
        assert_eq!((query.id, query.rcode), (0x1234, None));
        assert_eq!(query.value(Field::DnsIsResponse), Value::Bool(false));
        let mut bytes = response(&[]);
        bytes[3] = 0x83;
        let response = DnsMessage::read(&bytes).unwrap();
        assert_eq!((response.id, response.rcode), (0x1234, Some(3)));
        assert_eq!(response.value(Field::DnsIsResponse), Value::Bool(true));
    }

    #[test]
    fn answers_are_the_addresses_in_their_order() {
        let v6: [u8; 16] = "2001:db8::7".parse::<Ipv6Addr>().unwrap().octets();
        let bytes = response(&[
            (b"\xc0\x0c", 5, b"\x01a\xc0\x10"),
            (b"\x01a\xc0\x10", 28, &v6),
            (b"\xc0\x0c", 1, &[192, 0, 2, 1]),
            (b"\xc0\x0c", 1, &[192, 0, 2]),
        ]);
        let message = DnsMessage::read(&bytes).unwrap();
        assert_eq!(message.answers.addresses.0, "2001:db8::7,192.0.2.1");
    }

    #[test]
    fn names_of_answers_are_those_of_aliases_and_pointers() {
        let bytes = response(&[
            (b"\xc0\x0c", 5, b"\x01a\xc0\x10"),
            (b"\xc0\x0c", 12, b"\x04host\0"),
            (b"\xc0\x0c", 2, b"\x02ns\0"),
            // It has no end in its record, and leads to itself.
            (b"\xc0\x0c", 12, b"\x01a"),
            (b"\xc0\x0c", 5, b"\xc0\xff"),
            (b"\xc0\x0c", 12, b"\x01b\0"),
        ]);
        let message = DnsMessage::read(&bytes).unwrap();
        assert_eq!(message.answers.names.0, "a.example.org,host,b");
        assert_eq!(message.value(Field::DnsAnswers), Value::Null);
    }

    #[test]
    fn names_of_answers_that_have_no_room_are_left_out() {
        let label = [&[63][..], &[b'x'; 63]].concat();
        let long = [&label[..], &label, &label, &[0]].concat();
        let record: (&[u8], u16, &[u8]) = (b"\xc0\x0c", 12, &long);
        let short: (&[u8], u16, &[u8]) = (b"\xc0\x0c", 12, b"\x01a\0");
        for (records, is_cut) in [
            (&[record, short][..], false),
            (&[record, record], true),
            (&[record, record, short], true),
        ] {
            let message = DnsMessage::read(&response(records)).unwrap();
            let names = message.answers.names.0;
            assert!(names.len() <= ANSWER_NAMES_MAX && names.starts_with("xxx"), "{names}");
            assert_eq!(names.ends_with(",…"), is_cut, "{names}");
        }
        for (count, expected) in [(32, "a,".repeat(31) + "a"), (33, "a,".repeat(32) + CUT)] {
            let message = DnsMessage::read(&response(&vec![short; count])).unwrap();
            assert_eq!(message.answers.names.0, expected, "{count} names");
        }
    }

    #[test]
    fn a_name_that_is_nearly_all_pointers_is_none() {
        let chain = |len: usize| {
            let mut bytes = vec![0];
            for at in 0..len {
                let target = if at == 0 { 0 } else { at * 2 - 1 };
                bytes.extend_from_slice(&(0xc000 | target as u16).to_be_bytes());
            }
            name(&bytes, bytes.len() - 2)
        };
        assert_eq!(chain(POINTERS_MAX).as_deref(), Some(""));
        assert_eq!(chain(POINTERS_MAX + 1), None);
    }

    #[test]
    fn a_message_that_is_cut_tells_what_is_there() {
        let bytes =
            response(&[(b"\xc0\x0c", 1, &[192, 0, 2, 1]), (b"\xc0\x0c", 1, &[192, 0, 2, 2])]);
        let whole = DnsMessage::read(&bytes).unwrap();
        assert_eq!(whole.answers.addresses.0, "192.0.2.1,192.0.2.2");
        let cut = DnsMessage::read(&bytes[..bytes.len() - 1]).unwrap();
        assert_eq!(cut.answers.addresses.0, "192.0.2.1");
        let no_type = DnsMessage::read(&QUERY[..QUERY.len() - 3]).unwrap();
        assert_eq!((no_type.query.as_deref(), no_type.query_type), (Some("www.example.org"), None));
        assert_eq!(DnsMessage::read(&QUERY[..20]), None);
    }

    #[test]
    fn a_segment_tells_its_first_message_if_all_of_them_are_whole() {
        let with_length =
            |message: &[u8]| [&(message.len() as u16).to_be_bytes(), message].concat();
        let answer = response(&[(b"\xc0\x0c", 1, &[192, 0, 2, 1])]);
        let one = with_length(QUERY);
        assert_eq!(DnsMessage::read_segment(&one), DnsMessage::read(QUERY));
        let two = [with_length(&answer), one.clone()].concat();
        assert_eq!(DnsMessage::read_segment(&two), DnsMessage::read(&answer));
        for cut in (0..one.len())
            .chain(one.len() + 1..two.len())
            .filter(|cut| *cut != two.len() - one.len())
        {
            assert_eq!(DnsMessage::read_segment(&two[..cut]), None, "cut at {cut}");
        }
        assert_eq!(DnsMessage::read_segment(&[0; 64]), None);
        assert_eq!(DnsMessage::read_segment(QUERY), None);
    }

    #[test]
    fn a_later_question_that_is_wrong_leaves_the_first_one() {
        let mut bytes = QUERY.to_vec();
        bytes[5] = 2;
        bytes.extend_from_slice(b"\x80");
        let message = DnsMessage::read(&bytes).unwrap();
        let expected = (Some("www.example.org"), Some(28));
        assert_eq!((message.query.as_deref(), message.query_type), expected);
    }

    #[test]
    fn pointers_lead_backwards_only() {
        // To itself, and to one another.
        for name in [&b"\xc0\x0c"[..], b"\xc0\x0e\xc0\x0c", b"\x01a\xc0\x0c"] {
            let mut bytes = QUERY[..HEADER_LEN].to_vec();
            bytes.extend_from_slice(name);
            bytes.extend_from_slice(&[0, 1, 0, 1]);
            assert_eq!(DnsMessage::read(&bytes), None, "{name:?}");
        }
    }

    #[test]
    fn a_name_of_the_root_is_empty_and_one_without_end_is_none() {
        let mut root = QUERY[..HEADER_LEN].to_vec();
        root.extend_from_slice(&[0, 0, 2, 0, 1]);
        let message = DnsMessage::read(&root).unwrap();
        assert_eq!((message.query.as_deref(), message.query_type), (Some(""), Some(2)));
        let mut long = QUERY[..HEADER_LEN].to_vec();
        (0..5).for_each(|_| long.extend_from_slice(&[[63; 1].as_slice(), &[b'x'; 63]].concat()));
        long.extend_from_slice(&[0, 0, 1, 0, 1]);
        assert_eq!(DnsMessage::read(&long), None);
    }
}
