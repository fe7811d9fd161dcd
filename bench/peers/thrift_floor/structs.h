/* The structs of workload/messages.thrift, field by field, by a protocol whose functions begin with PROTOCOL.
   floor.c includes this once for each. */

#define JOIN_AGAIN(a, b) a##_##b
#define JOIN(a, b) JOIN_AGAIN(a, b)
#define P(name) JOIN(PROTOCOL, name)

static VALUE P(text)(struct cursor *at) {
  size_t len = P(len)(at);
  return rb_utf8_str_new((const char *)take(at, len), len);
}

/* Keys are what a Hash makes of them anyway, without a String that is thrown away. */
static VALUE P(key)(struct cursor *at) {
  size_t len = P(len)(at);
  return rb_enc_interned_str((const char *)take(at, len), len, utf8);
}

static VALUE P(bytes)(struct cursor *at) {
  size_t len = P(len)(at);
  return rb_str_new((const char *)take(at, len), len);
}

static VALUE P(truth)(struct cursor *at, int *last, int id) {
  return P(bool_field)(at, last, id) ? Qtrue : Qfalse;
}

static VALUE P(inner)(struct cursor *at) {
  VALUE object = rb_obj_alloc(classes[INNER]);
  int last = 0;
  P(field)(at, &last, T_THRIFT_I32, 1);
  rb_ivar_set(object, names[ID_FIELD], INT2FIX(P(i32)(at)));
  P(field)(at, &last, T_THRIFT_STRING, 2);
  rb_ivar_set(object, names[NAME], P(text)(at));
  rb_ivar_set(object, names[ACTIVE], P(truth)(at, &last, 3));
  P(field)(at, &last, T_THRIFT_I16, 4);
  rb_ivar_set(object, names[LEVEL], INT2FIX(P(i16)(at)));
  P(field)(at, &last, T_THRIFT_DOUBLE, 5);
  rb_ivar_set(object, names[SCORE], DBL2NUM(P(real)(at)));
  P(stop)(at);
  return object;
}

static VALUE P(numbers)(struct cursor *at) {
  size_t count = P(list)(at, T_THRIFT_I32);
  VALUE block[BLOCK], array = rb_ary_new_capa(count);
  while (count > 0) {
    size_t part = count < BLOCK ? count : BLOCK;
    for (size_t i = 0; i < part; i++) block[i] = INT2FIX(P(i32)(at));
    rb_ary_cat(array, block, part);
    count -= part;
  }
  return array;
}

static VALUE P(longs)(struct cursor *at) {
  size_t count = P(list)(at, T_THRIFT_I64);
  VALUE block[BLOCK], array = rb_ary_new_capa(count);
  while (count > 0) {
    size_t part = count < BLOCK ? count : BLOCK;
    for (size_t i = 0; i < part; i++) block[i] = LL2NUM(P(i64)(at));
    rb_ary_cat(array, block, part);
    count -= part;
  }
  return array;
}

static VALUE P(texts)(struct cursor *at) {
  size_t count = P(list)(at, T_THRIFT_STRING);
  VALUE array = rb_ary_new_capa(count);
  for (size_t i = 0; i < count; i++) rb_ary_push(array, P(text)(at));
  return array;
}

static VALUE P(inners)(struct cursor *at) {
  size_t count = P(list)(at, T_THRIFT_STRUCT);
  VALUE array = rb_ary_new_capa(count);
  for (size_t i = 0; i < count; i++) rb_ary_push(array, P(inner)(at));
  return array;
}

static VALUE P(text_set)(struct cursor *at) {
  size_t count = P(list)(at, T_THRIFT_STRING);
  VALUE hash = rb_hash_new();
  for (size_t i = 0; i < count; i++) rb_hash_aset(hash, P(key)(at), Qtrue);
  return set_of(hash);
}

static VALUE P(number_set)(struct cursor *at) {
  size_t count = P(list)(at, T_THRIFT_I32);
  VALUE hash = rb_hash_new();
  for (size_t i = 0; i < count; i++) rb_hash_aset(hash, INT2FIX(P(i32)(at)), Qtrue);
  return set_of(hash);
}

static VALUE P(attributes)(struct cursor *at) {
  size_t count = P(map)(at, T_THRIFT_STRING, T_THRIFT_STRING);
  VALUE hash = rb_hash_new();
  for (size_t i = 0; i < count; i++) {
    VALUE key = P(key)(at);
    rb_hash_aset(hash, key, P(text)(at));
  }
  return hash;
}

static VALUE P(by_id)(struct cursor *at) {
  size_t count = P(map)(at, T_THRIFT_I32, T_THRIFT_STRUCT);
  VALUE hash = rb_hash_new();
  for (size_t i = 0; i < count; i++) {
    VALUE key = INT2FIX(P(i32)(at));
    rb_hash_aset(hash, key, P(inner)(at));
  }
  return hash;
}

static VALUE P(series)(struct cursor *at) {
  size_t count = P(map)(at, T_THRIFT_STRING, T_THRIFT_LIST);
  VALUE hash = rb_hash_new();
  for (size_t i = 0; i < count; i++) {
    VALUE key = P(key)(at);
    rb_hash_aset(hash, key, P(longs)(at));
  }
  return hash;
}

static VALUE P(rich_of)(struct cursor *at) {
  VALUE object = rb_obj_alloc(classes[RICH]);
  int last = 0;
  rb_ivar_set(object, names[FLAG], P(truth)(at, &last, 1));
  P(field)(at, &last, T_THRIFT_BYTE, 2);
  rb_ivar_set(object, names[TINY], INT2FIX((int8_t)*take(at, 1)));
  P(field)(at, &last, T_THRIFT_I16, 3);
  rb_ivar_set(object, names[SMALL], INT2FIX(P(i16)(at)));
  P(field)(at, &last, T_THRIFT_I32, 4);
  rb_ivar_set(object, names[MEDIUM], INT2FIX(P(i32)(at)));
  P(field)(at, &last, T_THRIFT_I64, 5);
  rb_ivar_set(object, names[LARGE], LL2NUM(P(i64)(at)));
  P(field)(at, &last, T_THRIFT_DOUBLE, 6);
  rb_ivar_set(object, names[REAL], DBL2NUM(P(real)(at)));
  P(field)(at, &last, T_THRIFT_STRING, 7);
  rb_ivar_set(object, names[TEXT], P(text)(at));
  P(field)(at, &last, T_THRIFT_STRING, 8);
  rb_ivar_set(object, names[BLOB], P(bytes)(at));
  P(field)(at, &last, T_THRIFT_I32, 9);
  rb_ivar_set(object, names[KIND], INT2FIX(P(i32)(at)));
  P(field)(at, &last, T_THRIFT_STRUCT, 10);
  rb_ivar_set(object, names[INNER_FIELD], P(inner)(at));
  P(field)(at, &last, T_THRIFT_LIST, 11);
  rb_ivar_set(object, names[INTS], P(numbers)(at));
  P(field)(at, &last, T_THRIFT_LIST, 12);
  rb_ivar_set(object, names[STRINGS], P(texts)(at));
  P(field)(at, &last, T_THRIFT_LIST, 13);
  rb_ivar_set(object, names[INNERS], P(inners)(at));
  P(field)(at, &last, T_THRIFT_SET, 14);
  rb_ivar_set(object, names[TAGS], P(text_set)(at));
  P(field)(at, &last, T_THRIFT_SET, 15);
  rb_ivar_set(object, names[NUMBERS], P(number_set)(at));
  P(field)(at, &last, T_THRIFT_MAP, 16);
  rb_ivar_set(object, names[ATTRIBUTES], P(attributes)(at));
  P(field)(at, &last, T_THRIFT_MAP, 17);
  rb_ivar_set(object, names[BY_ID], P(by_id)(at));
  P(field)(at, &last, T_THRIFT_MAP, 18);
  rb_ivar_set(object, names[SERIES], P(series)(at));
  P(field)(at, &last, T_THRIFT_STRING, 19);
  rb_ivar_set(object, names[GREETING], P(text)(at));
  P(stop)(at);
  return object;
}

static VALUE P(flat_of)(struct cursor *at) {
  VALUE object = rb_obj_alloc(classes[FLAT]);
  int last = 0;
  P(field)(at, &last, T_THRIFT_I64, 1);
  rb_ivar_set(object, names[TIME], LL2NUM(P(i64)(at)));
  P(field)(at, &last, T_THRIFT_STRING, 2);
  rb_ivar_set(object, names[HOST], P(text)(at));
  P(field)(at, &last, T_THRIFT_I32, 3);
  rb_ivar_set(object, names[PID], INT2FIX(P(i32)(at)));
  P(field)(at, &last, T_THRIFT_I16, 4);
  rb_ivar_set(object, names[LEVEL], INT2FIX(P(i16)(at)));
  P(field)(at, &last, T_THRIFT_STRING, 5);
  rb_ivar_set(object, names[PATH], P(text)(at));
  P(field)(at, &last, T_THRIFT_DOUBLE, 6);
  rb_ivar_set(object, names[DURATION], DBL2NUM(P(real)(at)));
  rb_ivar_set(object, names[OK], P(truth)(at, &last, 7));
  P(field)(at, &last, T_THRIFT_I64, 8);
  rb_ivar_set(object, names[REQUEST], LL2NUM(P(i64)(at)));
  P(field)(at, &last, T_THRIFT_I32, 9);
  rb_ivar_set(object, names[STATUS], INT2FIX(P(i32)(at)));
  P(field)(at, &last, T_THRIFT_STRING, 10);
  rb_ivar_set(object, names[MESSAGE], P(text)(at));
  P(stop)(at);
  return object;
}

static VALUE P(rich)(VALUE self, VALUE message) {
  (void)self;
  return whole(message, P(rich_of));
}

static VALUE P(flat)(VALUE self, VALUE message) {
  (void)self;
  return whole(message, P(flat_of));
}

#undef P
#undef JOIN
#undef JOIN_AGAIN
