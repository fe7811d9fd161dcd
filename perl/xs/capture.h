/* Captures, and rows of what is read from them. */

typedef struct {
    bw_capture *capture; /* null when closed */
} Capture;

typedef struct {
    bw_rows *rows;   /* null where the batch is all there is */
    bw_batch *batch; /* null before the first, and after the last */
    size_t row;      /* the next one of the batch */
    SV *capture;     /* what is read, which stays open as long as the rows; null where the batch is all */
    bw_buffer text;
} Rows;

static void free_capture(pTHX_ void *handle) {
    PERL_UNUSED_CONTEXT;
    bw_capture_close(((Capture *)handle)->capture, NULL);
}

static void free_rows(pTHX_ void *handle) {
    Rows *rows = (Rows *)handle;
    bw_batch_free(rows->batch);
    bw_rows_free(rows->rows);
    bw_buffer_free(&rows->text);
    SvREFCNT_dec(rows->capture);
}

HANDLE_KIND(capture)
HANDLE_KIND(rows)

#define capture_of(self) ((Capture *)handle_of(aTHX_ (self), &capture_kind, "capture"))
#define rows_of(self) ((Rows *)handle_of(aTHX_ (self), &rows_kind, "list of rows"))

/* Whether a signal came whose handler of Perl's is to run. */
static bool signal_waits(void *context) {
    dTHXa((PerlInterpreter *)context);
    PERL_UNUSED_CONTEXT;
    return PL_sig_pending != 0;
}

/* Runs the handlers of Perl's after a call that ended for them. Whether it is to be made again. */
static bool goes_on(pTHX_ bw_status status, bw_error *error) {
    if (status != BW_STATUS_IO || error->os_error != EINTR || !PL_sig_pending) return FALSE;
    bw_error_clear(error);
    PERL_ASYNC_CHECK();
    return TRUE;
}

static bw_capture *open_capture(pTHX_ SV *self) {
    Capture *capture = capture_of(self);
    if (!capture->capture) die_with(aTHX_ "closed", "expected an open capture, found it closed");
    return capture->capture;
}

/* A value of a batch as a new SV: numbers as such, addresses as text, undef for none. */
static SV *value_sv(pTHX_ const bw_value *value, bw_buffer *text) {
    bw_error error = BW_ERROR_INIT;
    switch (value->kind) {
    case BW_VALUE_KIND_NULL: return newSV(0);
    case BW_VALUE_KIND_UNSIGNED:
    case BW_VALUE_KIND_DURATION: return newSVuv((UV)value->data.unsigned_number);
    case BW_VALUE_KIND_SIGNED:
    case BW_VALUE_KIND_TIME: return newSViv((IV)value->data.signed_number);
    case BW_VALUE_KIND_DOUBLE: return newSVnv(value->data.double_number);
    case BW_VALUE_KIND_BOOL: return newSVsv(boolSV(value->data.is_true));
    case BW_VALUE_KIND_TEXT:
    case BW_VALUE_KIND_JSON: {
        const bw_slice bytes = value->data.bytes;
        const bool is_wide = !is_utf8_invariant_string(bytes.data, bytes.len);
        return newSVpvn_utf8((const char *)bytes.data, bytes.len, is_wide);
    }
    case BW_VALUE_KIND_BYTES: return newSVpvn((const char *)value->data.bytes.data, value->data.bytes.len);
    default:
        if (bw_value_text(value, text, &error)) die_of(aTHX_ &error);
        return newSVpvn((const char *)text->data, text->len);
    }
}

/* Names as the library takes them, for as long as the SVs. */
static bw_names names_of(pTHX_ SV **arguments, size_t count) {
    bw_names names = BW_NAMES_INIT;
    const char **texts = (const char **)mortal_memory(aTHX_ count * sizeof(char *));
    SV **plains = (SV **)mortal_memory(aTHX_ count * sizeof(SV *));
    size_t place;
    Copy(arguments, plains, count, SV *);
    make_plain(aTHX_ plains, count, "a field", "a field");
    for (place = 0; place < count; place++) texts[place] = SvPV_nolen(plains[place]);
    names.names = texts;
    names.count = count;
    return names;
}

static SV *rows_object(pTHX_ bw_rows *rows, bw_batch *batch, SV *capture) {
    Rows *handle;
    Newxz(handle, 1, Rows);
    handle->rows = rows;
    handle->batch = batch;
    handle->capture = capture ? SvREFCNT_inc(SvRV(capture)) : NULL;
    return object(aTHX_ "Bytewright::Rows", &rows_kind, handle);
}

/* Goes to the next row; whether there is one. */
static bool next_row(pTHX_ Rows *rows) {
    bw_error error = BW_ERROR_INIT;
    bw_status status;
    while (!rows->batch || rows->row == bw_batch_rows(rows->batch)) {
        bw_batch_free(rows->batch);
        rows->batch = NULL;
        rows->row = 0;
        if (!rows->rows) return FALSE;
        do status = bw_rows_next(rows->rows, &rows->batch, &error);
        while (goes_on(aTHX_ status, &error));
        if (IS_FAILURE(status)) die_of(aTHX_ &error);
        if (status == BW_STATUS_NONE) return FALSE;
    }
    return TRUE;
}
