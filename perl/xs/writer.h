/* Writers of binary output. */
#include <fcntl.h>

typedef struct {
    bw_writer *writer; /* null when closed */
    int descriptor;    /* its own, of a handle, a pipe or a terminal, or -1 */
    bool is_synced;    /* what goes to the descriptor is to survive a power cut */
    bool replaces;     /* the file takes the place of another when it is closed */
} Writer;

/* Takes back the descriptor of a writer that is closed. */
static void close_descriptor(Writer *writer) {
    if (writer->descriptor >= 0) close(writer->descriptor);
    writer->descriptor = -1;
}

/* Ends a writer whose object goes, as Perl does a handle: what is gathered is written. A file that was to replace another is given
 * up, as nobody has said that it is whole. In a forked child nothing is written. */
static void free_writer(pTHX_ void *handle) {
    Writer *writer = (Writer *)handle;
    bw_error error = BW_ERROR_INIT;
    signals_are_held = TRUE;
    if (writer->replaces || IS_FAILURE(bw_writer_close(writer->writer, &error))) bw_writer_discard(writer->writer, NULL);
    signals_are_held = FALSE;
    if (error.status != BW_STATUS_OK && !PL_dirty) warn("a writer was left open, and closing it failed: %s\n", error.message);
    bw_error_clear(&error);
    close_descriptor(writer);
}

HANDLE_KIND(writer)

#define writer_of(self) ((Writer *)handle_of(aTHX_ (self), &writer_kind, "writer"))

static bw_writer *open_writer(pTHX_ SV *self) {
    Writer *writer = writer_of(self);
    if (!writer->writer) die_with(aTHX_ "closed", "expected an open writer, found it closed");
    return writer->writer;
}

/* Gives the descriptor of a writer what it takes. A signal ends the call, so that its handler of Perl's runs: also one that came
 * when a part had been taken, which is no error of the system's. */
static int64_t take_to_descriptor(void *context, const uint8_t *data, size_t len) {
    dTHX;
    const Writer *writer = (const Writer *)context;
    ssize_t count;
    do {
        if (!signals_are_held && PL_sig_pending) return -EINTR;
        count = write(writer->descriptor, data, len);
    } while (count < 0 && errno == EINTR);
    return count < 0 ? -(int64_t)errno : (int64_t)count;
}

/* Opens a writer to the descriptor that it has. */
static void open_descriptor(pTHX_ Writer *writer, const char *name) {
    bw_error error = BW_ERROR_INIT;
    if (bw_writer_open_output(name, take_to_descriptor, writer, &writer->writer, &error)) die_of(aTHX_ &error);
}

PERL_STATIC_NO_RET void die_of_system(pTHX_ const char *action, const char *file) __attribute__noreturn__;
PERL_STATIC_NO_RET void die_of_system(pTHX_ const char *action, const char *file) {
    const int number = errno;
    SV *name = newSVpvn_flags(file, strlen(file), SVs_TEMP);
    SV *message;
    sv_utf8_decode(name);
    message = sv_2mortal(newSVpvf("%" SVf ": cannot %s: %s", SVfARG(name), action, Strerror(number)));
    croak_sv(error_by(aTHX_ "Bytewright::Error::_new", "io", message, name, &PL_sv_undef, sv_2mortal(newSViv(number))));
}

/* Returns true if each byte that is written there goes behind the one before, and may be waited for. */
static bool has_no_places(const char *path) {
    struct stat found;
    return !stat(path, &found) && (S_ISFIFO(found.st_mode) || S_ISCHR(found.st_mode));
}

/* Makes a call of an open writer until no signal ends it. Its handler may have closed the writer. */
#define UNTIL_WRITTEN(status, call) STMT_START {                   \
    do {                                                           \
        bw_writer *writer = open_writer(aTHX_ self);               \
        (status) = (call);                                         \
    } while (UNLIKELY(goes_on(aTHX_ (status), &error)));           \
    if (UNLIKELY(status)) die_of(aTHX_ &error);                    \
} STMT_END

/* What is written there will survive a power cut. Pipes and terminals keep nothing. */
static void sync_descriptor(pTHX_ const Writer *writer) {
    if (writer->descriptor < 0) return;
    while (fsync(writer->descriptor)) {
        if (errno == EINVAL || errno == ENOTSUP || errno == EROFS) return;
        if (errno != EINTR) die_of_system(aTHX_ "sync", "handle");
    }
}

/* A whole number that `len` bytes hold. Unlike a count, one beyond all of them is not the highest. */
static uint64_t number_to_write(pTHX_ SV *sv, size_t len, bool is_signed) {
    Whole found;
    UV exact = 0;
    SV *plain_sv = plain_number(aTHX_ sv);
    const UV highest = (UV)-1 >> (8 * (sizeof(UV) - len)), most = is_signed ? highest >> 1 : highest;
    if (LIKELY(is_whole(aTHX_ plain_sv, &found))) {
        const bool may_be_rounded = found.magnitude == UV_MAX && !SvIOK(plain_sv)
            && !(SvPOK(plain_sv) && !SvNOK(plain_sv) && grok_number(SvPVX_const(plain_sv), SvCUR(plain_sv), &exact) == IS_NUMBER_IN_UV);
        const UV limit = !found.is_negative ? most : is_signed ? most + 1 : 0;
        if (found.magnitude <= limit && !may_be_rounded) return found.is_negative ? (UV)0 - found.magnitude : found.magnitude;
    }
    if (is_signed)
        die_with(aTHX_ "argument", "expected a whole number from %" IVdf " to %" IVdf ", found %" SVf, -(IV)most - 1, (IV)most,
                 SVfARG(shown(aTHX_ plain_sv)));
    die_with(aTHX_ "argument", "expected a whole number from 0 to %" UVuf ", found %" SVf, most, SVfARG(shown(aTHX_ plain_sv)));
}

static double real_to_write(pTHX_ SV *sv) {
    SV *plain_sv = plain_number(aTHX_ sv);
    if (!looks_like_number(plain_sv))
        die_with(aTHX_ "argument", "expected a number, found %" SVf, SVfARG(shown(aTHX_ plain_sv)));
    return (double)SvNV_nomg(plain_sv);
}
