//! Keys that rows are grouped by: a field, a field of either side, or the network of an address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::sides::sides;
use crate::batch::{DataType, Field, Schema, Value};
use crate::error::excerpt;
use crate::{Error, ErrorKind, Result};

/// Bits of the network of an IPv6 address where only those of IPv4 are named: those of a link (RFC 4291, section 2.5.4).
const IPV6_BITS: u8 = 64;

/// Key of groups: `src_ip`, `host`, `port`, `src_ip/24`, `host/24/48`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GroupKey {
    /// As it was asked for, and as the column of the answer is called.
    name: String,
    /// The places of the source's and the destination's field, which are one for a field of a row as a whole.
    places: [usize; 2],
    network: Option<NetworkBits>,
    data_type: DataType,
    meaning: String,
}

/// Bits of addresses that a network has in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct NetworkBits {
    ipv4: u8,
    ipv6: u8,
}

impl GroupKey {
    /// The key of a text.
    ///
    /// # Errors
    /// `Argument` for a field that is unknown, or of which there are no networks; for a network that is none.
    pub(super) fn new(schema: &Schema, text: &str) -> Result<Self> {
        let (name, network) = match text.split_once('/') {
            Some((name, bits)) => (name, Some(NetworkBits::new(text, bits)?)),
            None => (text, None),
        };
        // Row (groups): `dst_port`, `proto` | the values of these fields
        let places = match sides(schema, name).filter(|_| schema.find(name).is_none()) {
            // Row (groups): `host`, `port` | addresses and ports of either side: a row counts for its source and for
            // its destination, and once if they are the same. Beside each sum are those of what was sent and received,
            // as of `tshark -z endpoints,ip`: `sent_length`, `received_length`
            Some(places) => places,
            None => schema.place_of(name).map(|place| [place; 2])?,
        };
        let field = places.first().and_then(|place| schema.fields().get(*place));
        let data_type = field.map_or(DataType::Text, Field::data_type);
        let meaning = field.map_or("", Field::meaning);
        let mut key = GroupKey {
            name: text.to_owned(),
            places,
            network,
            data_type,
            meaning: meaning.to_owned(),
        };
        if key.is_of_either() {
            key.meaning = format!("The {name} of either side.");
        }
        if network.is_some() {
            if data_type != DataType::Address {
                let found = format!("found {name} ({})", data_type.name());
                return Err(argument(format!(
                    "expected a field of addresses in front of /, {found}"
                )));
            }
            key.data_type = DataType::Text;
            key.meaning = format!("Network of: {}", key.meaning);
        }
        Ok(key)
    }

    /// True where each row has two values of it, one for each side.
    pub(super) fn is_of_either(&self) -> bool {
        self.places[0] != self.places[1]
    }

    /// The places of the fields that it reads.
    pub(super) fn places(&self) -> [usize; 2] {
        self.places
    }

    /// The place of the field that it is as it is: of one side, and no network.
    pub(super) fn plain_place(&self) -> Option<usize> {
        (!self.is_of_either() && self.network.is_none()).then_some(self.places[0])
    }

    /// The type of its values.
    pub(super) fn data_type(&self) -> DataType {
        self.data_type
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The column of the answer.
    pub(super) fn field(&self) -> Field {
        Field::new(self.name.clone(), self.data_type, true, self.meaning.clone())
    }

    /// Returns the value that tells the group of a row, seen from its source or its destination.
    pub(super) fn value<'v>(
        &self,
        side: RowSide,
        value: &impl Fn(usize) -> Value<'v>,
    ) -> Value<'v> {
        let [source, destination] = self.places;
        let value = value(if side == RowSide::Source { source } else { destination });
        match (self.network, value) {
            (Some(bits), Value::Address(address)) => Value::Address(bits.first_address(address)),
            (_, value) => value,
        }
    }

    /// The text of the network that begins with an address; none where keys are no networks.
    pub(super) fn text(&self, value: &Value<'_>) -> Option<String> {
        match (self.network?, value) {
            (bits, Value::Address(address)) => Some(format!("{address}/{}", bits.of(*address))),
            _ => None,
        }
    }
}

/// Side of a packet or flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowSide {
    Source,
    Destination,
}

impl NetworkBits {
    /// Reads `24` or `24/64`, which `key` ends in.
    fn new(key: &str, bits: &str) -> Result<Self> {
        // Row (groups): `src_ip/24`, `host/24` | networks of that many bits of IPv4; of IPv6, 64 bits, the network of a
        // link
        let (ipv4, ipv6) = match bits.split_once('/') {
            Some((ipv4, ipv6)) => (ipv4, Some(ipv6)),
            None => (bits, None),
        };
        let number = |text: &str, most: u8| text.parse().ok().filter(|bits: &u8| *bits <= most);
        // Row (groups): `src_ip/24/48`, `host/32/64` | networks of that many bits of IPv4 and of IPv6
        let both = number(ipv4, 32).zip(match ipv6 {
            Some(ipv6) => number(ipv6, 128),
            None => Some(IPV6_BITS),
        });
        both.map(|(ipv4, ipv6)| NetworkBits { ipv4, ipv6 }).ok_or_else(|| {
            let found = format!("found {}", excerpt(key));
            argument(format!(
                "expected the bits of networks of IPv4 (0 to 32), or of IPv4 and IPv6 (0 to 128), such as src_ip/24 or src_ip/24/64, {found}"
            ))
        })
    }

    fn of(self, address: IpAddr) -> u8 {
        if address.is_ipv4() { self.ipv4 } else { self.ipv6 }
    }

    fn first_address(self, address: IpAddr) -> IpAddr {
        match address.to_canonical() {
            IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.ipv4)).unwrap_or(0);
                Ipv4Addr::from(u32::from(address) & mask).into()
            }
            IpAddr::V6(address) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.ipv6)).unwrap_or(0);
                Ipv6Addr::from(u128::from(address) & mask).into()
            }
        }
    }
}

fn argument(message: String) -> Error {
    Error::new(ErrorKind::Argument, message)
}
