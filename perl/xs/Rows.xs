MODULE = Bytewright    PACKAGE = Bytewright::Rows

void
next_row(self)
    SV *self
PPCODE:
    Rows *rows = rows_of(self);
    size_t place;
    if (!next_row(aTHX_ rows)) XSRETURN_EMPTY;
    TAINT_BY(rows);
    EXTEND(SP, (SSize_t)rows->columns_count);
    if (GIMME_V != G_ARRAY)
        mXPUSHu(rows->columns_count);
    else
        for (place = 0; place < rows->columns_count; place++) PUSHs(sv_2mortal(column_sv(aTHX_ rows, rows->row, place)));
    rows->row++;

void
next(self)
    SV *self
PPCODE:
    Rows *rows = rows_of(self);
    HV *hash;
    size_t place;
    if (!next_row(aTHX_ rows)) XSRETURN_UNDEF;
    TAINT_BY(rows);
    hash = newHV();
    PUSHs(sv_2mortal(newRV_noinc((SV *)hash)));
    for (place = 0; place < rows->columns_count; place++) {
        const Column *column = &rows->columns[place];
        SV *value = column_sv(aTHX_ rows, rows->row, place);
        (void)hv_store(hash, column->name, column->name_len, value, column->name_hash);
    }
    rows->row++;

void
next_columns(self)
    SV *self
PPCODE:
    Rows *rows = rows_of(self);
    size_t place;
    if (!next_row(aTHX_ rows)) XSRETURN_EMPTY;
    TAINT_BY(rows);
    EXTEND(SP, (SSize_t)rows->columns_count);
    if (GIMME_V != G_ARRAY)
        mXPUSHu(rows->columns_count);
    else
        for (place = 0; place < rows->columns_count; place++) PUSHs(column_array(aTHX_ rows, place));
    rows->row = bw_batch_rows(rows->batch);

void
names(self)
    SV *self
PPCODE:
    bw_error error = BW_ERROR_INIT;
    bw_field field;
    size_t place;
    Rows *rows = rows_of(self);
    const bw_schema *schema = rows->rows ? bw_rows_schema(rows->rows) : bw_batch_schema(rows->batch);
    if (GIMME_V != G_ARRAY) {
        mXPUSHu(bw_schema_len(schema));
        XSRETURN(1);
    }
    for (place = 0; bw_schema_field(schema, place, &field, &error) == BW_STATUS_OK; place++) mXPUSHs(newSVpv(field.name, 0));
    bw_error_clear(&error);
