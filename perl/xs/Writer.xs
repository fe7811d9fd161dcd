MODULE = Bytewright    PACKAGE = Bytewright::Writer

void
_attach(self)
    SV *self
CODE:
    Writer *writer;
    Newxz(writer, 1, Writer);
    writer->descriptor = -1;
    attach(aTHX_ self, &writer_kind, writer);

void
_open_path(self, path, mode, is_synced)
    SV *self
    const char *path
    unsigned mode
    bool is_synced
CODE:
    bw_error error = BW_ERROR_INIT;
    bw_writer_options options = BW_WRITER_OPTIONS_INIT;
    Writer *writer = writer_of(self);
    options.mode = mode;
    options.sync = is_synced;
    writer->replaces = mode == BW_WRITER_MODE_REPLACE;
    if (!writer->replaces && has_no_places(path)) {
        /* Who reads a pipe is waited for, and handlers of signals run meanwhile. */
        while ((writer->descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY)) < 0) {
            if (errno != EINTR) die_of_system(aTHX_ "open", path);
            PERL_ASYNC_CHECK();
        }
        writer->is_synced = is_synced;
        open_descriptor(aTHX_ writer, path);
    } else if (bw_writer_open(path, &options, &writer->writer, &error)) {
        die_of(aTHX_ &error);
    }

void
_open_descriptor(self, descriptor, is_synced)
    SV *self
    int descriptor
    bool is_synced
CODE:
    Writer *writer = writer_of(self);
    writer->descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    if (writer->descriptor < 0) die_of_system(aTHX_ "open", "handle");
    writer->is_synced = is_synced;
    open_descriptor(aTHX_ writer, "handle");

# Kind, order and length of a number, a digit each, as in the reader; 0 is a byte.
void
u8(self, number)
    SV *self
    SV *number
ALIAS:
    i8    = 0x101
    u16le = 0x002
    u16be = 0x012
    u24le = 0x003
    u24be = 0x013
    u32le = 0x004
    u32be = 0x014
    u64le = 0x008
    u64be = 0x018
    i16le = 0x102
    i16be = 0x112
    i32le = 0x104
    i32be = 0x114
    i64le = 0x108
    i64be = 0x118
PPCODE:
    bw_error error = BW_ERROR_INIT;
    bw_status status;
    const size_t len = ix ? ix & 0xF : 1;
    const bw_order order = ix >> 4 & 1 ? BW_ORDER_BIG : BW_ORDER_LITTLE;
    const bool is_signed = ix >> 8 == NUMBER_SIGNED;
    const uint64_t value = number_to_write(aTHX_ number, len, is_signed);
    UNTIL_WRITTEN(status, is_signed ? bw_writer_signed(writer, len, order, (int64_t)value, &error)
                                    : bw_writer_unsigned(writer, len, order, value, &error));
    XSRETURN(1);

void
f32le(self, number)
    SV *self
    SV *number
ALIAS:
    f32be = 0x14
    f64le = 0x08
    f64be = 0x18
PPCODE:
    bw_error error = BW_ERROR_INIT;
    bw_status status;
    const size_t len = ix ? ix & 0xF : 4;
    const bw_order order = ix >> 4 & 1 ? BW_ORDER_BIG : BW_ORDER_LITTLE;
    const double value = real_to_write(aTHX_ number);
    UNTIL_WRITTEN(status, bw_writer_float(writer, len, order, value, &error));
    XSRETURN(1);

void
varint(self, number)
    SV *self
    SV *number
ALIAS:
    zigzag = 1
PPCODE:
    bw_error error = BW_ERROR_INIT;
    bw_status status;
    const uint64_t value = number_to_write(aTHX_ number, sizeof(UV), ix);
    UNTIL_WRITTEN(status, ix ? bw_writer_zigzag(writer, (int64_t)value, &error) : bw_writer_varint(writer, value, &error));
    XSRETURN(1);

void
write(self, given)
    SV *self
    SV *given
PPCODE:
    bw_error error = BW_ERROR_INIT;
    bw_status status;
    SV *plain_given = plain(given, "bytes to write");
    bw_slice left = bytes(aTHX_ plain_given, FALSE, "bytes to write");
    bool is_own = FALSE;
    do {
        size_t written = 0;
        status = bw_writer_write(open_writer(aTHX_ self), left.data, left.len, &written, &error);
        left.data += written;
        left.len -= written;
        if (status && !is_own) {
            /* The handler of a signal may change the string. */
            left.data = (const uint8_t *)SvPVX(newSVpvn_flags((const char *)left.data, left.len, SVs_TEMP));
            is_own = TRUE;
        }
    } while (UNLIKELY(goes_on(aTHX_ status, &error)));
    if (UNLIKELY(status)) die_of(aTHX_ &error);
    XSRETURN(1);

bool
seek(self, offset, whence = NULL)
    SV *self
    SV *offset
    SV *whence
CODE:
    bw_error error = BW_ERROR_INIT;
    bw_status status;
    const IV place = whole_number(aTHX_ offset, "a place", IV_MIN, IV_MAX);
    const U32 from = whence ? (U32)whole_number(aTHX_ whence, "whence", BW_WHENCE_BEGINNING, BW_WHENCE_END) : BW_WHENCE_BEGINNING;
    UNTIL_WRITTEN(status, bw_writer_seek(writer, from, place, &error));
    RETVAL = TRUE;
OUTPUT:
    RETVAL

UV
tell(self)
    SV *self
CODE:
    bw_error error = BW_ERROR_INIT;
    uint64_t position = 0;
    if (bw_writer_position(open_writer(aTHX_ self), &position, &error)) die_of(aTHX_ &error);
    RETVAL = (UV)position;
OUTPUT:
    RETVAL

void
flush(self)
    SV *self
ALIAS:
    sync = 1
PPCODE:
    bw_error error = BW_ERROR_INIT;
    bw_status status;
    UNTIL_WRITTEN(status, ix ? bw_writer_sync(writer, &error) : bw_writer_flush(writer, &error));
    if (ix || writer_of(self)->is_synced) sync_descriptor(aTHX_ writer_of(self));
    XSRETURN(1);

# A child flushes nothing that is its parent's, and syncs nothing.
void
close(self)
    SV *self
CODE:
    bw_error error = BW_ERROR_INIT;
    bw_status status = BW_STATUS_OK;
    uint64_t position;
    if (!writer_of(self)->writer) XSRETURN_EMPTY;
    if (writer_of(self)->is_synced && !bw_writer_position(writer_of(self)->writer, &position, &error)) {
        UNTIL_WRITTEN(status, bw_writer_flush(writer, &error));
        sync_descriptor(aTHX_ writer_of(self));
    }
    bw_error_clear(&error);
    UNTIL_WRITTEN(status, bw_writer_close(writer, &error));
    writer_of(self)->writer = NULL;
    close_descriptor(writer_of(self));

void
discard(self)
    SV *self
CODE:
    bw_error error = BW_ERROR_INIT;
    Writer *writer = writer_of(self);
    bw_status status = bw_writer_discard(writer->writer, &error);
    if (status == BW_STATUS_OK) writer->writer = NULL, close_descriptor(writer);
    if (status) die_of(aTHX_ &error);
