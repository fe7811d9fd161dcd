/* Input that a program gives: bytes in memory, or a handle. What reads it holds it, and the library asks its functions for bytes. They
 * run no Perl code. */

typedef struct {
    SV *source;       /* bytes, or a handle that stays open */
    STRLEN given;     /* of the bytes, how many were brought */
    int descriptor;   /* of the handle */
    const char *name; /* what errors call it */
    bw_read bring;
    bool is_tainted; /* what it brings comes from outside */
} Input;

static void free_input(pTHX_ void *handle) { SvREFCNT_dec(((Input *)handle)->source); }

HANDLE_KIND(input)

#define input_of(self) ((Input *)handle_of(aTHX_ (self), &input_kind, "input"))

/* Brings bytes that are in memory: the SV is a plain string that only this has. */
static int64_t bring_bytes(void *context, uint8_t *data, size_t capacity) {
    Input *input = (Input *)context;
    const STRLEN left = SvCUR(input->source) - input->given;
    const STRLEN count = left < capacity ? left : capacity;
    Copy(SvPVX_const(input->source) + input->given, (char *)data, count, char);
    input->given += count;
    return (int64_t)count;
}

/* Brings what the descriptor of a handle has. A signal ends the call, so that its handler of Perl's runs. */
static int64_t bring_from_descriptor(void *context, uint8_t *data, size_t capacity) {
    const Input *input = (const Input *)context;
    ssize_t count;
    do count = read(input->descriptor, data, capacity);
    while (count < 0 && errno == EINTR && signals_are_held);
    return count < 0 ? -(int64_t)errno : (int64_t)count;
}
