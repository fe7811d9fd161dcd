//! Objects of Thrift's generated classes: made of messages, written as messages, compared.
//!
//! Work on one message runs under `rb_protect`, with everything that needs dropping outside of it: so
//! whatever raises inside leaves by `longjmp` over plain values alone, and comes back as a state.
//!
//! `ruby/lib/bytewright/thrift/layouts.rb` describes a class once, with all that it holds, and the class keeps the [`Codec`]
//! that is made of the description. Only what is exactly the gem's is native; each class is recognized by one word. The gem does
//! all else, from the beginning of a message. A new method where a codec looked makes all codecs stale (`watch.rb`), and after
//! a change of the gem's own classes the gem does everything.

mod build;
mod codec;
mod compare;
mod defaults;
mod define;
mod encode;
mod functions;
mod gem_classes;
mod hash;
mod methods;
mod mixing;
mod refill;
mod scratch;
mod transport;
mod values;
mod variable;

use std::ffi::{CStr, c_int};
use std::ops::Deref;
use std::sync::OnceLock;

use bytewright::thrift::{Progress, ProtocolResult, StructExtent};
use magnus::rb_sys::{AsRawValue, FromRawValue};
use magnus::{Error, RClass, RString, Ruby, Value};
use rb_sys::{ID, VALUE};

use super::tables::bytes;
use gem_classes::generation;

pub(crate) use codec::{Codec, define_codec, layout_named};
pub(crate) use values::uuid_text;

use define::define_thrift;
use variable::Variable;

const NIL: VALUE = rb_sys::Qnil as VALUE;

/// The names of variables and methods, as Ruby's numbers.
struct Names {
    /// Of a class: its codec. Ruby keeps variables of classes with `@` from all Ractors but the main one, so
    /// that a codec is used under one lock.
    codec: ID,
    codec_of: ID,
    validate: ID,
    protocol_keyword: ID,
    binary: ID,
    compact: ID,
    json: ID,
    encode: ID,
    dup: ID,
    hash: ID,
    read_frame: ID,
    original_read: ID,
    original_write: ID,
    original_hash: ID,
    original_equal: ID,
    original_initialize: ID,
    original_serialize: ID,
    original_deserialize: ID,
}

static NAMES: OnceLock<Names> = OnceLock::new();

#[inline]
fn names() -> &'static Names {
    NAMES.get_or_init(|| Names {
        codec: intern(c"@bytewright_codec"),
        codec_of: intern(c"codec_of"),
        validate: intern(c"validate"),
        protocol_keyword: intern(c"protocol"),
        binary: intern(c"binary"),
        compact: intern(c"compact"),
        json: intern(c"json"),
        encode: intern(c"encode"),
        dup: intern(c"dup"),
        hash: intern(c"hash"),
        read_frame: intern(c"read_frame"),
        original_read: intern(c"read_without_bytewright"),
        original_write: intern(c"write_without_bytewright"),
        original_hash: intern(c"hash_without_bytewright"),
        original_equal: intern(c"equal_without_bytewright"),
        original_initialize: intern(c"initialize_without_bytewright"),
        original_serialize: intern(c"serialize_without_bytewright"),
        original_deserialize: intern(c"deserialize_without_bytewright"),
    })
}

fn intern(name: &CStr) -> ID {
    // SAFETY: the name is a C string; names stay for as long as the process.
    unsafe { rb_sys::rb_intern(name.as_ptr()) }
}

/// Ruby's number for a name.
fn id_of(name: &str) -> u64 {
    // SAFETY: the pointer and the length are those of a str.
    unsafe { rb_sys::rb_intern2(name.as_ptr().cast(), name.len() as _) as u64 }
}

/// An empty String of bytes.
pub(crate) fn empty_bytes(ruby: &Ruby) -> RString {
    ruby.str_from_slice(&[])
}

/// Shows `work`, which may call nothing of Ruby's, the bytes of a String.
pub(crate) fn with_bytes<T>(string: RString, work: impl FnOnce(&[u8]) -> T) -> T {
    // SAFETY: nothing of Ruby's runs while the bytes are looked at.
    work(unsafe { string.as_slice() })
}

/// Goes on with an extent over the bytes of a String.
pub(crate) fn extent_advance(
    extent: &mut StructExtent,
    string: RString,
) -> ProtocolResult<Progress> {
    // SAFETY: nothing of Ruby's runs while the bytes are looked at.
    extent.advance(unsafe { string.as_slice() })
}

/// Sets the codec of a class, where nil says that there is none.
pub(crate) fn hold_codec(class: RClass, codec: Value) -> Result<(), Error> {
    magnus::rb_sys::protect(|| {
        // SAFETY: both are objects; what it may raise is caught.
        unsafe { rb_sys::rb_ivar_set(class.as_raw(), names().codec, codec.as_raw()) }
    })
    .map(|_| ())
}

/// The class of an object, or its singleton class if it has one; 0 for what has none at hand.
///
/// # Safety
/// `object` must be an object.
#[inline]
unsafe fn class_of(object: VALUE) -> VALUE {
    if rb_sys::SPECIAL_CONST_P(object) {
        return 0;
    }
    // SAFETY: what is no special constant begins with its flags and its class.
    unsafe { (*(object as *const rb_sys::RBasic)).klass }
}

/// Returns true if an object is of that class, and has no methods of its own.
///
/// # Safety
/// `object` must be an object.
#[inline]
unsafe fn is_of(object: VALUE, class: usize) -> bool {
    // SAFETY: as the caller promises.
    class != 0 && unsafe { class_of(object) } == class as VALUE
}

/// A codec and the object that it is in, which has to be kept on the stack while the codec is used: see
/// [`keep`](Held::keep).
#[derive(Clone, Copy)]
struct Held<'a> {
    object: VALUE,
    codec: &'a Codec,
}

impl Held<'_> {
    /// Keeps the object alive up to here.
    #[inline(always)]
    fn keep(self) {
        std::hint::black_box(self.object);
    }
}

impl Deref for Held<'_> {
    type Target = Codec;

    #[inline(always)]
    fn deref(&self) -> &Codec {
        self.codec
    }
}

/// The codec of a class, made now where there is none of now.
///
/// # Safety
/// Called under Ruby with a class or 0, with nothing alive that needs dropping. It may run Ruby code.
#[inline]
unsafe fn codec_of<'a>(class: VALUE) -> Option<Held<'a>> {
    if class == 0 {
        return None;
    }
    // SAFETY: it is a class; what the variable holds is a codec or nil.
    unsafe {
        let object = rb_sys::rb_attr_get(class, names().codec);
        if object != NIL {
            let codec = codec(object);
            if codec.generation == generation() && codec.is_of(class) {
                return Some(Held { object, codec });
            }
        }
        let object = new_codec_object(class);
        Some(Held { object, codec: codec(object) })
    }
}

/// Asks Ruby for the codec of a class.
///
/// # Safety
/// As for [`codec_of`].
#[cold]
unsafe fn new_codec_object(class: VALUE) -> VALUE {
    // SAFETY: as the caller promises.
    unsafe { rb_sys::rb_funcallv(layouts_module(), names().codec_of, 1, &class) }
}

/// `Bytewright::Thrift::Layouts`, which describes classes.
///
/// # Safety
/// As for [`module_at`].
unsafe fn layouts_module() -> VALUE {
    // SAFETY: as the caller promises.
    unsafe { module_at(c"Layouts") }
}

/// `Bytewright::Thrift::GemCompat`, which knows the loaded gem.
///
/// # Safety
/// As for [`module_at`].
unsafe fn module_of_compat() -> VALUE {
    // SAFETY: as the caller promises.
    unsafe { module_at(c"GemCompat") }
}

/// A module in `Bytewright::Thrift`.
///
/// # Safety
/// Called under Ruby, after that module is there, with nothing alive that needs dropping.
unsafe fn module_at(name: &CStr) -> VALUE {
    // SAFETY: constants of modules, each in the one before.
    unsafe {
        [c"Bytewright", c"Thrift", name]
            .iter()
            .fold(rb_sys::rb_cObject, |place, name| rb_sys::rb_const_get(place, intern(name)))
    }
}

/// The codec in its object.
///
/// # Safety
/// `object` is a codec, kept alive for as long as the reference is used.
#[inline]
unsafe fn codec<'a>(object: VALUE) -> &'a Codec {
    // SAFETY: as the caller promises.
    unsafe { super::inside(object) }
}

/// Runs `body` with `job` under `rb_protect`. Answers 0, or the state of what was raised.
///
/// # Safety
/// Nothing that needs dropping may be alive in `body` around a call that raises.
#[inline]
unsafe fn protected<J>(job: &mut J, body: unsafe extern "C" fn(VALUE) -> VALUE) -> c_int {
    let mut state = 0;
    // SAFETY: `body` takes its argument for a pointer to a `J`, which is alone for as long.
    unsafe { rb_sys::rb_protect(Some(body), std::ptr::from_mut(job) as VALUE, &raw mut state) };
    state
}

/// Goes on with what was raised under [`protected`].
///
/// # Safety
/// `state` is from there, and nothing that needs dropping may be alive in any caller.
unsafe fn resume(state: c_int) -> ! {
    // SAFETY: as the caller promises.
    unsafe { rb_sys::rb_jump_tag(state) }
}

/// A value, for those who know magnus's.
///
/// # Safety
/// `object` must be an object.
unsafe fn value(object: VALUE) -> Value {
    // SAFETY: as the caller promises.
    unsafe { Value::from_raw(object) }
}

/// Returns true if an object is frozen.
///
/// # Safety
/// `object` must be an object, and no special constant.
#[inline]
unsafe fn is_frozen(object: VALUE) -> bool {
    const FROZEN: VALUE = rb_sys::ruby_fl_type::RUBY_FL_FREEZE as VALUE;
    // SAFETY: as the caller promises; an object begins with its flags.
    unsafe { (*(object as *const rb_sys::RBasic)).flags & FROZEN != 0 }
}

/// Returns true if an object is a String.
///
/// # Safety
/// `object` must be an object.
#[inline]
unsafe fn is_string(object: VALUE) -> bool {
    // SAFETY: as the caller promises.
    unsafe { rb_sys::RB_TYPE_P(object, rb_sys::ruby_value_type::RUBY_T_STRING) }
}
