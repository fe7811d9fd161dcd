/* Rows, whatever they are read from: columns of the library, whose values become Perl's one by one. */

/* A column of the batch, with its name as the key of a hash. All of it belongs to the batch. */
typedef struct {
    bw_column values;
    const char *name;
    I32 name_len;
    U32 name_hash;
} Column;

typedef struct {
    bw_rows *rows;   /* null where the batch is all there is */
    bw_batch *batch; /* null before the first, and after the last */
    size_t row;      /* the next one of the batch */
    Column *columns; /* of the batch */
    size_t columns_count;
    bool is_tainted; /* its values come from outside */
    SV *source; /* what is read, which stays open as long as the rows; null where the batch is all */
    bw_buffer text;
} Rows;

static void free_rows(pTHX_ void *handle) {
    Rows *rows = (Rows *)handle;
    bw_batch_free(rows->batch);
    bw_rows_free(rows->rows);
    bw_buffer_free(&rows->text);
    Safefree(rows->columns);
    SvREFCNT_dec(rows->source);
}

HANDLE_KIND(rows)

#define rows_of(self) ((Rows *)handle_of(aTHX_ (self), &rows_kind, "list of rows"))

/* Looks the columns of the batch up, once for all of its rows. */
static void take_columns(pTHX_ Rows *rows) {
    bw_error error = BW_ERROR_INIT;
    const bw_schema *schema = bw_batch_schema(rows->batch);
    size_t place;
    rows->row = 0;
    rows->columns_count = bw_schema_len(schema);
    Renew(rows->columns, rows->columns_count + 1, Column);
    for (place = 0; place < rows->columns_count; place++) {
        Column *column = &rows->columns[place];
        bw_field field;
        if (bw_schema_field(schema, place, &field, &error)) die_of(aTHX_ &error);
        if (bw_batch_column(rows->batch, place, &column->values, &error)) die_of(aTHX_ &error);
        column->name = field.name;
        column->name_len = (I32)strlen(field.name);
        PERL_HASH(column->name_hash, column->name, column->name_len);
    }
}

static SV *rows_object(pTHX_ bw_rows *rows, bw_batch *batch, SV *source, bool is_tainted) {
    Rows *handle;
    SV *self;
    Newxz(handle, 1, Rows);
    handle->rows = rows;
    handle->batch = batch;
    handle->is_tainted = is_tainted;
    handle->source = source ? SvREFCNT_inc(SvRV(source)) : NULL;
    self = object(aTHX_ "Bytewright::Rows", &rows_kind, handle);
    if (batch) take_columns(aTHX_ handle);
    return self;
}

/* Goes to the next row; whether there is one. */
static bool next_row(pTHX_ Rows *rows) {
    bw_error error = BW_ERROR_INIT;
    bw_status status;
    while (!rows->batch || rows->row == bw_batch_rows(rows->batch)) {
        bw_batch_free(rows->batch);
        rows->batch = NULL;
        if (!rows->rows) return FALSE;
        do status = bw_rows_next(rows->rows, &rows->batch, &error);
        while (goes_on(aTHX_ status, &error));
        if (IS_FAILURE(status)) die_of(aTHX_ &error);
        if (status == BW_STATUS_NONE) return FALSE;
        take_columns(aTHX_ rows);
    }
    return TRUE;
}

/* A value of the library as a new SV: numbers as such, addresses as text, undef for none. */
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
        const bool is_wide = !IS_ASCII(bytes.data, bytes.len);
        return newSVpvn_utf8((const char *)bytes.data, bytes.len, is_wide);
    }
    case BW_VALUE_KIND_BYTES: return newSVpvn((const char *)value->data.bytes.data, value->data.bytes.len);
    default:
        if (bw_value_text(value, text, &error)) die_of(aTHX_ &error);
        return newSVpvn((const char *)text->data, text->len);
    }
}

/* The value at a place of the batch, whatever its type. */
static SV *any_value_sv(pTHX_ Rows *rows, size_t row, size_t place) {
    bw_error error = BW_ERROR_INIT;
    bw_value value;
    if (IS_FAILURE(bw_batch_value(rows->batch, row, place, &value, &error))) die_of(aTHX_ &error);
    return value_sv(aTHX_ &value, &rows->text);
}

/* Returns the value at a place; numbers are read from the column without a call. */
PERL_STATIC_INLINE SV *column_sv(pTHX_ Rows *rows, size_t row, size_t place) {
    const bw_column *column = &rows->columns[place].values;
    if (!(column->validity[row / 8] >> row % 8 & 1)) return newSV(0);
    switch (column->value_type) {
    case BW_TYPE_U8: return newSVuv(((const uint8_t *)column->values)[row]);
    case BW_TYPE_U16:
    case BW_TYPE_TCP_FLAGS: return newSVuv(((const uint16_t *)column->values)[row]);
    case BW_TYPE_U32: return newSVuv(((const uint32_t *)column->values)[row]);
    case BW_TYPE_U64:
    case BW_TYPE_DURATION_US: return newSVuv((UV)((const uint64_t *)column->values)[row]);
    case BW_TYPE_I8: return newSViv(((const int8_t *)column->values)[row]);
    case BW_TYPE_I16: return newSViv(((const int16_t *)column->values)[row]);
    case BW_TYPE_I32: return newSViv(((const int32_t *)column->values)[row]);
    case BW_TYPE_I64:
    case BW_TYPE_TIME_NS: return newSViv((IV)((const int64_t *)column->values)[row]);
    case BW_TYPE_DOUBLE: return newSVnv(((const double *)column->values)[row]);
    default: return any_value_sv(aTHX_ rows, row, place);
    }
}

/* Pushes the values of all rows of a batch, row by row; where the stack ends then. */
static SV **push_rows(pTHX_ SV **sp, bw_batch *batch, bool is_tainted) {
    Rows *rows = rows_of(rows_object(aTHX_ NULL, batch, NULL, is_tainted));
    const size_t count = bw_batch_rows(batch);
    size_t place;
    TAINT_BY(rows);
    EXTEND(sp, (SSize_t)(count * rows->columns_count));
    for (; rows->row < count; rows->row++)
        for (place = 0; place < rows->columns_count; place++) PUSHs(sv_2mortal(column_sv(aTHX_ rows, rows->row, place)));
    return sp;
}

/* A mortal reference to an array of a column's values from the next row on. */
static SV *column_array(pTHX_ Rows *rows, size_t place) {
    const size_t count = bw_batch_rows(rows->batch);
    AV *array = newAV();
    SV *reference = sv_2mortal(newRV_noinc((SV *)array));
    size_t row;
    av_extend(array, (SSize_t)(count - rows->row) - 1);
    for (row = rows->row; row < count; row++) {
        SV *value = column_sv(aTHX_ rows, row, place);
        /* Values that are there are freed with the array if a later one dies. */
        AvARRAY(array)[++AvFILLp(array)] = value;
    }
    return reference;
}

/* Names as the library takes them, for as long as the SVs. */
static bw_names names_of(pTHX_ SV **arguments, size_t count) {
    bw_names names = BW_NAMES_INIT;
    const char **texts = (const char **)mortal_memory(aTHX_ count * sizeof(char *));
    SV **plains = (SV **)mortal_memory(aTHX_ count * sizeof(SV *));
    size_t place;
    Copy(arguments, plains, count, SV *);
    make_plain(aTHX_ plains, count, "a field", "a field");
    for (place = 0; place < count; place++) {
        STRLEN len;
        texts[place] = SvPV(plains[place], len);
        if (strlen(texts[place]) != len) die_with(aTHX_ "argument", "expected text without a zero byte, found one with it");
    }
    names.names = texts;
    names.count = count;
    return names;
}

/* The names in an array, for as long as it has its elements. */
static bw_names names_of_array(pTHX_ AV *names) {
    return names_of(aTHX_ AvARRAY(names), (size_t)(av_len(names) + 1));
}
