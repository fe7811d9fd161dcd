MODULE = Bytewright    PACKAGE = Bytewright::Reader

void
_attach(self)
    SV *self
CODE:
    Reader *reader;
    Newxz(reader, 1, Reader);
    reader->is_tainted = TRUE;
    attach(aTHX_ self, &reader_kind, reader);

void
_open_path(self, path, ...)
    SV *self
    const char *path
CODE:
    bw_error error = BW_ERROR_INIT;
    Reader *reader = reader_of(self);
    const bw_names named = names_of(aTHX_ &ST(2), (size_t)items - 2);
    if (bw_reader_open_with(path, &named, &reader->reader, &error)) die_of(aTHX_ &error);
    if (bw_reader_set_interrupted(reader->reader, signal_waits, aTHX, &error)) die_of(aTHX_ &error);

void
_open_input(self, given, ...)
    SV *self
    SV *given
CODE:
    bw_error error = BW_ERROR_INIT;
    Reader *reader = reader_of(self);
    const bw_names named = names_of(aTHX_ &ST(2), (size_t)items - 2);
    Input *input = input_of(given);
    reader->is_tainted = input->is_tainted;
    reader->input = SvREFCNT_inc(SvRV(given));
    if (bw_reader_open_input_with(input->name, input->bring, input, &named, &reader->reader, &error)) die_of(aTHX_ &error);

void
close(self)
    SV *self
CODE:
    Reader *reader = reader_of(self);
    bw_reader_close(reader->reader);
    reader->reader = NULL;

# Kind, order and length of a number, a digit each; 0 is a byte.
void
u8(self)
    SV *self
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
    f32le = 0x204
    f32be = 0x214
    f64le = 0x208
    f64be = 0x218
PPCODE:
    const size_t len = ix ? ix & 0xF : 1;
    Reader *reader = reader_of(self);
    SV *number;
    TAINT_BY(reader);
    number = read_number(aTHX_ self, ix >> 8, len, ix >> 4 & 1 ? BW_ORDER_BIG : BW_ORDER_LITTLE);
    PUSHs(number ? sv_2mortal(number) : &PL_sv_undef);

void
varint(self)
    SV *self
ALIAS:
    zigzag = 1
PPCODE:
    bw_error error = BW_ERROR_INIT;
    bw_status status;
    uint64_t number = 0;
    if (is_at_end(aTHX_ self)) XSRETURN_UNDEF;
    UNTIL_READ(status, bw_reader_varint(opened, &number, &error));
    if (status) die_of(aTHX_ &error);
    TAINT_BY(reader_of(self));
    if (ix)
        mPUSHi((IV)(number >> 1 ^ (~(number & 1) + 1)));
    else
        mPUSHu((UV)number);

void
read(self, count = NULL)
    SV *self
    SV *count
PPCODE:
    const size_t wanted = count ? count_number(aTHX_ count, "a count", 0) : SIZE_MAX;
    SV *found = read_bytes(aTHX_ self, wanted);
    TAINT_BY(reader_of(self));
    SvTAINT(found);
    PUSHs(count && wanted && !SvCUR(found) ? &PL_sv_undef : found);

UV
skip(self, count)
    SV *self
    SV *count
CODE:
    bw_error error = BW_ERROR_INIT;
    bw_status status;
    uint64_t skipped = 0;
    const UV wanted = count_number(aTHX_ count, "a count", 0);
    UNTIL_READ(status, bw_reader_skip(opened, wanted, &skipped, &error));
    if (status) die_of(aTHX_ &error);
    RETVAL = (UV)skipped;
OUTPUT:
    RETVAL

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
    UNTIL_READ(status, bw_reader_seek(opened, from, place, &error));
    if (status) die_of(aTHX_ &error);
    RETVAL = TRUE;
OUTPUT:
    RETVAL

UV
tell(self)
    SV *self
CODE:
    bw_error error = BW_ERROR_INIT;
    uint64_t position = 0;
    if (bw_reader_position(open_reader(aTHX_ self), &position, &error)) die_of(aTHX_ &error);
    RETVAL = (UV)position;
OUTPUT:
    RETVAL

bool
eof(self)
    SV *self
CODE:
    RETVAL = is_at_end(aTHX_ self);
OUTPUT:
    RETVAL

void
unpack(self, record, count = NULL)
    SV *self
    SV *record
    SV *count
PPCODE:
    bw_error error = BW_ERROR_INIT;
    bw_status status = BW_STATUS_OK;
    const char *text = template_of(aTHX_ record);
    UV wanted = count ? count_number(aTHX_ count, "a count", 0) : 1, found = 0;
    while (wanted > found && status == BW_STATUS_OK) {
        bw_batch *batch = NULL;
        /* Handlers of signals use the stack, too. */
        PUTBACK;
        UNTIL_READ(status, bw_reader_records(opened, text, NULL, wanted - found, &batch, &error));
        SPAGAIN;
        if (status == BW_STATUS_OK) {
            found += bw_batch_rows(batch);
            SP = push_rows(aTHX_ SP, batch, reader_of(self)->is_tainted);
        }
    }
    /* Records that came before an error are given first: it comes again. */
    if (IS_FAILURE(status) && !found) die_of(aTHX_ &error);
    bw_error_clear(&error);
    /* As Perl's unpack. */
    if (GIMME_V == G_SCALAR && SP - PL_stack_base >= ax) XSRETURN(1);

void
records(self, record, ...)
    SV *self
    SV *record
PPCODE:
    bw_error error = BW_ERROR_INIT;
    bw_rows *rows = NULL;
    const char *text = template_of(aTHX_ record);
    const bw_names names = names_of(aTHX_ &ST(2), (size_t)items - 2);
    Reader *reader = reader_of(self);
    if (bw_reader_rows(open_reader(aTHX_ self), text, names.count ? &names : NULL, 0, &rows, &error)) die_of(aTHX_ &error);
    reader->reader = NULL;
    PUSHs(rows_object(aTHX_ rows, NULL, self, reader->is_tainted));
