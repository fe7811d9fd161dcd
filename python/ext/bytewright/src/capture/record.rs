//! Packets, flows and calls as objects whose attributes are their fields.

use std::hash::{DefaultHasher, Hash, Hasher};

use bytewright::batch::Value;
use bytewright::flow::{self, FlowField};
use bytewright::packet::{self, Field};
use bytewright::rpc::{self, CallField};
use bytewright::scan::FrameBatch;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::values::object;

/// A packet of a capture: its fields, None where it has no such field, and the bytes that were captured.
#[pyclass(frozen, module = "bytewright")]
#[derive(PartialEq)]
pub(crate) struct Packet(packet::KeptFrame);

impl Packet {
    /// A copy of the packet at a place of a batch.
    pub(super) fn copied(batch: &FrameBatch, index: usize) -> Option<Packet> {
        batch.frame(index).map(|frame| Packet(frame.to_kept()))
    }

    #[inline]
    fn look<R>(&self, field: Field, look: impl FnOnce(Value<'_>) -> R) -> R {
        match field.is_in_packet() {
            true => look(self.0.packet().value(field)),
            false => look(self.0.frame().value(field)),
        }
    }
}

/// Packets of one conversation, summed up. `src` is the side that sent the first packet seen.
#[pyclass(frozen, module = "bytewright")]
#[derive(PartialEq)]
pub(crate) struct Flow(pub(super) flow::Flow);

impl Flow {
    fn look<R>(&self, field: FlowField, look: impl FnOnce(Value<'_>) -> R) -> R {
        look(self.0.value(field))
    }
}

/// A call of a Thrift method and its answer.
#[pyclass(frozen, module = "bytewright")]
#[derive(PartialEq)]
pub(crate) struct Call(pub(super) rpc::Call);

impl Call {
    fn look<R>(&self, field: CallField, look: impl FnOnce(Value<'_>) -> R) -> R {
        look(self.0.value(field))
    }
}

/// Gives a class an attribute for each field, what goes with fields, and the methods behind. For each `name Variant` it
/// expands to
///
/// ```ignore
/// #[getter]
/// fn name<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
///     self.look(Field::Variant, |value| object(py, value))
/// }
/// ```
macro_rules! fields {
    ($class:ident $enum:ident $shown:ident { $($name:ident $variant:ident),* $(,)? } $($more:tt)*) => {
        #[pymethods]
        impl $class {
            $(
                #[getter]
                fn $name<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                    self.look($enum::$variant, |value| object(py, value))
                }
            )*

            $($more)*

            /// The names of the fields, in the order that a match statement takes them.
            #[classattr]
            fn __match_args__(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
                PyTuple::new(py, $enum::ALL.iter().map(|field| field.name()))
            }

            /// All fields by their names.
            fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
                let dict = PyDict::new(py);
                for field in $enum::ALL {
                    dict.set_item(field.name(), self.look(*field, |value| object(py, value))?)?;
                }
                Ok(dict)
            }

            fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
                let mut parts = Vec::new();
                for field in $enum::$shown {
                    let value = self.look(*field, |value| object(py, value))?;
                    if !value.is_none() {
                        parts.push(format!("{}={}", field.name(), value.repr()?));
                    }
                }
                Ok(format!(concat!(stringify!($class), "({})"), parts.join(", ")))
            }

            fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
                other.cast::<$class>().is_ok_and(|other| *other.get() == *self)
            }

            fn __hash__(&self) -> u64 {
                let mut hasher = DefaultHasher::new();
                for field in $enum::ALL {
                    self.look(*field, |value| value.hash(&mut hasher));
                }
                hasher.finish()
            }
        }
    };
}

fields! { Packet Field DEFAULT {
    ts Ts, src_ip SrcIp, dst_ip DstIp, src_port SrcPort, dst_port DstPort, proto Proto, length Length, caplen Caplen,
    vlan Vlan, ttl Ttl, tcp_flags TcpFlags, payload_len PayloadLen, number Number, status Status, link_type LinkType,
    ethertype Ethertype, ip_version IpVersion, ip_len IpLen, frag_offset FragOffset, seq Seq, ack Ack,
    icmp_type IcmpType, icmp_code IcmpCode, arp_op ArpOp, arp_src_ip ArpSrcIp, arp_dst_ip ArpDstIp,
    src_mac SrcMac, dst_mac DstMac, interface Interface, interface_name InterfaceName, dns_query DnsQuery,
    dns_type DnsType, dns_answers DnsAnswers, tls_sni TlsSni, http_host HttpHost,
}
    /// The bytes that were captured.
    #[getter]
    fn captured<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.captured())
    }

    /// The captured bytes behind the header of TCP, UDP or SCTP; None without one.
    #[getter]
    fn payload<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let payload = self.0.captured().get(self.0.packet().payload_range()?)?;
        Some(PyBytes::new(py, payload))
    }
}

fields! { Flow FlowField ALL {
    ts Ts, src_ip SrcIp, dst_ip DstIp, src_port SrcPort, dst_port DstPort, proto Proto, packets Packets, bytes Bytes,
    rev_packets RevPackets, rev_bytes RevBytes, duration Duration, tcp_flags TcpFlags, rev_tcp_flags RevTcpFlags,
    community_id CommunityId,
} }

fields! { Call CallField ALL {
    ts Ts, src_ip SrcIp, src_port SrcPort, dst_ip DstIp, dst_port DstPort, protocol Protocol, method Method,
    sequence_id SequenceId, outcome Outcome, latency Latency, request_bytes RequestBytes, reply_bytes ReplyBytes,
} }
