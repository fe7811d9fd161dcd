/* Base of the methods of caches. Keys are text: of a key without UTF-8 the characters are the bytes, as everywhere in Perl. */

/* Nested data of one item (RFC 8949) that Perl has, too. */
#define CBOR_FALSE 0xf4
#define CBOR_TRUE 0xf5
#define CBOR_NULL 0xf6

/* The cache, which must be open. */
PERL_STATIC_INLINE bw_cache *open_cache(pTHX_ const Cache *cache) {
    if (UNLIKELY(!cache->cache)) die_with(aTHX_ "closed", "expected an open cache, found it closed");
    return cache->cache;
}

/* Warns of damage for which the cache was cleared, after a call. What a handler of the warning dies with goes on. */
PERL_STATIC_INLINE void tell_of_clearing(pTHX_ Cache *cache) {
    const uint64_t clearings = bw_cache_clearings(cache->cache);
    if (LIKELY(clearings == cache->clearings)) return;
    cache->clearings = clearings;
    Perl_warner(aTHX_ packWARN(WARN_IO), "a damaged cache was cleared");
}

/* The bytes of a value without magic, of which `entry` is told the kind. They are there as long as the SV, and `number`. */
static bw_slice value_bytes(pTHX_ SV *sv, uint8_t *number, bw_cache_entry *entry) {
    bw_slice slice;
    slice.data = number;
    slice.len = 8;
    if (!SvOK(sv)) {
        entry->kind = BW_CACHE_KIND_NESTED;
        number[0] = CBOR_NULL;
        slice.len = 1;
    } else if (SvPOK(sv) || (SvIOK(sv) && SvIsUV(sv) && SvUVX(sv) > (UV)IV_MAX)) {
        const bool is_text = !!SvUTF8(sv);
        entry->kind = is_text ? BW_CACHE_KIND_TEXT : BW_CACHE_KIND_BYTES;
        return bytes(aTHX_ sv, is_text, "a value");
    } else if (SvIOK(sv)) {
        const uint64_t bits = (uint64_t)SvIVX(sv);
        int place;
        entry->kind = BW_CACHE_KIND_INTEGER;
        for (place = 0; place < 8; place++) number[place] = (uint8_t)(bits >> (8 * place));
    } else {
        const double value = (double)SvNV_nomg(sv);
        uint64_t bits;
        int place;
        entry->kind = BW_CACHE_KIND_FLOAT;
        memcpy(&bits, &value, sizeof bits);
        for (place = 0; place < 8; place++) number[place] = (uint8_t)(bits >> (8 * place));
    }
    return slice;
}

PERL_STATIC_NO_RET void die_of_kind(pTHX_ uint32_t kind) {
    if (kind == BW_CACHE_KIND_SEALED)
        die_with(aTHX_ "argument", "expected a value that Perl can have, found one that another language has serialized");
    die_with(aTHX_ "argument", "expected a value that Perl can have, found nested data of another language; bytewright cache get shows it");
}

/* The value that a call has found, as a mortal scalar. */
static SV *cached_value(pTHX_ Cache *cache, const bw_cache_entry *entry) {
    const uint8_t *data = cache->value.data;
    const size_t len = cache->value.len;
    uint64_t bits = 0;
    SV *value;
    double number;
    int place;
    switch (entry->kind) {
    case BW_CACHE_KIND_BYTES:
    case BW_CACHE_KIND_TEXT:
        value = string(aTHX_ data, len, entry->kind == BW_CACHE_KIND_TEXT);
        if (UNLIKELY(cache->value.capacity > KEPT_VALUE_BYTES_MAX)) bw_buffer_free(&cache->value);
        return value;
    case BW_CACHE_KIND_INTEGER:
    case BW_CACHE_KIND_FLOAT:
        for (place = 0; place < 8 && len == 8; place++) bits |= (uint64_t)data[place] << (8 * place);
        memcpy(&number, &bits, sizeof number);
        return sv_2mortal(entry->kind == BW_CACHE_KIND_INTEGER ? newSViv((IV)bits) : newSVnv(number));
    case BW_CACHE_KIND_NESTED:
        if (len == 1 && data[0] == CBOR_NULL) return sv_newmortal();
        if (len == 1 && data[0] == CBOR_TRUE) return &PL_sv_yes;
        if (len == 1 && data[0] == CBOR_FALSE) return &PL_sv_no;
    }
    die_of_kind(aTHX_ entry->kind);
}

/* Keys of a cache, which are kept until the library has returned. */
static SV *cached_keys(pTHX_ const Values *values) {
    AV *keys = newAV();
    SV *answer = sv_2mortal(newRV_noinc((SV *)keys));
    size_t start = 0, len;
    if (values->is_full) die_with(aTHX_ "limit", "expected memory for the keys of a cache, found too little");
    while (start < values->len) {
        const U8 *text = (const U8 *)values->data + start + sizeof(len);
        memcpy(&len, values->data + start, sizeof(len));
        start += sizeof(len) + len;
        /* Keys of other languages may be bytes. */
        av_push(keys, newSVpvn_utf8((const char *)text, len, !IS_ASCII(text, len) && is_utf8_string(text, len)));
    }
    return answer;
}

/* Milliseconds since 1970 of a lifetime in seconds; 0 for one that never ends. */
static uint64_t expiry_of(pTHX_ SV *seconds) {
    NV lifetime, end;
    SV *plain_seconds = plain_number(aTHX_ seconds);
    if (!SvOK(plain_seconds)) return 0;
    if (!looks_like_number(plain_seconds) || Perl_isnan(SvNV_nomg(plain_seconds)))
        die_with(aTHX_ "argument", "expected a number of seconds as expires_in, found %" SVf, SVfARG(shown(aTHX_ plain_seconds)));
    lifetime = SvNV_nomg(plain_seconds);
    end = (NV)bw_cache_now() + lifetime * 1000;
    return end < 1 ? 1 : end < 1e18 ? (uint64_t)end : 0;
}
