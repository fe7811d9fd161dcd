//! Goal: our Community IDs are those of everybody else. Method: the test vectors that the
//! specification's reference implementation publishes (corelight/pycommunityid), with seed 0 and 1.

use bytewright::packet::FlowKey;

/// Protocol, addresses, ports, and the ID with seed 0 and with seed 1.
type Vector = (u8, &'static str, &'static str, Option<(u16, u16)>, &'static str, &'static str);

#[rustfmt::skip]
const VECTORS: &[Vector] = &[
    (1, "192.168.0.89", "192.168.0.1", Some((8, 0)), "1:X0snYXpgwiv9TZtqg64sgzUn6Dk=", "1:03g6IloqVBdcZlPyX8r0hgoE7kA="),
    (1, "192.168.0.1", "192.168.0.89", Some((0, 8)), "1:X0snYXpgwiv9TZtqg64sgzUn6Dk=", "1:03g6IloqVBdcZlPyX8r0hgoE7kA="),
    (1, "192.168.0.89", "192.168.0.1", Some((20, 0)), "1:3o2RFccXzUgjl7zDpqmY7yJi8rI=", "1:lCXHHxavE1Vq3oX9NH5ladQg02o="),
    (1, "192.168.0.89", "192.168.0.1", Some((20, 1)), "1:tz/fHIDUHs19NkixVVoOZywde+I=", "1:Ie3wmFyxiEyikbsbcO03d2nh+PM="),
    (1, "192.168.0.1", "192.168.0.89", Some((0, 20)), "1:X0snYXpgwiv9TZtqg64sgzUn6Dk=", "1:03g6IloqVBdcZlPyX8r0hgoE7kA="),
    (58, "fe80::200:86ff:fe05:80da", "fe80::260:97ff:fe07:69ea", Some((135, 0)), "1:dGHyGvjMfljg6Bppwm3bg0LO8TY=", "1:kHa1FhMYIT6Ym2Vm2AOtoOARDzY="),
    (58, "fe80::260:97ff:fe07:69ea", "fe80::200:86ff:fe05:80da", Some((136, 0)), "1:dGHyGvjMfljg6Bppwm3bg0LO8TY=", "1:kHa1FhMYIT6Ym2Vm2AOtoOARDzY="),
    (58, "3ffe:507:0:1:260:97ff:fe07:69ea", "3ffe:507:0:1:200:86ff:fe05:80da", Some((3, 0)), "1:NdobDX8PQNJbAyfkWxhtL2Pqp5w=", "1:OlOWx9psIbBFi7lOCw/4MhlKR9M="),
    (58, "3ffe:507:0:1:200:86ff:fe05:80da", "3ffe:507:0:1:260:97ff:fe07:69ea", Some((3, 0)), "1:/OGBt9BN1ofenrmSPWYicpij2Vc=", "1:Ij4ZxnC87/MXzhOjvH2vHu7LRmE="),
    (132, "192.168.170.8", "192.168.170.56", Some((7, 80)), "1:jQgCxbku+pNGw8WPbEc/TS/uTpQ=", "1:Y1/0jQg6e+I3ZwZZ9LP65DNbTXU="),
    (132, "192.168.170.56", "192.168.170.8", Some((80, 7)), "1:jQgCxbku+pNGw8WPbEc/TS/uTpQ=", "1:Y1/0jQg6e+I3ZwZZ9LP65DNbTXU="),
    (6, "128.232.110.120", "66.35.250.204", Some((34855, 80)), "1:LQU9qZlK+B5F3KDmev6m5PMibrg=", "1:3V71V58M3Ksw/yuFALMcW0LAHvc="),
    (6, "66.35.250.204", "128.232.110.120", Some((80, 34855)), "1:LQU9qZlK+B5F3KDmev6m5PMibrg=", "1:3V71V58M3Ksw/yuFALMcW0LAHvc="),
    (6, "10.0.0.1", "10.0.0.2", Some((10, 11569)), "1:SXBGMX1lBOwhhoDrZynfROxnhnM=", "1:HmBRGR+fUyXF4t8WEtal7Y0gEAo="),
    (17, "192.168.1.52", "8.8.8.8", Some((54585, 53)), "1:d/FP5EW3wiY1vCndhwleRRKHowQ=", "1:Q9We8WO3piVF8yEQBNJF4uiSVrI="),
    (17, "8.8.8.8", "192.168.1.52", Some((53, 54585)), "1:d/FP5EW3wiY1vCndhwleRRKHowQ=", "1:Q9We8WO3piVF8yEQBNJF4uiSVrI="),
    (46, "10.1.24.4", "10.1.12.1", None, "1:/nQI4Rh/TtY3mf0R2gJFBkVlgS4=", "1:BK3BVW3U2eemuwVQVN3zd/GULno="),
    (46, "10.1.12.1", "10.1.24.4", None, "1:/nQI4Rh/TtY3mf0R2gJFBkVlgS4=", "1:BK3BVW3U2eemuwVQVN3zd/GULno="),
];

#[test]
fn the_published_vectors_come_out() {
    for (proto, source, destination, ports, seed_0, seed_1) in VECTORS {
        let addresses = (source.parse().unwrap(), destination.parse().unwrap());
        let key = FlowKey::new(addresses.0, addresses.1, *proto, *ports).unwrap();
        assert_eq!(key.community_id(0), *seed_0, "{proto} {source} {destination} {ports:?}");
        assert_eq!(key.community_id(1), *seed_1, "{proto} {source} {destination} {ports:?}");
    }
}

#[test]
fn addresses_of_two_versions_are_no_flow() {
    let (v4, v6) = ("10.0.0.1".parse().unwrap(), "::1".parse().unwrap());
    assert_eq!(FlowKey::new(v4, v6, 6, Some((1, 2))), None);
}
