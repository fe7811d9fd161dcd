//! Community ID v1, the flow hash that Zeek, Suricata, Wireshark and others print alike
//! (<https://github.com/corelight/community-id-spec>).

use std::net::IpAddr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest, Sha1};

use super::flow_key::FlowKey;

impl FlowKey {
    /// The Community ID v1 of the flow under `seed`, which is 0 where nobody agreed on another:
    /// `1:` and 28 characters of Base64.
    pub fn community_id(&self, seed: u16) -> String {
        let mut hash = Sha1::new();
        hash.update(seed.to_be_bytes());
        for address in self.addresses {
            match address {
                IpAddr::V4(address) => hash.update(address.octets()),
                IpAddr::V6(address) => hash.update(address.octets()),
            }
        }
        hash.update([self.proto, 0]);
        for port in self.ports.iter().flatten() {
            hash.update(port.to_be_bytes());
        }
        let mut text = String::with_capacity(30);
        text.push_str("1:");
        STANDARD.encode_string(hash.finalize(), &mut text);
        text
    }
}
