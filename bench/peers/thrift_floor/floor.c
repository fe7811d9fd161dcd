/* The floor of decoding in Ruby: bytes are read by code that knows which field comes next, and the objects
   are made by Ruby's public C interface. It looks nothing up, skips nothing, and raises where a message is not
   exactly as the generator of the benches writes it. No decoder can do less and give the same objects. */

#include <ruby.h>
#include <ruby/encoding.h>
#include <stdint.h>
#include <string.h>

/* Numbers that are put into an Array at once. */
#define BLOCK 64

enum wire_type {
  T_THRIFT_BYTE, T_THRIFT_I16, T_THRIFT_I32, T_THRIFT_I64, T_THRIFT_DOUBLE, T_THRIFT_STRING, T_THRIFT_STRUCT,
  T_THRIFT_MAP, T_THRIFT_SET, T_THRIFT_LIST
};

enum name {
  FLAG, TINY, SMALL, MEDIUM, LARGE, REAL, TEXT, BLOB, KIND, INNER_FIELD, INTS, STRINGS, INNERS, TAGS, NUMBERS,
  ATTRIBUTES, BY_ID, SERIES, GREETING, ID_FIELD, NAME, ACTIVE, LEVEL, SCORE, TIME, HOST, PID, PATH, DURATION, OK,
  REQUEST, STATUS, MESSAGE, NAMES
};

static const char *const spelled[NAMES] = {
  "@flag", "@tiny", "@small", "@medium", "@large", "@real", "@text", "@blob", "@kind", "@inner", "@ints", "@strings",
  "@inners", "@tags", "@numbers", "@attributes", "@by_id", "@series", "@greeting", "@id", "@name", "@active", "@level",
  "@score", "@time", "@host", "@pid", "@path", "@duration", "@ok", "@request", "@status", "@message"
};

enum { RICH, FLAT, INNER, CLASSES };

static ID names[NAMES];
static ID hash_name;
static VALUE classes[CLASSES];
static VALUE set_class;
static int set_has_hash;
static rb_encoding *utf8;

struct cursor {
  const uint8_t *next, *end;
};

static void refuse(const char *what) {
  rb_raise(rb_eArgError, "expected a message of the benches, found other %s", what);
}

static inline const uint8_t *take(struct cursor *at, size_t len) {
  const uint8_t *start = at->next;
  if ((size_t)(at->end - start) < len) refuse("lengths");
  at->next = start + len;
  return start;
}

static VALUE set_of(VALUE hash) {
  if (set_has_hash) {
    VALUE set = rb_obj_alloc(set_class);
    rb_ivar_set(set, hash_name, hash);
    return set;
  }
  VALUE keys = rb_funcall(hash, rb_intern("keys"), 0);
  return rb_class_new_instance(1, &keys, set_class);
}

static VALUE whole(VALUE message, VALUE (*read)(struct cursor *)) {
  StringValue(message);
  const uint8_t *start = (const uint8_t *)RSTRING_PTR(message);
  struct cursor at = {start, start + RSTRING_LEN(message)};
  VALUE object = read(&at);
  RB_GC_GUARD(message);
  return object;
}

/* Binary. */

static const uint8_t binary_types[] = {3, 6, 8, 10, 4, 11, 12, 13, 14, 15};

static inline int16_t binary_i16(struct cursor *at) {
  const uint8_t *bytes = take(at, 2);
  return (int16_t)(bytes[0] << 8 | bytes[1]);
}

static inline int32_t binary_i32(struct cursor *at) {
  uint32_t number;
  memcpy(&number, take(at, 4), 4);
  return (int32_t)__builtin_bswap32(number);
}

static inline int64_t binary_i64(struct cursor *at) {
  uint64_t number;
  memcpy(&number, take(at, 8), 8);
  return (int64_t)__builtin_bswap64(number);
}

static inline double binary_real(struct cursor *at) {
  int64_t bits = binary_i64(at);
  double number;
  memcpy(&number, &bits, 8);
  return number;
}

static inline size_t binary_len(struct cursor *at) {
  return (uint32_t)binary_i32(at);
}

static inline void binary_header(struct cursor *at, uint8_t type, int id) {
  const uint8_t *bytes = take(at, 3);
  if (bytes[0] != type || (bytes[1] << 8 | bytes[2]) != id) refuse("fields");
}

static inline void binary_field(struct cursor *at, int *last, enum wire_type type, int id) {
  (void)last;
  binary_header(at, binary_types[type], id);
}

static inline int binary_bool_field(struct cursor *at, int *last, int id) {
  (void)last;
  binary_header(at, 2, id);
  return *take(at, 1);
}

static inline void binary_stop(struct cursor *at) {
  if (*take(at, 1) != 0) refuse("fields");
}

static inline size_t binary_list(struct cursor *at, enum wire_type type) {
  if (*take(at, 1) != binary_types[type]) refuse("elements");
  return binary_len(at);
}

static inline size_t binary_map(struct cursor *at, enum wire_type key, enum wire_type value) {
  const uint8_t *types = take(at, 2);
  if (types[0] != binary_types[key] || types[1] != binary_types[value]) refuse("entries");
  return binary_len(at);
}

#define PROTOCOL binary
#include "structs.h"
#undef PROTOCOL

/* Compact. */

static const uint8_t compact_types[] = {3, 4, 5, 6, 7, 8, 12, 11, 10, 9};

static inline uint64_t varint(struct cursor *at) {
  uint64_t number = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    uint8_t byte = *take(at, 1);
    number |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) return number;
  }
  refuse("numbers");
  return 0;
}

static inline int64_t compact_i64(struct cursor *at) {
  uint64_t number = varint(at);
  return (int64_t)(number >> 1) ^ -(int64_t)(number & 1);
}

static inline int32_t compact_i32(struct cursor *at) {
  return (int32_t)compact_i64(at);
}

static inline int16_t compact_i16(struct cursor *at) {
  return (int16_t)compact_i64(at);
}

static inline double compact_real(struct cursor *at) {
  double number;
  memcpy(&number, take(at, 8), 8);
  return number;
}

static inline size_t compact_len(struct cursor *at) {
  return varint(at);
}

static inline uint8_t compact_header(struct cursor *at, int *last, int id) {
  uint8_t header = *take(at, 1);
  if (header >> 4 != id - *last) refuse("fields");
  *last = id;
  return header & 15;
}

static inline void compact_field(struct cursor *at, int *last, enum wire_type type, int id) {
  if (compact_header(at, last, id) != compact_types[type]) refuse("fields");
}

static inline int compact_bool_field(struct cursor *at, int *last, int id) {
  uint8_t type = compact_header(at, last, id);
  if (type != 1 && type != 2) refuse("fields");
  return type == 1;
}

static inline void compact_stop(struct cursor *at) {
  if (*take(at, 1) != 0) refuse("fields");
}

static inline size_t compact_list(struct cursor *at, enum wire_type type) {
  uint8_t header = *take(at, 1);
  if ((header & 15) != compact_types[type]) refuse("elements");
  return header >> 4 == 15 ? varint(at) : header >> 4;
}

static inline size_t compact_map(struct cursor *at, enum wire_type key, enum wire_type value) {
  size_t count = varint(at);
  if (*take(at, 1) != (compact_types[key] << 4 | compact_types[value])) refuse("entries");
  return count;
}

#define PROTOCOL compact
#include "structs.h"
#undef PROTOCOL

/* ThriftFloor.prepare(Rich, Flat, Inner) */
static VALUE prepare(VALUE self, VALUE rich, VALUE flat, VALUE inner) {
  (void)self;
  VALUE given[CLASSES] = {rich, flat, inner};
  memcpy(classes, given, sizeof classes);
  return Qnil;
}

void Init_thrift_floor(void) {
  VALUE module = rb_define_module("ThriftFloor");
  utf8 = rb_utf8_encoding();
  for (int name = 0; name < NAMES; name++) names[name] = rb_intern(spelled[name]);
  for (int number = 0; number < CLASSES; number++) rb_gc_register_address(&classes[number]);
  rb_gc_register_address(&set_class);
  set_class = rb_const_get(rb_cObject, rb_intern("Set"));
  hash_name = rb_intern("@hash");
  VALUE empty = rb_class_new_instance(0, NULL, set_class);
  set_has_hash = RTEST(rb_ivar_defined(empty, hash_name));
  rb_define_module_function(module, "prepare", prepare, 3);
  rb_define_module_function(module, "rich_binary", binary_rich, 1);
  rb_define_module_function(module, "flat_binary", binary_flat, 1);
  rb_define_module_function(module, "rich_compact", compact_rich, 1);
  rb_define_module_function(module, "flat_compact", compact_flat, 1);
}
