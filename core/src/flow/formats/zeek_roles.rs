//! The side that Zeek takes for the originator of a connection, where that is not the one that sent the first packet seen.
//!
//! Zeek guesses so of a connection whose first packet opens none: it came from a port that servers have, or it is the answer
//! to a SYN that was not seen. The history has `^` there.
//!
//! Sources: Zeek's documentation of `Conn::Info`, field `history`
//! (<https://docs.zeek.org/en/master/scripts/base/protocols/conn/main.zeek.html>), and of `likely_server_ports`
//! (<https://docs.zeek.org/en/master/scripts/base/init-bare.zeek.html>).

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr};

use crate::batch::Value;
use crate::flow::features::FeatureValue;
use crate::flow::{Flow, FlowField};
use crate::packet::proto;

/// Ports of TCP that Zeek expects servers at, in order.
const TCP_SERVERS: &[u16] = &[
    21, 22, 25, 53, 79, 80, 81, 88, 135, 139, 143, 389, 443, 445, 465, 502, 514, 563, 585, 587,
    614, 631, 636, 989, 990, 992, 993, 995, 1080, 1434, 1883, 2811, 3128, 3268, 3306, 3389, 5222,
    5223, 5269, 5432, 6379, 6666, 6667, 6668, 6669, 8000, 8080, 8888, 20000,
];

/// Ports of UDP that Zeek expects servers at, in order.
const UDP_SERVERS: &[u16] = &[
    53, 67, 88, 123, 137, 161, 162, 389, 443, 514, 1812, 2123, 2152, 3389, 3544, 4011, 4754, 4789,
    5060, 5072, 5353, 5355, 6081, 20000,
];

/// Fields that there are of each direction, and that the log has.
const DIRECTED: &[(FlowField, FlowField)] = &[
    (FlowField::IpBytes, FlowField::RevIpBytes),
    (FlowField::PayloadBytes, FlowField::RevPayloadBytes),
    (FlowField::StreamBytes, FlowField::RevStreamBytes),
    (FlowField::LostSegments, FlowField::RevLostSegments),
];

/// Moment at which Zeek turns a connection around.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reversal {
    /// With its first packet, for its ports.
    FirstPacket,
    /// Behind a SYN-ACK, when something else than a RST follows: a scan has no more.
    Traffic,
    /// With the SYN that follows its SYN-ACK.
    LateSyn,
}

/// Returns the flow as Zeek sees it: with its sides exchanged where Zeek does so.
pub(super) fn as_zeek_sees(flow: &Flow) -> Cow<'_, Flow> {
    let text = |field| match flow.value(field) {
        Value::Text(text) => text,
        _ => "",
    };
    let (state, history) = (text(FlowField::ConnState), text(FlowField::History));
    match reversal_of(flow, history) {
        None => Cow::Borrowed(flow),
        Some(reversal) => {
            let history = turned_history(reversal, history);
            Cow::Owned(turned(flow, turned_state(reversal, state, &history), &history))
        }
    }
}

/// Says when Zeek turns a connection around, by its ports and the letters of its history.
fn reversal_of(flow: &Flow, history: &str) -> Option<Reversal> {
    let (from, to) = (flow.src_port()?, flow.dst_port()?);
    let servers = if flow.proto() == proto::TCP { TCP_SERVERS } else { UDP_SERVERS };
    let [is_server, answers_server] = [from, to].map(|port| servers.binary_search(&port).is_ok());
    let is_plausible =
        is_server && !answers_server && flow.dst_ip() != IpAddr::V4(Ipv4Addr::BROADCAST);
    let mut letters = history.chars();
    match (flow.proto(), letters.next()?) {
        (proto::UDP, _) => is_plausible.then_some(Reversal::FirstPacket),
        (proto::TCP, 'S') => None,
        (proto::TCP, 'H') if is_plausible => Some(Reversal::FirstPacket),
        (proto::TCP, 'H') => match letters.next()? {
            's' => Some(Reversal::LateSyn),
            'A' | 'a' | 'D' | 'd' => Some(Reversal::Traffic),
            _ => None,
        },
        (proto::TCP, _) => {
            let is_lower = is_server && answers_server && from < to;
            (is_plausible || is_lower).then_some(Reversal::FirstPacket)
        }
        _ => None,
    }
}

/// The letters from the view of the other side, with the sign of the turn.
fn turned_history(reversal: Reversal, history: &str) -> String {
    let kept = match reversal {
        Reversal::FirstPacket | Reversal::Traffic => 0,
        Reversal::LateSyn => 2,
    };
    let (before, behind) = history.split_at_checked(kept).unwrap_or((history, ""));
    let behind = behind.chars().map(|letter| match letter.is_ascii_uppercase() {
        true => letter.to_ascii_lowercase(),
        false => letter.to_ascii_uppercase(),
    });
    before.chars().chain(['^']).chain(behind).collect()
}

/// The state from the view of the other side; `history` is that, too.
fn turned_state(reversal: Reversal, state: &str, history: &str) -> &'static str {
    let both_reset = history.contains('R') && history.contains('r');
    let turned = match state {
        "S0" => "SHR",
        "S1" => "S1",
        "S2" => "S3",
        "S3" => "S2",
        "SF" => "SF",
        "SH" => "SHR",
        "SHR" => "SH",
        "REJ" if both_reset => "REJ",
        "REJ" | "RSTR" if !both_reset => "RSTO",
        "RSTO" | "RSTR" => "RSTR",
        "RSTOS0" => "RSTRH",
        "RSTRH" => "RSTOS0",
        _ => "OTH",
    };
    match (turned, reversal) {
        // The handshake is taken for one.
        ("OTH", Reversal::LateSyn) => "S1",
        ("OTH", Reversal::FirstPacket) if is_established(history) => "S1",
        ("SHR", Reversal::FirstPacket) if is_established(history) => "S3",
        ("RSTRH", Reversal::FirstPacket) if is_established(history) => "RSTR",
        (turned, _) => turned,
    }
}

/// Returns true if the history, which is turned, is that of a SYN-ACK that the other side answered before anybody ended the
/// connection.
fn is_established(history: &str) -> bool {
    let Some(behind) = history.strip_prefix("^h") else { return false };
    let ends = |letter| matches!(letter, 'f' | 'r' | 'F' | 'R');
    let answer = behind.find(|letter: char| letter.is_ascii_uppercase());
    answer.is_some_and(|answer| !behind[..=answer].contains(ends))
}

fn turned(flow: &Flow, state: &'static str, history: &str) -> Flow {
    let mut turned = Flow { initiator: 1 - (flow.initiator & 1), ..flow.clone() };
    if let Some(features) = &mut turned.features {
        for (sent, came_back) in DIRECTED {
            features.exchange(*sent, *came_back);
        }
        features.set_value(FlowField::History, FeatureValue::text(history));
        features.set_value(FlowField::ConnState, FeatureValue::text(state));
    }
    turned
}

#[cfg(test)]
mod tests {
    use super::{TCP_SERVERS, UDP_SERVERS};

    #[test]
    fn ports_of_servers_are_in_order() {
        assert!(TCP_SERVERS.is_sorted() && UDP_SERVERS.is_sorted());
    }
}
