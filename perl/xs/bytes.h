/* Perl's strings as bytes, and bytes as Perl's strings. */

#define IS_FAILURE(status) ((int)(status) >= (int)BW_STATUS_IO)

/* Is true if bytes are the same in UTF-8 and in Perl's own strings. Perl's function takes a length of 0 for strlen. */
#define IS_ASCII(data, len) ((len) == 0 || is_utf8_invariant_string((const U8 *)(data), (len)))

/* Advice for a character where bytes are expected. */
static const char *instead_of_character(const char *what) {
    return strcmp(what, "bytes to write") ? "encode it, or open with utf8 => 1" : "encode it";
}

/* Objects that the string of an object may lead through, one overloaded method giving the next. */
#define OVERLOADS_MAX 100

/* Advice for a reference where a string is expected. */
static const char *instead_of_reference(const char *what) {
    if (!strcmp(what, "a key")) return "write \"$key\" for its text, or refaddr($key) of Scalar::Util";
    if (!strcmp(what, "a value")) return "write \"$value\" for its text, or encode what it refers to";
    return "write a string";
}

/* Makes of a reference, by its overloaded methods, what is none, or returns null. Only a call tells whether there is
 * such a method: SvAMAGIC is true of every class until its methods are looked up. */
static SV *overloaded(pTHX_ SV *sv) {
    int left = OVERLOADS_MAX;
    while (SvROK(sv)) {
        SV *made = SvAMAGIC(sv) && left-- > 0 ? AMG_CALLunary(sv, string_amg) : NULL;
        if (!made || (SvROK(made) && SvRV(made) == SvRV(sv))) return NULL;
        SvGETMAGIC(made);
        sv = made;
    }
    return sv;
}

/* Returns true if reading an SV runs no code of its magic: that of taint, which a copy has again, runs none. */
static bool is_free_of_code(const SV *sv) {
    const MAGIC *magic = SvTYPE(sv) >= SVt_PVMG ? SvMAGIC(sv) : NULL;
    return !SvGMAGICAL(sv) || (magic && magic->mg_type == PERL_MAGIC_taint && !magic->mg_moremagic);
}

/* The SV, or a mortal copy, without magic and overloading: reading its bytes afterwards runs no Perl code, which could
 * change a string whose bytes were taken before. */
static SV *plain_slow(pTHX_ SV *sv, const char *what) {
    SV *copy, *made;
    SvGETMAGIC(sv);
    if (is_free_of_code(sv) && !SvROK(sv) && SvOK(sv)) return sv;
    made = overloaded(aTHX_ sv);
    if (!made)
        die_with(aTHX_ "argument", "expected a string as %s, found a reference to %s; %s", what, sv_reftype(SvRV(sv), FALSE),
                 instead_of_reference(what));
    copy = sv_newmortal();
    sv_copypv_nomg(copy, made);
    return copy;
}

#define plain(sv, what) \
    (LIKELY((SvFLAGS(sv) & (SVf_POK | SVs_GMG | SVf_ROK)) == SVf_POK) ? (sv) : plain_slow(aTHX_ (sv), (what)))

/* Makes all of them plain, until none of their code ran any more: it could have changed those before. */
static void make_plain(pTHX_ SV **svs, size_t count, const char *even, const char *odd) {
    bool has_run;
    do {
        size_t place;
        has_run = FALSE;
        for (place = 0; place < count; place++) {
            SV *made = svs[place] ? plain(svs[place], place % 2 ? odd : even) : NULL;
            has_run = has_run || made != svs[place];
            svs[place] = made;
        }
    } while (has_run);
}

static bw_slice bytes_slow(pTHX_ SV *sv, bool is_text, const char *what) {
    bw_slice slice;
    STRLEN len;
    const char *start = SvPV_nomg_const(sv, len);
    if (is_text ? !SvUTF8(sv) && !IS_ASCII(start, len) : !!SvUTF8(sv)) {
        SV *copy = newSVpvn_flags(start, len, SVs_TEMP | SvUTF8(sv));
        if (is_text)
            sv_utf8_upgrade_nomg(copy);
        else if (!sv_utf8_downgrade(copy, TRUE))
            die_with(aTHX_ "argument", "expected bytes as %s, found a character above 255; %s", what, instead_of_character(what));
        start = SvPV_nomg_const(copy, len);
    }
    slice.data = (const uint8_t *)start;
    slice.len = len;
    return slice;
}

/* The bytes of an SV that is plain; of a text its UTF-8. They are there as long as the SV, or until the statement ends. */
PERL_STATIC_INLINE bw_slice bytes(pTHX_ SV *sv, bool is_text, const char *what) {
    if (LIKELY(!is_text && (SvFLAGS(sv) & (SVf_POK | SVf_UTF8)) == SVf_POK)) {
        bw_slice slice;
        slice.data = (const uint8_t *)SvPVX_const(sv);
        slice.len = SvCUR(sv);
        return slice;
    }
    return bytes_slow(aTHX_ sv, is_text, what);
}

/* Under -T, taints what is made of a handle that has bytes from outside: strings and numbers, from here to the statement's end. */
#define TAINT_BY(handle) STMT_START { if (UNLIKELY(TAINTING_get && (handle)->is_tainted)) TAINT; } STMT_END

/* A mortal string of these bytes; of a text its characters. */
PERL_STATIC_INLINE SV *string(pTHX_ const uint8_t *data, size_t len, bool is_text) {
    U32 flags = SVs_TEMP;
    if (is_text && !IS_ASCII(data, len)) {
        const U8 *end;
        if (!is_utf8_string_loc((const U8 *)data, len, &end))
            die_with(aTHX_ "format", "expected UTF-8, found the byte 0x%02X after %" UVuf " bytes of a key or value; open without utf8",
                     *end, (UV)(end - (const U8 *)data));
        flags |= SVf_UTF8;
    }
    return newSVpvn_flags(len ? (const char *)data : "", len, flags);
}
