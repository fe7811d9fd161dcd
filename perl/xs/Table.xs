MODULE = Bytewright    PACKAGE = Bytewright::Table

void
_attach(self, is_answering)
    SV *self
    bool is_answering
CODE:
    Table *table;
    Newxz(table, 1, Table);
    table->is_answering = is_answering;
    attach(aTHX_ self, &table_kind, table);

void
_create(self, kind, is_text)
    SV *self
    U32 kind
    bool is_text
CODE:
    bw_error error = BW_ERROR_INIT;
    Table *table = table_of(self);
    table->is_text = is_text;
    if (bw_table_new(kind, &table->table, &error)) die_of(aTHX_ &error);

void
_open(self, path, kind, is_text, ...)
    SV *self
    const char *path
    U32 kind
    bool is_text
CODE:
    bw_error error = BW_ERROR_INIT;
    bw_open_options options = BW_OPEN_OPTIONS_INIT;
    Table *table = table_of(self);
    bw_status status;
    options.kind = kind;
    options.create = TRUE;
    options.named = names_of(aTHX_ &ST(4), (size_t)items - 4);
    table->is_text = is_text;
    table->is_tainted = TRUE;
    options.interrupted = signal_waits;
    options.interrupted_context = aTHX;
    do status = bw_table_open(path, &options, &table->table, &error);
    while (goes_on(aTHX_ status, &error));
    if (status) die_of(aTHX_ &error);

void
_open_adb(self, name, is_in_file)
    SV *self
    const char *name
    bool is_in_file
CODE:
    bw_error error = BW_ERROR_INIT;
    Table *table = table_of(self);
    bw_status status;
    table->is_tainted = is_in_file;
    do status = bw_adb_open(name, signal_waits, aTHX, &table->table, &error);
    while (goes_on(aTHX_ status, &error));
    if (status) die_of(aTHX_ &error);

void
_call(self, method, ...)
    SV *self
    const char *method
PPCODE:
    const size_t count = (size_t)items - 2;
    const bw_slice *arguments = slices_of(aTHX_ &ST(2), count, FALSE, "a key", "a value");
    bw_error error = BW_ERROR_INIT;
    Values strings = {NULL, 0, 0, NULL, NULL, FALSE};
    Table *table = table_of(self);
    bw_status status;
    size_t place;
    if (!is_open(aTHX_ table)) XSRETURN_UNDEF;
    for (place = 0; place < count; place++) NOTE_TAINT(table, ST(2 + place));
    ENTER;
    status = bw_adb_call(table->table, method, arguments, count, keep_string, &strings, &error);
    SAVEDESTRUCTOR(free, strings.data);
    table->lost_entries = TRUE;
    if (IS_FAILURE(status)) fail(aTHX_ table, &error);
    TAINT_BY(table);
    ST(0) = status == BW_STATUS_OK ? strings_of(aTHX_ &strings) : &PL_sv_undef;
    LEAVE;
    XSRETURN(1);

void
close(self)
    SV *self
CODE:
    bw_error error = BW_ERROR_INIT;
    Table *table = table_of(self);
    bw_table *open = table->table;
    table->table = NULL;
    pop_all_transactions(table);
    end_walk(table);
    if (bw_table_close(open, &error)) fail(aTHX_ table, &error);

bool
is_closed(self)
    SV *self
CODE:
    RETVAL = table_of(self)->table == NULL;
OUTPUT:
    RETVAL

SV *
_failure(self)
    SV *self
CODE:
    Table *table = table_of(self);
    RETVAL = table->failure ? newSVsv(table->failure) : newSV(0);
OUTPUT:
    RETVAL

void
_set_failure(self, failure)
    SV *self
    SV *failure
CODE:
    Table *table = table_of(self);
    SV *former = table->failure;
    table->failure = newSVsv(failure);
    SvREFCNT_dec(former);

void
get(self, key)
    SV *self
    SV *key
ALIAS:
    FETCH = 1
PPCODE:
    SV *plain_key = plain(key, "a key");
    Table *table = table_of(self);
    SV *value = NULL;
    PERL_UNUSED_VAR(ix);
    if (is_open(aTHX_ table)) value = value_of(aTHX_ table, bytes(aTHX_ plain_key, table->is_text, "a key"));
    ST(0) = value ? value : &PL_sv_undef;
    XSRETURN(1);

SV *
exists(self, key)
    SV *self
    SV *key
ALIAS:
    EXISTS = 1
CODE:
    bw_error error = BW_ERROR_INIT;
    SV *plain_key = plain(key, "a key");
    Table *table = table_of(self);
    PERL_UNUSED_VAR(ix);
    bool is_done = FALSE;
    if (is_open(aTHX_ table)) {
        const bw_slice slice = bytes(aTHX_ plain_key, table->is_text, "a key");
        const bw_status status = bw_table_contains(table->table, slice.data, slice.len, &error);
        if (IS_FAILURE(status)) fail(aTHX_ table, &error);
        is_done = status == BW_STATUS_OK;
    }
    RETVAL = answer(aTHX_ table, is_done);
OUTPUT:
    RETVAL

SV *
put(self, key, value)
    SV *self
    SV *key
    SV *value
ALIAS:
    STORE = 1
    create = 2
    append = 3
CODE:
    bw_error error = BW_ERROR_INIT;
    SV *plain_key = plain(key, "a key");
    SV *plain_value = plain(value, "a value");
    /* Its code may have changed the key. */
    SV *last_key = LIKELY(plain_value == value) ? plain_key : plain(plain_key, "a key");
    Table *table = table_of(self);
    bool is_done = FALSE;
    if (is_open(aTHX_ table)) {
        const bool is_text = table->is_text;
        NOTE_TAINT(table, last_key);
        NOTE_TAINT(table, plain_value);
        bw_status status;
        do {
            const bw_slice k = bytes(aTHX_ last_key, is_text, "a key");
            const bw_slice v = bytes(aTHX_ plain_value, is_text, "a value");
            status = ix < 2    ? bw_table_put(table->table, k.data, k.len, v.data, v.len, &error)
                     : ix == 2 ? bw_table_create(table->table, k.data, k.len, v.data, v.len, &error)
                               : bw_table_append(table->table, k.data, k.len, v.data, v.len, &error);
        } while (goes_on(aTHX_ status, &error) && is_open(aTHX_ table));
        if (UNLIKELY(IS_FAILURE(status))) fail(aTHX_ table, &error);
        is_done = status == BW_STATUS_OK;
    }
    RETVAL = answer(aTHX_ table, is_done);
OUTPUT:
    RETVAL

SV *
delete(self, key)
    SV *self
    SV *key
ALIAS:
    out = 1
CODE:
    SV *plain_key = plain(key, "a key");
    Table *table = table_of(self);
    PERL_UNUSED_VAR(ix);
    bool is_done = FALSE;
    if (is_open(aTHX_ table)) is_done = remove_entry(aTHX_ table, plain_key);
    RETVAL = answer(aTHX_ table, is_done);
OUTPUT:
    RETVAL

void
DELETE(self, key)
    SV *self
    SV *key
PPCODE:
    SV *plain_key = plain(key, "a key");
    Table *table = table_of(self);
    SV *value = NULL;
    if (is_open(aTHX_ table)) value = take_entry(aTHX_ table, plain_key);
    ST(0) = value ? value : &PL_sv_undef;
    XSRETURN(1);

void
get_many(self, ...)
    SV *self
PPCODE:
    const size_t count = (size_t)items - 1;
    const bool is_text = table_of(self)->is_text;
    const bw_slice *keys = slices_of(aTHX_ &ST(1), count, is_text, "a key", "a key");
    bw_error error = BW_ERROR_INIT;
    Table *table = table_of(self);
    Values values = {NULL, 0, 0, NULL, NULL, FALSE};
    size_t place, start = 0;
    bw_status status;
    values.ends = (size_t *)mortal_memory(aTHX_ count * sizeof(size_t));
    values.found = (bool *)mortal_memory(aTHX_ count * sizeof(bool));
    EXTEND(SP, (SSize_t)count);
    if (!is_open(aTHX_ table)) XSRETURN_EMPTY;
    ENTER;
    status = bw_table_get_many(table->table, keys, count, keep_value, &values, &error);
    SAVEDESTRUCTOR(free, values.data);
    if (IS_FAILURE(status)) die_of(aTHX_ &error);
    if (values.is_full) die_with(aTHX_ "limit", "expected memory for the values of %" UVuf " keys, found too little", (UV)count);
    if (GIMME_V != G_ARRAY) {
        UV found = 0;
        for (place = 0; place < count; place++) found += values.found[place];
        LEAVE;
        mXPUSHu(found);
        XSRETURN(1);
    }
    TAINT_BY(table);
    for (place = 0; place < count; place++) {
        PUSHs(values.found[place] ? string(aTHX_ (const uint8_t *)values.data + start, values.ends[place] - start, is_text)
                                  : &PL_sv_undef);
        start = values.ends[place];
    }
    LEAVE;

void
_put_many(self, ...)
    SV *self
PPCODE:
    const size_t count = ((size_t)items - 1) / 2;
    bw_slice *keys = (bw_slice *)mortal_memory(aTHX_ count * sizeof(bw_slice));
    bw_slice *values = (bw_slice *)mortal_memory(aTHX_ count * sizeof(bw_slice));
    bw_error error = BW_ERROR_INIT;
    Table *table = table_of(self);
    bw_status status = BW_STATUS_OK;
    do {
        const bw_slice *both = slices_of(aTHX_ &ST(1), count * 2, table->is_text, "a key", "a value");
        size_t place;
        for (place = 0; place < count; place++) {
            NOTE_TAINT(table, ST(1 + 2 * place));
            NOTE_TAINT(table, ST(2 + 2 * place));
            keys[place] = both[2 * place];
            values[place] = both[2 * place + 1];
        }
        if (is_open(aTHX_ table)) status = bw_table_put_many(table->table, keys, values, count, &error);
    } while (goes_on(aTHX_ status, &error));
    if (status) die_of(aTHX_ &error);
    XSRETURN_EMPTY;

IV
increment(self, key, by = NULL)
    SV *self
    SV *key
    SV *by
ALIAS:
    incr = 1
CODE:
    bw_error error = BW_ERROR_INIT;
    int64_t sum = 0;
    const IV step = by ? whole_number(aTHX_ by, "what is added", IV_MIN, IV_MAX) : 1;
    SV *plain_key = plain(key, "a key");
    Table *table = table_of(self);
    PERL_UNUSED_VAR(ix);
    if (is_open(aTHX_ table)) {
        bw_status status;
        NOTE_TAINT(table, plain_key);
        do {
            const bw_slice slice = bytes(aTHX_ plain_key, table->is_text, "a key");
            status = bw_table_increment(table->table, slice.data, slice.len, step, &sum, &error);
        } while (goes_on(aTHX_ status, &error) && is_open(aTHX_ table));
        if (status) die_of(aTHX_ &error);
    }
    TAINT_BY(table);
    RETVAL = (IV)sum;
OUTPUT:
    RETVAL

UV
count(self)
    SV *self
ALIAS:
    SCALAR = 1
CODE:
    bw_error error = BW_ERROR_INIT;
    uint64_t len = 0;
    Table *table = table_of(self);
    PERL_UNUSED_VAR(ix);
    if (is_open(aTHX_ table) && bw_table_len(table->table, &len, &error)) fail(aTHX_ table, &error);
    RETVAL = (UV)len;
OUTPUT:
    RETVAL

SV *
clear(self)
    SV *self
ALIAS:
    CLEAR   = 1
    sync    = 2
    compact = 3
CODE:
    bw_error error = BW_ERROR_INIT;
    Table *table = table_of(self);
    bool is_done = FALSE;
    if (is_open(aTHX_ table)) {
        bw_status status;
        do status = ix < 2    ? bw_table_clear(table->table, &error)
                    : ix == 2 ? bw_table_sync(table->table, &error)
                              : bw_table_compact(table->table, &error);
        while (goes_on(aTHX_ status, &error) && is_open(aTHX_ table));
        if (IS_FAILURE(status)) fail(aTHX_ table, &error);
        if (ix < 2) table->lost_entries = TRUE;
        is_done = status == BW_STATUS_OK;
    }
    RETVAL = answer(aTHX_ table, is_done);
OUTPUT:
    RETVAL

bool
_backup(self, path, replace)
    SV *self
    const char *path
    bool replace
CODE:
    bw_error error = BW_ERROR_INIT;
    Table *table = table_of(self);
    RETVAL = FALSE;
    if (is_open(aTHX_ table)) {
        if (bw_table_backup(table->table, path, replace, &error)) die_of(aTHX_ &error);
        RETVAL = TRUE;
    }
OUTPUT:
    RETVAL

UV
_dump(self, path, format, force)
    SV *self
    const char *path
    const char *format
    bool force
CODE:
    bw_error error = BW_ERROR_INIT;
    uint64_t count = 0;
    Table *table = table_of(self);
    if (is_open(aTHX_ table) && bw_table_dump(table->table, path, format, force, &count, &error)) die_of(aTHX_ &error);
    RETVAL = (UV)count;
OUTPUT:
    RETVAL

UV
_load(self, path)
    SV *self
    const char *path
CODE:
    bw_error error = BW_ERROR_INIT;
    uint64_t count = 0;
    Table *table = table_of(self);
    if (is_open(aTHX_ table)) {
        table->is_tainted = TRUE;
        if (bw_table_load(table->table, path, &count, &error)) die_of(aTHX_ &error);
    }
    RETVAL = (UV)count;
OUTPUT:
    RETVAL

void
FIRSTKEY(self)
    SV *self
PPCODE:
    bw_error error = BW_ERROR_INIT;
    Table *table = table_of(self);
    SV *key = &PL_sv_undef;
    end_walk(table);
    if (is_open(aTHX_ table)) {
        table->lost_entries = FALSE;
        if (bw_table_scan(table->table, NULL, &table->walk, &error))
            fail(aTHX_ table, &error);
        else
            key = next_key(aTHX_ table);
    }
    ST(0) = key;
    XSRETURN(1);

void
NEXTKEY(self, last)
    SV *self
    SV *last
PPCODE:
    Table *table = table_of(self);
    PERL_UNUSED_VAR(last);
    ST(0) = is_open(aTHX_ table) ? next_key(aTHX_ table) : &PL_sv_undef;
    XSRETURN(1);

void
stat(self)
    SV *self
PPCODE:
    bw_error error = BW_ERROR_INIT;
    bw_stat found;
    Table *table = table_of(self);
    HV *figures = newHV();
    SV *answer = sv_2mortal(newRV_noinc((SV *)figures));
    Zero(&found, 1, bw_stat);
    if (is_open(aTHX_ table) && bw_table_stat(table->table, &found, &error)) die_of(aTHX_ &error);
    (void)hv_stores(figures, "records", newSVuv((UV)found.records));
    (void)hv_stores(figures, "live_bytes", newSVuv((UV)found.live_bytes));
    (void)hv_stores(figures, "dead_bytes", newSVuv((UV)found.dead_bytes));
    (void)hv_stores(figures, "pinned_bytes", newSVuv((UV)found.pinned_bytes));
    (void)hv_stores(figures, "index_bytes", newSVuv((UV)found.index_bytes));
    (void)hv_stores(figures, "memory_bytes", newSVuv((UV)found.memory_bytes));
    (void)hv_stores(figures, "file_bytes", newSVuv((UV)found.file_bytes));
    PUSHs(answer);

SV *
_tranbegin(self)
    SV *self
CODE:
    bw_error error = BW_ERROR_INIT;
    Table *table = table_of(self);
    bw_status status = BW_STATUS_NONE;
    if (is_open(aTHX_ table)) status = bw_adb_call(table->table, "tranbegin", NULL, 0, NULL, NULL, &error);
    if (IS_FAILURE(status)) fail(aTHX_ table, &error);
    if (status == BW_STATUS_OK) {
        Transaction *transaction;
        Newxz(transaction, 1, Transaction);
        push_transaction(table, transaction);
    }
    RETVAL = answer(aTHX_ table, status == BW_STATUS_OK);
OUTPUT:
    RETVAL

bool
_is_in_transaction(self)
    SV *self
CODE:
    RETVAL = table_of(self)->innermost != NULL;
OUTPUT:
    RETVAL

void
_end(self, is_kept)
    SV *self
    bool is_kept
CODE:
    Table *table = table_of(self);
    if (is_open(aTHX_ table) && table->innermost) {
        if (table->innermost->has_object) die_of_others_inside(aTHX);
        end_innermost(aTHX_ table, is_kept);
    }

void
_scan(self, from, to, prefix, reverse, limit)
    SV *self
    SV *from
    SV *to
    SV *prefix
    bool reverse
    UV limit
PPCODE:
    bw_error error = BW_ERROR_INIT;
    bw_scan *scan = NULL;
    const bool is_text = table_of(self)->is_text;
    const bw_range range = range_of(aTHX_ from, to, prefix, reverse, limit, is_text);
    Table *table = table_of(self);
    if (!is_open(aTHX_ table)) XSRETURN_UNDEF;
    if (bw_table_scan(table->table, or_all(&range), &scan, &error)) die_of(aTHX_ &error);
    PUSHs(scan_object(aTHX_ scan, is_text, table->is_tainted));

UV
_delete_range(self, from, to, prefix, reverse, limit)
    SV *self
    SV *from
    SV *to
    SV *prefix
    bool reverse
    UV limit
CODE:
    bw_error error = BW_ERROR_INIT;
    uint64_t count = 0;
    Table *table = table_of(self);
    if (is_open(aTHX_ table)) {
        bw_status status;
        do {
            const bw_range range = range_of(aTHX_ from, to, prefix, reverse, limit, table->is_text);
            status = bw_table_delete_range(table->table, &range, &count, &error);
        } while (goes_on(aTHX_ status, &error) && is_open(aTHX_ table));
        if (status) die_of(aTHX_ &error);
        table->lost_entries = TRUE;
    }
    RETVAL = (UV)count;
OUTPUT:
    RETVAL

void
snapshot(self)
    SV *self
PPCODE:
    bw_error error = BW_ERROR_INIT;
    Table *table = table_of(self);
    bw_snapshot *snapshot = NULL;
    Snapshot *handle;
    if (!is_open(aTHX_ table)) XSRETURN_UNDEF;
    if (bw_table_snapshot(table->table, &snapshot, &error)) die_of(aTHX_ &error);
    Newxz(handle, 1, Snapshot);
    handle->snapshot = snapshot;
    handle->is_text = table->is_text;
    handle->is_tainted = table->is_tainted;
    PUSHs(object(aTHX_ "Bytewright::Snapshot", &snapshot_kind, handle));

void
_cursor(self)
    SV *self
PPCODE:
    bw_error error = BW_ERROR_INIT;
    Table *table = table_of(self);
    bw_cursor *cursor = NULL;
    Cursor *handle;
    if (!is_open(aTHX_ table)) XSRETURN_UNDEF;
    if (bw_table_cursor(table->table, &cursor, &error)) die_of(aTHX_ &error);
    Newxz(handle, 1, Cursor);
    handle->cursor = cursor;
    handle->is_text = table->is_text;
    handle->is_tainted = table->is_tainted;
    PUSHs(object(aTHX_ "Bytewright::Cursor", &cursor_kind, handle));

void
_changes_since(self, position)
    SV *self
    SV *position
PPCODE:
    bw_error error = BW_ERROR_INIT;
    /* Magic of the argument runs before the handle is taken. */
    const char *since = (SvGETMAGIC(position), SvOK(position)) ? SvPV_nomg_nolen(position) : NULL;
    Table *table = table_of(self);
    bw_changes *changes = NULL;
    Changes *handle;
    if (!is_open(aTHX_ table)) XSRETURN_UNDEF;
    if (bw_table_changes_since(table->table, since, &changes, &error)) die_of(aTHX_ &error);
    Newxz(handle, 1, Changes);
    handle->changes = changes;
    handle->is_text = table->is_text;
    handle->is_tainted = table->is_tainted;
    PUSHs(object(aTHX_ "Bytewright::Changes", &changes_kind, handle));
