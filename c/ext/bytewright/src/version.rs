//! Version of the interface that a program was compiled for, and of the library that it found.

use std::ffi::c_char;

use bytewright::{Error, ErrorKind};

use crate::error::{bw_error, bw_status, guard};

/// The version of the interface that this header declares. It grows when a program compiled for an older one could not
/// use the library any more.
pub const BW_ABI_VERSION: u32 = 1;

/// The library's version as text, such as "0.1.0". It is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn bw_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// The version of the interface that the library was built with.
#[unsafe(no_mangle)]
pub extern "C" fn bw_abi_version() -> u32 {
    BW_ABI_VERSION
}

/// Checks that the library serves a program that was compiled with `BW_ABI_VERSION` of its header.
///
/// Returns `BW_STATUS_ARGUMENT` where it does not.
#[unsafe(no_mangle)]
pub extern "C" fn bw_check_abi(compiled_for: u32, error: Option<&mut bw_error>) -> bw_status {
    guard(error, || match compiled_for == BW_ABI_VERSION {
        true => Ok(bw_status::Ok),
        false => Err(Error::new(
            ErrorKind::Argument,
            format!(
                "expected a library with version {compiled_for} of the C interface, found version \
                 {BW_ABI_VERSION}; compile the program again with this library's header"
            ),
        )),
    })
}
