//! Gives Ruby's modules and classes the native methods.

use std::ffi::{CStr, c_int};

use magnus::rb_sys::AsRawValue;
use magnus::{RClass, Symbol};
use rb_sys::VALUE;

use super::super::{AnyMethod, or_raise};
use super::functions::{codec_of_class, decode_one, each_message, encode_one, pluck_one};
use super::methods::{deserialize, equal, hash, initialize, read, serialize, write};
use super::{NIL, value};

type Zero = unsafe extern "C" fn(VALUE) -> VALUE;
type One = unsafe extern "C" fn(VALUE, VALUE) -> VALUE;
type Two = unsafe extern "C" fn(VALUE, VALUE, VALUE) -> VALUE;
type Three = unsafe extern "C" fn(VALUE, VALUE, VALUE, VALUE) -> VALUE;
type Six = unsafe extern "C" fn(VALUE, VALUE, VALUE, VALUE, VALUE, VALUE, VALUE) -> VALUE;
type Any = unsafe extern "C" fn(c_int, *const VALUE, VALUE) -> VALUE;

/// Defines a method; `arity` arguments are what the function takes beside self, or any with -1.
///
/// # Safety
/// The function must be of the type that goes with the arity.
unsafe fn define(module: VALUE, name: &CStr, method: AnyMethod, arity: c_int) {
    // SAFETY: as the caller promises; Ruby takes methods of any arity.
    unsafe { rb_sys::rb_define_method(module, name.as_ptr(), Some(method), arity) }
}

/// `ThriftCodec.define_methods(module, name)`: gives a module or a class of ours or of the gem the
/// methods that are native.
unsafe extern "C" fn define_methods(_class: VALUE, module: VALUE, which: VALUE) -> VALUE {
    let name = or_raise(|_| {
        // SAFETY: Ruby keeps the arguments of a method alive.
        let symbol = unsafe { Symbol::from_value(value(which)) };
        Ok(symbol.map_or(0, methods_named))
    });
    // SAFETY: each function is of the type that is written before it, and its arity that of the type.
    unsafe {
        match name {
            STRUCT => {
                define(module, c"read", std::mem::transmute::<Any, AnyMethod>(read), -1);
                define(module, c"write", std::mem::transmute::<Any, AnyMethod>(write), -1);
                define(module, c"==", std::mem::transmute::<One, AnyMethod>(equal), 1);
                define(module, c"hash", std::mem::transmute::<Zero, AnyMethod>(hash), 0);
            }
            INITIALIZE => {
                let initialize = std::mem::transmute::<Any, AnyMethod>(initialize);
                define(module, c"initialize", initialize, -1);
            }
            SERIALIZER => {
                define(module, c"serialize", std::mem::transmute::<One, AnyMethod>(serialize), 1);
            }
            DESERIALIZER => {
                let deserialize = std::mem::transmute::<Two, AnyMethod>(deserialize);
                define(module, c"deserialize", deserialize, 2);
            }
            FUNCTIONS => {
                let decode = std::mem::transmute::<Three, AnyMethod>(decode_one);
                define(module, c"decode_message", decode, 3);
                let encode = std::mem::transmute::<Two, AnyMethod>(encode_one);
                define(module, c"encode_message", encode, 2);
                define(module, c"pluck", std::mem::transmute::<Any, AnyMethod>(pluck_one), -1);
                let each = std::mem::transmute::<Six, AnyMethod>(each_message);
                define(module, c"each_message", each, 6);
            }
            _ => {}
        }
    }
    NIL
}

const STRUCT: u8 = 1;
const INITIALIZE: u8 = 2;
const SERIALIZER: u8 = 3;
const DESERIALIZER: u8 = 4;
const FUNCTIONS: u8 = 5;

/// Returns the methods that a name is for.
fn methods_named(symbol: Symbol) -> u8 {
    match symbol.name().as_deref() {
        Ok("struct") => STRUCT,
        Ok("initialize") => INITIALIZE,
        Ok("serializer") => SERIALIZER,
        Ok("deserializer") => DESERIALIZER,
        Ok("functions") => FUNCTIONS,
        _ => 0,
    }
}

/// Defines what defines the methods, and what finds codecs.
pub(crate) fn define_thrift(class: RClass) {
    // SAFETY: the functions take self and as many arguments as is said.
    unsafe {
        let method = std::mem::transmute::<One, AnyMethod>(codec_of_class);
        rb_sys::rb_define_singleton_method(class.as_raw(), c"of".as_ptr(), Some(method), 1);
        let method = std::mem::transmute::<Two, AnyMethod>(define_methods);
        let name = c"define_methods".as_ptr();
        rb_sys::rb_define_singleton_method(class.as_raw(), name, Some(method), 2);
    }
}
