//! One value of a row.

use std::net::{IpAddr, Ipv6Addr};

use bytewright::batch::Value;
use bytewright::{Error, ErrorKind, Result};

use crate::buffer::{bw_buffer, bw_slice, given};
use crate::error::{bw_error, bw_status, guard};

/// Kind of a value, and the member of `bw_value_data` that has it.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum bw_value_kind {
    /// There is none.
    Null = 0,
    /// A number that is never negative: `unsigned_number`.
    Unsigned = 1,
    /// A number that may be negative: `signed_number`.
    Signed = 2,
    /// A floating-point number: `double_number`.
    Double = 3,
    /// True or false: `is_true`.
    Bool = 4,
    /// Nanoseconds since 1970-01-01 00:00 UTC: `signed_number`.
    Time = 5,
    /// Microseconds: `unsigned_number`.
    Duration = 6,
    /// An IP address, IPv4 as `::ffff:a.b.c.d`: `octets`.
    Address = 7,
    /// Text in UTF-8: `bytes`.
    Text = 8,
    /// Text that is one value in JSON: `bytes`.
    Json = 9,
    /// Bytes, also text that is not UTF-8: `bytes`.
    Bytes = 10,
    /// A UUID, in the order in which it is written: `octets`.
    Uuid = 11,
}

/// Data of a value.
#[repr(C)]
#[derive(Clone, Copy)]
pub union bw_value_data {
    /// See `bw_value_kind`.
    pub unsigned_number: u64,
    /// See `bw_value_kind`.
    pub signed_number: i64,
    /// See `bw_value_kind`.
    pub double_number: f64,
    /// See `bw_value_kind`.
    pub is_true: bool,
    /// The library's, as long as what the value came from.
    pub bytes: bw_slice,
    /// See `bw_value_kind`.
    pub octets: [u8; 16],
}

/// One value of a row.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct bw_value {
    /// Kind of the value: a `bw_value_kind`.
    pub kind: u32,
    /// Data of the value.
    pub data: bw_value_data,
}

impl bw_value {
    /// The value; its bytes belong to what `value` was borrowed from. Columns have no text of their own
    /// ([`Value::ShortText`]): they keep it as text. Values of several values leave as Arrow only.
    pub(crate) fn of(value: Value<'_>) -> bw_value {
        let unsigned = |unsigned_number| bw_value_data { unsigned_number };
        let signed = |signed_number| bw_value_data { signed_number };
        let bytes = |bytes: &[u8]| bw_value_data { bytes: bw_slice::of(bytes) };
        let (kind, data) = match value {
            Value::Null | Value::ShortText(_) | Value::Nested(_) => {
                (bw_value_kind::Null, unsigned(0))
            }
            Value::Unsigned(number) => (bw_value_kind::Unsigned, unsigned(number)),
            Value::Signed(number) => (bw_value_kind::Signed, signed(number)),
            Value::Double(double_number) => {
                (bw_value_kind::Double, bw_value_data { double_number })
            }
            Value::Bool(is_true) => (bw_value_kind::Bool, bw_value_data { is_true }),
            Value::Time(nanoseconds) => (bw_value_kind::Time, signed(nanoseconds)),
            Value::Duration(microseconds) => (bw_value_kind::Duration, unsigned(microseconds)),
            Value::Address(address) => {
                (bw_value_kind::Address, bw_value_data { octets: octets_of(address) })
            }
            Value::Text(text) => (bw_value_kind::Text, bytes(text.as_bytes())),
            Value::Json(text) => (bw_value_kind::Json, bytes(text.as_bytes())),
            Value::Bytes(found) => (bw_value_kind::Bytes, bytes(found)),
            Value::Uuid(octets) => (bw_value_kind::Uuid, bw_value_data { octets }),
        };
        bw_value { kind: kind as u32, data }
    }

    /// Returns `BW_STATUS_OK` if there is one, else `BW_STATUS_NONE`.
    pub(crate) fn status(&self) -> bw_status {
        match self.kind == bw_value_kind::Null as u32 {
            true => bw_status::None,
            false => bw_status::Ok,
        }
    }

    /// The value as the core has it.
    ///
    /// # Safety
    /// The member that `kind` names was set, and its bytes are there while the answer is used.
    unsafe fn to_core<'a>(self) -> Result<Value<'a>> {
        // SAFETY: the caller's promise; a member that a kind names is read for that kind only.
        unsafe {
            Ok(match self.kind {
                0 => Value::Null,
                1 => Value::Unsigned(self.data.unsigned_number),
                2 => Value::Signed(self.data.signed_number),
                3 => Value::Double(self.data.double_number),
                4 => Value::Bool(self.data.is_true),
                5 => Value::Time(self.data.signed_number),
                6 => Value::Duration(self.data.unsigned_number),
                7 => Value::Address(Ipv6Addr::from(self.data.octets).to_canonical()),
                8..=10 => Value::Bytes(self.data.bytes.bytes()?),
                11 => Value::Uuid(self.data.octets),
                _ => {
                    let message =
                        format!("expected a bw_value_kind from 0 to 11, found {}", self.kind);
                    return Err(Error::new(ErrorKind::Argument, message));
                }
            })
        }
    }
}

fn octets_of(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}

/// Writes a value as text into `text`: numbers in decimal, times as nanoseconds, durations as microseconds, addresses
/// and UUIDs as people write them, text and bytes as they are. Null is empty.
///
/// # Safety
/// `value` came from this library, and what it came from is there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_value_text(
    value: Option<&bw_value>,
    text: Option<&mut bw_buffer>,
    error: Option<&mut bw_error>,
) -> bw_status {
    guard(error, || {
        let text = given(text, "a buffer")?;
        // SAFETY: the caller's promise about `value`.
        match unsafe { given(value, "a value")?.to_core() }? {
            Value::Bytes(bytes) => text.fill(bytes),
            value => text.fill(value.to_string().as_bytes()),
        }
        Ok(bw_status::Ok)
    })
}
