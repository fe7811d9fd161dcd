//! Who talks to whom: addresses, ports and tags of one conversation.

use generator::random::Random;

#[derive(Clone, Copy)]
pub enum Addresses {
    V4 { client: [u8; 4], server: [u8; 4] },
    V6 { client: [u8; 16], server: [u8; 16] },
}

/// The 802.1Q tags in front of the ethertype.
#[derive(Clone, Copy)]
pub enum Tags {
    None,
    Vlan(u16),
    QinQ { outer: u16, inner: u16 },
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    ToServer,
    ToClient,
}

impl Direction {
    pub fn index(self) -> usize {
        self as usize
    }

    pub fn opposite(self) -> Self {
        match self {
            Direction::ToServer => Direction::ToClient,
            Direction::ToClient => Direction::ToServer,
        }
    }

    pub fn either(random: &mut Random) -> Self {
        if random.percent(50) { Direction::ToServer } else { Direction::ToClient }
    }
}

pub struct Endpoints {
    pub addresses: Addresses,
    pub tags: Tags,
    pub client_mac: [u8; 6],
    pub gateway_mac: [u8; 6],
}

const CLIENTS_COUNT: usize = 5_000;
const SERVERS_COUNT: usize = 12_000;

impl Endpoints {
    pub fn random(random: &mut Random) -> Self {
        let client = random.below(CLIENTS_COUNT);
        let server = random.skewed_below(SERVERS_COUNT);
        let addresses = if random.percent(20) {
            v6_addresses(client, server)
        } else {
            v4_addresses(client, server)
        };
        Endpoints {
            addresses,
            tags: random_tags(random),
            client_mac: [0x02, 0x00, 0x5e, 0x10, (client >> 8) as u8, client as u8],
            gateway_mac: [0x02, 0x00, 0x5e, 0x20, 0x00, (client % 4) as u8],
        }
    }
}

fn random_tags(random: &mut Random) -> Tags {
    match random.below(100) {
        share @ 0..=13 => Tags::Vlan(100 + 10 * share as u16),
        14..=15 => Tags::QinQ { outer: 2_000, inner: random.between(10, 20) as u16 },
        _ => Tags::None,
    }
}

/// Spreads the servers over public-looking addresses: an odd factor makes every number its own address.
fn scatter(number: usize) -> u64 {
    (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn v4_addresses(client: usize, server: usize) -> Addresses {
    let [first, second, third, fourth, ..] = scatter(server).to_be_bytes();
    Addresses::V4 {
        client: [10, 20, (client >> 8) as u8, client as u8],
        server: [20 + first % 90, second, third, fourth],
    }
}

fn v6_addresses(client: usize, server: usize) -> Addresses {
    let mut client_address = [0x20, 0x01, 0x0d, 0xb8, 0, 0x42, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
    client_address[14..].copy_from_slice(&(client as u16).to_be_bytes());
    let mut server_address = [0x20, 0x01, 0x0d, 0xb8, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    server_address[8..].copy_from_slice(&scatter(server).to_be_bytes());
    Addresses::V6 { client: client_address, server: server_address }
}
