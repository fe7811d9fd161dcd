//! Goal: every form of a capture file that the formats allow is read, every other is an error with
//! its place, and it never matters in what pieces the bytes come into view.
//!
//! Method: files are made record by record, so that the bytes that matter are in the test; random
//! files, whole and broken, and the collected ones are read in many ways that must agree.

mod pcap;
mod pcapng;
mod views;
