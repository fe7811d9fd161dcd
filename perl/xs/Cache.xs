MODULE = Bytewright    PACKAGE = Bytewright::Cache

void
_attach(self)
    SV *self
CODE:
    Cache *cache;
    Newxz(cache, 1, Cache);
    attach(aTHX_ self, &cache_kind, cache);

void
_open(self, path, clears_damage, ...)
    SV *self
    SV *path
    bool clears_damage
CODE:
    bw_error error = BW_ERROR_INIT;
    bw_cache_options options = BW_CACHE_OPTIONS_INIT;
    Cache *cache = cache_of(self);
    const char *name = SvOK(path) ? SvPV_nolen(path) : NULL;
    bw_status status;
    options.clears_damage = clears_damage;
    options.named = names_of(aTHX_ &ST(3), (size_t)items - 3);
    cache->is_tainted = name != NULL;
    options.interrupted = signal_waits;
    options.interrupted_context = aTHX;
    do status = bw_cache_open(name, &options, &cache->cache, &error);
    while (goes_on(aTHX_ status, &error));
    if (status) die_of(aTHX_ &error);
    tell_of_clearing(aTHX_ cache);

void
close(self)
    SV *self
CODE:
    bw_error error = BW_ERROR_INIT;
    Cache *cache = cache_of(self);
    bw_cache *open = cache->cache;
    cache->cache = NULL;
    if (bw_cache_close(open, &error)) die_of(aTHX_ &error);

bool
is_closed(self)
    SV *self
CODE:
    RETVAL = cache_of(self)->cache == NULL;
OUTPUT:
    RETVAL

void
get(self, key)
    SV *self
    SV *key
ALIAS:
    FETCH = 1
PPCODE:
    bw_error error = BW_ERROR_INIT;
    bw_cache_entry entry = BW_CACHE_ENTRY_INIT;
    SV *plain_key = plain(key, "a key");
    Cache *cache = cache_of(self);
    const bw_slice k = bytes(aTHX_ plain_key, TRUE, "a key");
    const bw_status status = bw_cache_get(open_cache(aTHX_ cache), k.data, k.len, &cache->value, &entry, &error);
    PERL_UNUSED_VAR(ix);
    if (UNLIKELY(IS_FAILURE(status))) die_of(aTHX_ &error);
    TAINT_BY(cache);
    ST(0) = status == BW_STATUS_OK ? cached_value(aTHX_ cache, &entry) : &PL_sv_undef;
    tell_of_clearing(aTHX_ cache);
    XSRETURN(1);

bool
exists(self, key)
    SV *self
    SV *key
ALIAS:
    EXISTS = 1
CODE:
    bw_error error = BW_ERROR_INIT;
    SV *plain_key = plain(key, "a key");
    Cache *cache = cache_of(self);
    const bw_slice k = bytes(aTHX_ plain_key, TRUE, "a key");
    const bw_status status = bw_cache_get(open_cache(aTHX_ cache), k.data, k.len, NULL, NULL, &error);
    PERL_UNUSED_VAR(ix);
    if (IS_FAILURE(status)) die_of(aTHX_ &error);
    tell_of_clearing(aTHX_ cache);
    RETVAL = status == BW_STATUS_OK;
OUTPUT:
    RETVAL

SV *
_expires_at(self, key)
    SV *self
    SV *key
CODE:
    bw_error error = BW_ERROR_INIT;
    bw_cache_entry entry = BW_CACHE_ENTRY_INIT;
    SV *plain_key = plain(key, "a key");
    Cache *cache = cache_of(self);
    const bw_slice k = bytes(aTHX_ plain_key, TRUE, "a key");
    const bw_status status = bw_cache_get(open_cache(aTHX_ cache), k.data, k.len, NULL, &entry, &error);
    if (IS_FAILURE(status)) die_of(aTHX_ &error);
    tell_of_clearing(aTHX_ cache);
    RETVAL = status == BW_STATUS_OK && entry.expires_at ? newSVnv((NV)entry.expires_at / 1000) : newSV(0);
OUTPUT:
    RETVAL

bool
_set(self, key, value, expires_in, tag, only_new)
    SV *self
    SV *key
    SV *value
    SV *expires_in
    SV *tag
    bool only_new
CODE:
    bw_error error = BW_ERROR_INIT;
    bw_cache_entry entry = BW_CACHE_ENTRY_INIT;
    SV *given[3];
    uint8_t number[8];
    Cache *cache = cache_of(self);
    bw_status status;
    entry.expires_at = expiry_of(aTHX_ expires_in);
    SvGETMAGIC(tag);
    SvGETMAGIC(value);
    given[0] = key;
    given[1] = SvOK(value) && !(SvNIOK(value) && !SvPOK(value)) ? value : NULL;
    given[2] = SvOK(tag) ? tag : NULL;
    make_plain(aTHX_ given, 3, "a key", "a value");
    NOTE_TAINT(cache, given[0]);
    NOTE_TAINT(cache, given[1] ? given[1] : value);
    do {
        const bw_slice k = bytes(aTHX_ given[0], TRUE, "a key");
        const bw_slice v = value_bytes(aTHX_ given[1] ? given[1] : value, number, &entry);
        if (given[2]) entry.tag = bytes(aTHX_ given[2], TRUE, "a tag");
        status = (only_new ? bw_cache_add : bw_cache_set)(open_cache(aTHX_ cache), k.data, k.len, v.data, v.len, &entry, &error);
    } while (goes_on(aTHX_ status, &error));
    if (IS_FAILURE(status)) die_of(aTHX_ &error);
    tell_of_clearing(aTHX_ cache);
    RETVAL = status == BW_STATUS_OK;
OUTPUT:
    RETVAL

bool
touch(self, key, expires_in = &PL_sv_undef)
    SV *self
    SV *key
    SV *expires_in
CODE:
    bw_error error = BW_ERROR_INIT;
    const uint64_t expires_at = expiry_of(aTHX_ expires_in);
    SV *plain_key = plain(key, "a key");
    Cache *cache = cache_of(self);
    bw_status status;
    do {
        const bw_slice k = bytes(aTHX_ plain_key, TRUE, "a key");
        status = bw_cache_touch(open_cache(aTHX_ cache), k.data, k.len, expires_at, &error);
    } while (goes_on(aTHX_ status, &error));
    if (IS_FAILURE(status)) die_of(aTHX_ &error);
    tell_of_clearing(aTHX_ cache);
    RETVAL = status == BW_STATUS_OK;
OUTPUT:
    RETVAL

IV
increment(self, key, by = NULL)
    SV *self
    SV *key
    SV *by
CODE:
    bw_error error = BW_ERROR_INIT;
    int64_t sum = 0;
    const IV step = by ? whole_number(aTHX_ by, "what is added", IV_MIN, IV_MAX) : 1;
    SV *plain_key = plain(key, "a key");
    Cache *cache = cache_of(self);
    bw_status status;
    do {
        const bw_slice k = bytes(aTHX_ plain_key, TRUE, "a key");
        status = bw_cache_increment(open_cache(aTHX_ cache), k.data, k.len, step, &sum, &error);
    } while (goes_on(aTHX_ status, &error));
    if (status) die_of(aTHX_ &error);
    tell_of_clearing(aTHX_ cache);
    TAINT_BY(cache);
    RETVAL = (IV)sum;
OUTPUT:
    RETVAL

void
take(self, key)
    SV *self
    SV *key
ALIAS:
    DELETE = 1
PPCODE:
    bw_error error = BW_ERROR_INIT;
    bw_cache_entry entry = BW_CACHE_ENTRY_INIT;
    SV *plain_key = plain(key, "a key");
    Cache *cache = cache_of(self);
    bw_status status;
    PERL_UNUSED_VAR(ix);
    do {
        const bw_slice k = bytes(aTHX_ plain_key, TRUE, "a key");
        status = bw_cache_take(open_cache(aTHX_ cache), k.data, k.len, &cache->value, &entry, &error);
    } while (goes_on(aTHX_ status, &error));
    if (IS_FAILURE(status)) die_of(aTHX_ &error);
    TAINT_BY(cache);
    ST(0) = status == BW_STATUS_OK ? cached_value(aTHX_ cache, &entry) : &PL_sv_undef;
    tell_of_clearing(aTHX_ cache);
    XSRETURN(1);

bool
delete(self, key)
    SV *self
    SV *key
CODE:
    bw_error error = BW_ERROR_INIT;
    SV *plain_key = plain(key, "a key");
    Cache *cache = cache_of(self);
    bw_status status;
    do {
        const bw_slice k = bytes(aTHX_ plain_key, TRUE, "a key");
        status = bw_cache_take(open_cache(aTHX_ cache), k.data, k.len, NULL, NULL, &error);
    } while (goes_on(aTHX_ status, &error));
    if (IS_FAILURE(status)) die_of(aTHX_ &error);
    tell_of_clearing(aTHX_ cache);
    RETVAL = status == BW_STATUS_OK;
OUTPUT:
    RETVAL

UV
evict(self, tag)
    SV *self
    SV *tag
CODE:
    bw_error error = BW_ERROR_INIT;
    uint64_t count = 0;
    SV *plain_tag = plain(tag, "a tag");
    Cache *cache = cache_of(self);
    bw_status status;
    do {
        const bw_slice t = bytes(aTHX_ plain_tag, TRUE, "a tag");
        status = bw_cache_evict(open_cache(aTHX_ cache), t.data, t.len, &count, &error);
    } while (goes_on(aTHX_ status, &error));
    if (status) die_of(aTHX_ &error);
    tell_of_clearing(aTHX_ cache);
    RETVAL = (UV)count;
OUTPUT:
    RETVAL

UV
expire(self)
    SV *self
ALIAS:
    clear = 1
    CLEAR = 2
CODE:
    bw_error error = BW_ERROR_INIT;
    uint64_t count = 0;
    Cache *cache = cache_of(self);
    bw_status status;
    do status = (ix ? bw_cache_clear : bw_cache_expire)(open_cache(aTHX_ cache), &count, &error);
    while (goes_on(aTHX_ status, &error));
    if (status) die_of(aTHX_ &error);
    tell_of_clearing(aTHX_ cache);
    RETVAL = (UV)count;
OUTPUT:
    RETVAL

UV
count(self)
    SV *self
ALIAS:
    SCALAR = 1
    volume = 2
CODE:
    bw_error error = BW_ERROR_INIT;
    uint64_t count = 0, used_bytes = 0;
    Cache *cache = cache_of(self);
    if (bw_cache_len(open_cache(aTHX_ cache), &count, &used_bytes, &error)) die_of(aTHX_ &error);
    tell_of_clearing(aTHX_ cache);
    RETVAL = (UV)(ix == 2 ? used_bytes : count);
OUTPUT:
    RETVAL

void
_keys(self)
    SV *self
PPCODE:
    bw_error error = BW_ERROR_INIT;
    Values keys = {NULL, 0, 0, NULL, NULL, FALSE};
    Cache *cache = cache_of(self);
    bw_cache *open = open_cache(aTHX_ cache);
    bw_status status;
    ENTER;
    status = bw_cache_keys(open, keep_string, &keys, &error);
    SAVEDESTRUCTOR(free, keys.data);
    if (status) die_of(aTHX_ &error);
    tell_of_clearing(aTHX_ cache);
    TAINT_BY(cache);
    ST(0) = cached_keys(aTHX_ &keys);
    LEAVE;
    XSRETURN(1);
