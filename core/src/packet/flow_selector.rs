//! One conversation, as people name it.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use super::{FlowKey, Packet};
use crate::error::excerpt;
use crate::{Error, ErrorKind};

/// Bytes of a hash in Community ID v1, and characters that they take.
const COMMUNITY_ID_LEN: usize = 30;

/// Conversation that packets have to belong to, whichever way they go: `1:LQU9qZlK+B5F3KDmev6m5PMibrg=` (Community ID
/// v1), `10.0.0.1:5000-10.0.0.2:443` or `10.0.0.1-10.0.0.2`, which is all that the two hosts have with each other. IPv6
/// has brackets if ports follow: `[fe80::1]:5000-[fe80::2]:443`.
///
/// ```
/// use bytewright::packet::FlowSelector;
/// let flow: FlowSelector = "10.0.0.1:5000-10.0.0.2:443".parse()?;
/// assert_eq!(flow.to_string(), "10.0.0.1:5000-10.0.0.2:443");
/// # Ok::<(), bytewright::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowSelector(FlowName);

#[derive(Debug, Clone, PartialEq, Eq)]
enum FlowName {
    CommunityId(String),
    Endpoints([SocketAddr; 2]),
    Hosts([IpAddr; 2]),
}

impl FlowSelector {
    /// Returns true if a packet belongs to the conversation.
    pub fn matches(&self, packet: &Packet) -> bool {
        FlowKey::of(packet).is_some_and(|key| self.is_of(&key))
    }

    /// Returns true if it is the conversation of `key`.
    pub fn is_of(&self, key: &FlowKey) -> bool {
        match &self.0 {
            FlowName::CommunityId(id) => key.community_id(0) == *id,
            FlowName::Endpoints(wanted) => {
                key.endpoints().is_some_and(|found| is_same(found, *wanted))
            }
            FlowName::Hosts(wanted) => is_same(key.addresses, *wanted),
        }
    }
}

fn is_same<T: PartialEq + Copy>(found: [T; 2], [first, second]: [T; 2]) -> bool {
    found == [first, second] || found == [second, first]
}

impl FromStr for FlowSelector {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if text.starts_with("1:") && text.len() == COMMUNITY_ID_LEN {
            return Ok(FlowSelector(FlowName::CommunityId(text.to_owned())));
        }
        let sides = text.split_once('-');
        let endpoints = sides.and_then(|(one, other)| both::<SocketAddr>(one, other));
        let hosts = sides.and_then(|(one, other)| both::<IpAddr>(one, other));
        match (endpoints, hosts) {
            (Some(endpoints), _) => Ok(FlowSelector(FlowName::Endpoints(endpoints))),
            (_, Some(hosts)) => Ok(FlowSelector(FlowName::Hosts(hosts))),
            _ => Err(Error::new(
                ErrorKind::Argument,
                format!(
                    "expected a flow, which is a Community ID (1:...), or two ends such as \
                     10.0.0.1:5000-10.0.0.2:443, found {}",
                    excerpt(text)
                ),
            )),
        }
    }
}

fn both<T: FromStr>(one: &str, other: &str) -> Option<[T; 2]> {
    Some([one.trim().parse().ok()?, other.trim().parse().ok()?])
}

impl fmt::Display for FlowSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            FlowName::CommunityId(id) => f.write_str(id),
            FlowName::Endpoints([one, other]) => write!(f, "{one}-{other}"),
            FlowName::Hosts([one, other]) => write!(f, "{one}-{other}"),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn matches(selector: &str, source: &str, destination: &str) -> bool {
        let (source, destination): (SocketAddr, SocketAddr) =
            (source.parse().unwrap(), destination.parse().unwrap());
        let ports = Some((source.port(), destination.port()));
        let key = FlowKey::new(source.ip(), destination.ip(), 6, ports).unwrap();
        selector.parse::<FlowSelector>().unwrap().is_of(&key)
    }

    #[test]
    fn a_flow_is_told_by_its_ends_in_either_order() {
        for flow in
            ["10.0.0.1:5000-10.0.0.2:443", "10.0.0.2:443-10.0.0.1:5000", "10.0.0.2-10.0.0.1"]
        {
            assert!(matches(flow, "10.0.0.1:5000", "10.0.0.2:443"), "{flow}");
            assert!(matches(flow, "10.0.0.2:443", "10.0.0.1:5000"), "{flow}");
            assert!(!matches(flow, "10.0.0.1:443", "10.0.0.3:5000"), "{flow}");
        }
        assert!(!matches("10.0.0.1:5000-10.0.0.2:443", "10.0.0.1:443", "10.0.0.2:5000"));
        assert!(matches("[fe80::1]:5-[fe80::2]:6", "[fe80::2]:6", "[fe80::1]:5"));
    }

    #[test]
    fn a_flow_is_told_by_its_community_id() {
        // From the specification's baseline: 128.232.110.120:34855 to 66.35.250.204:80, TCP.
        let id = "1:LQU9qZlK+B5F3KDmev6m5PMibrg=";
        assert!(matches(id, "128.232.110.120:34855", "66.35.250.204:80"));
        assert!(!matches(id, "128.232.110.120:34856", "66.35.250.204:80"));
    }

    #[test]
    fn what_is_no_flow_is_refused_with_what_was_expected() {
        for text in ["", "10.0.0.1", "10.0.0.1:5-10.0.0.2", "1:short", "a:1-b:2", "::1:5-::2:6:x"] {
            let error = text.parse::<FlowSelector>().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Argument, "{text}");
        }
    }
}
