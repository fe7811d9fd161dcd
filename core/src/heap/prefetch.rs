//! Asking for memory before it is needed.
#![allow(unsafe_code)]

/// Asks the processor to bring what `value` begins with into its cache, and does not wait for it: a
/// read would hold up all that comes after.
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch changes nothing that a program can see, and the address is that of a live
    // value. The instruction is part of every x86-64.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast());
    }
    // Elsewhere the standard library has no such instruction yet.
    let _ = value;
}
