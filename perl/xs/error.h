/* Failures become a Bytewright::Error that dies. Nothing of C is held while it does: the bw_error is freed first. */

static const char *kind_of_status(bw_status status) {
    switch (status) {
    case BW_STATUS_IO: return "io";
    case BW_STATUS_FORMAT: return "format";
    case BW_STATUS_TRUNCATED: return "truncated";
    case BW_STATUS_LIMIT: return "limit";
    case BW_STATUS_LOCK: return "lock";
    case BW_STATUS_CLOSED: return "closed";
    case BW_STATUS_CORRUPT: return "corrupt";
    case BW_STATUS_MISSING_LIBRARY: return "missing_library";
    case BW_STATUS_ARGUMENT: return "argument";
    default: return "internal";
    }
}

/* Calls a function of Bytewright::Error with kind, message, file, offset and the system's number. */
static SV *error_by(pTHX_ const char *function, const char *kind, SV *message, SV *file, SV *offset, SV *os_error) {
    SV *made;
    dSP;
    ENTER;
    PUSHMARK(SP);
    EXTEND(SP, 5);
    PUSHs(sv_2mortal(newSVpv(kind, 0)));
    PUSHs(message);
    PUSHs(file);
    PUSHs(offset);
    PUSHs(os_error);
    PUTBACK;
    call_pv(function, G_SCALAR);
    SPAGAIN;
    made = SvREFCNT_inc(POPs);
    PUTBACK;
    LEAVE;
    return sv_2mortal(made);
}

/* The failure of a call as a Bytewright::Error, which is mortal. */
static SV *error_object(pTHX_ bw_error *error) {
    const char *kind = kind_of_status(error->status);
    const char *text = error->message ? error->message : "";
    SV *message = newSVpvn_flags(text, strlen(text), SVs_TEMP | SVf_UTF8);
    SV *file = error->file ? newSVpvn_flags(error->file, strlen(error->file), SVs_TEMP | SVf_UTF8) : &PL_sv_undef;
    SV *offset = error->offset >= 0 ? sv_2mortal(newSVnv((NV)error->offset)) : &PL_sv_undef;
    SV *os_error = error->os_error ? sv_2mortal(newSViv(error->os_error)) : &PL_sv_undef;
    if (error->offset >= 0 && error->offset <= (int64_t)IV_MAX) offset = sv_2mortal(newSViv((IV)error->offset));
    bw_error_clear(error);
    return error_by(aTHX_ "Bytewright::Error::_new", kind, message, file, offset, os_error);
}

PERL_STATIC_NO_RET void die_of(pTHX_ bw_error *error) __attribute__noreturn__;
PERL_STATIC_NO_RET void die_of(pTHX_ bw_error *error) {
    croak_sv(error_object(aTHX_ error));
}

/* A text as a message repeats it: mortal, and in part where it is long. */
static SV *excerpt(pTHX_ SV *text) {
    SV *made;
    dSP;
    ENTER;
    PUSHMARK(SP);
    XPUSHs(text);
    PUTBACK;
    call_pv("Bytewright::Error::_excerpt", G_SCALAR);
    SPAGAIN;
    made = SvREFCNT_inc(POPs);
    PUTBACK;
    LEAVE;
    return sv_2mortal(made);
}

/* Dies of something that the face itself refuses. */
PERL_STATIC_NO_RET void die_with(pTHX_ const char *kind, const char *format, ...) __attribute__noreturn__;
PERL_STATIC_NO_RET void die_with(pTHX_ const char *kind, const char *format, ...) {
    va_list arguments;
    SV *message;
    va_start(arguments, format);
    message = sv_2mortal(vnewSVpvf(format, &arguments));
    va_end(arguments);
    croak_sv(error_by(aTHX_ "Bytewright::Error::_new", kind, message, &PL_sv_undef, &PL_sv_undef, &PL_sv_undef));
}
