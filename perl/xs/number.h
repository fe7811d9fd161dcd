/* Numbers that a program gives: each is checked, and nothing is rounded, cut or taken for 0. */

/* A whole number of any sign; beyond what UV holds, UV_MAX. */
typedef struct {
    bool is_negative;
    UV magnitude;
} Whole;

static Whole whole_of_nv(NV number) {
    Whole found;
    const NV magnitude = number < 0 ? -number : number;
    found.is_negative = number < 0;
    found.magnitude = magnitude < (NV)UV_MAX ? (UV)magnitude : UV_MAX;
    return found;
}

/* A whole number without magic and overloading, in *found; false where it is none. */
static bool is_whole(pTHX_ SV *sv, Whole *found) {
    NV number;
    if (SvIOK(sv)) {
        found->is_negative = !SvIsUV(sv) && SvIVX(sv) < 0;
        found->magnitude = found->is_negative ? (UV)0 - (UV)SvIVX(sv) : SvUVX(sv);
        return TRUE;
    }
    if (!looks_like_number(sv)) return FALSE;
    if (SvPOK(sv) && !SvNOK(sv)) {
        const int kind = grok_number(SvPVX_const(sv), SvCUR(sv), &found->magnitude);
        found->is_negative = (kind & IS_NUMBER_NEG) != 0;
        if ((kind & ~IS_NUMBER_NEG) == IS_NUMBER_IN_UV) return TRUE;
    }
    number = SvNV_nomg(sv);
    *found = whole_of_nv(number);
    return number == Perl_floor(number);
}

/* The SV without magic and overloading; what is no number stays as it is. */
static SV *plain_number(pTHX_ SV *sv) {
    SV *made;
    SvGETMAGIC(sv);
    made = overloaded(aTHX_ sv);
    return made ? made : sv;
}

/* A value that is no number, for a message. */
static SV *shown(pTHX_ SV *sv) {
    SV *text = sv_2mortal(newSVpvs("undef"));
    if (SvROK(sv)) {
        sv_setpvf(text, "a reference to %s", sv_reftype(SvRV(sv), FALSE));
    } else if (SvOK(sv)) {
        sv_copypv_nomg(text, sv);
    }
    return excerpt(aTHX_ text);
}

/* A whole number within bounds. */
static IV whole_number(pTHX_ SV *sv, const char *what, IV least, IV most) {
    Whole found;
    SV *plain_sv = plain_number(aTHX_ sv);
    if (LIKELY(is_whole(aTHX_ plain_sv, &found))) {
        const IV number = found.is_negative ? (IV)((UV)0 - found.magnitude) : (IV)found.magnitude;
        const UV beyond = (UV)IV_MAX + (found.is_negative ? 1 : 0);
        if (found.magnitude <= beyond && number >= least && number <= most) return number;
    }
    die_with(aTHX_ "argument", "expected a whole number from %" IVdf " to %" IVdf " as %s, found %" SVf, least, most, what,
             SVfARG(shown(aTHX_ plain_sv)));
}

/* Returns a count of which any number above the least will do: one that is higher than IV_MAX is IV_MAX. */
static UV count_number(pTHX_ SV *sv, const char *what, UV least) {
    Whole found;
    SV *plain_sv = plain_number(aTHX_ sv);
    const bool is_count = is_whole(aTHX_ plain_sv, &found) && (!found.is_negative || !found.magnitude);
    if (!is_count || found.magnitude < least)
        die_with(aTHX_ "argument", "expected a whole number of %" UVuf " or more as %s, found %" SVf, least, what,
                 SVfARG(shown(aTHX_ plain_sv)));
    return found.magnitude < (UV)IV_MAX ? found.magnitude : (UV)IV_MAX;
}
