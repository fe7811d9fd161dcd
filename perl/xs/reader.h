/* Readers of binary input. */

typedef struct {
    bw_reader *reader; /* null when closed, or when rows have taken it over */
    SV *input;         /* what the program gave instead of a path, or null */
    bool is_tainted;   /* what it reads comes from outside */
} Reader;

static void free_reader(pTHX_ void *handle) {
    Reader *reader = (Reader *)handle;
    bw_reader_close(reader->reader);
    SvREFCNT_dec(reader->input);
}

HANDLE_KIND(reader)

#define reader_of(self) ((Reader *)handle_of(aTHX_ (self), &reader_kind, "reader"))

static bw_reader *open_reader(pTHX_ SV *self) {
    Reader *reader = reader_of(self);
    if (!reader->reader) die_with(aTHX_ "closed", "expected an open reader, found it closed");
    return reader->reader;
}

/* Makes a call of the `opened` reader until no signal ends it. Its handler may have closed the reader. */
#define UNTIL_READ(status, call) STMT_START {                      \
    do {                                                           \
        bw_reader *opened = open_reader(aTHX_ self);               \
        (status) = (call);                                         \
    } while (UNLIKELY(goes_on(aTHX_ (status), &error)));           \
} STMT_END

/* The kinds of numbers in the names of methods, above the order and the length of their bytes. */
enum { NUMBER_UNSIGNED, NUMBER_SIGNED, NUMBER_FLOAT };

/* The next number as a new SV, or null at the end. */
static SV *read_number(pTHX_ SV *self, int kind, size_t len, bw_order order) {
    bw_error error = BW_ERROR_INIT;
    bw_status status;
    uint64_t natural = 0;
    int64_t whole = 0;
    double real = 0;
    switch (kind) {
    case NUMBER_UNSIGNED: UNTIL_READ(status, bw_reader_unsigned(opened, len, order, &natural, &error)); break;
    case NUMBER_SIGNED: UNTIL_READ(status, bw_reader_signed(opened, len, order, &whole, &error)); break;
    default: UNTIL_READ(status, bw_reader_float(opened, len, order, &real, &error)); break;
    }
    if (status == BW_STATUS_NONE) return NULL;
    if (status) die_of(aTHX_ &error);
    return kind == NUMBER_UNSIGNED ? newSVuv((UV)natural) : kind == NUMBER_SIGNED ? newSViv((IV)whole) : newSVnv(real);
}

static bool is_at_end(pTHX_ SV *self) {
    bw_error error = BW_ERROR_INIT;
    bool answer = FALSE;
    bw_status status;
    UNTIL_READ(status, bw_reader_at_end(opened, &answer, &error));
    if (status) die_of(aTHX_ &error);
    return answer;
}

/* Bytes that memory is taken for before they are there: a length that is wrong costs no more. */
#define READ_AHEAD_MAX 65536

/* Up to so many bytes as a mortal string. What comes before damage is given first, and the damage with the next call. */
static SV *read_bytes(pTHX_ SV *self, size_t wanted) {
    bw_error error = BW_ERROR_INIT;
    SV *found = sv_2mortal(newSVpvs(""));
    bw_status status = BW_STATUS_OK;
    while (status == BW_STATUS_OK && SvCUR(found) < wanted) {
        const size_t have = SvCUR(found);
        const size_t likely = have > READ_AHEAD_MAX ? have : READ_AHEAD_MAX;
        const size_t room = wanted - have < likely ? wanted - have : likely;
        size_t len = 0;
        char *start = SvGROW(found, have + room + 1);
        status = bw_reader_read(open_reader(aTHX_ self), (uint8_t *)start + have, room, &len, &error);
        SvCUR_set(found, have + len);
        *SvEND(found) = '\0';
        if (goes_on(aTHX_ status, &error)) status = BW_STATUS_OK;
    }
    if (IS_FAILURE(status) && !SvCUR(found)) die_of(aTHX_ &error);
    bw_error_clear(&error);
    return found;
}

static const char *template_of(pTHX_ SV *record) { return SvPV_nolen(plain(record, "a template")); }
