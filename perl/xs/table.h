/* Base of the methods of tables. */

/* Ends a method without an answer: dies, or keeps the failure for the method `error`. */
static void fail(pTHX_ Table *table, bw_error *error) {
    if (!table->is_answering) die_of(aTHX_ error);
    SvREFCNT_dec(table->failure);
    table->failure = NULL;
    table->failure = SvREFCNT_inc(error_object(aTHX_ error));
}

/* Returns true if a method did it, as its table returns it: false of Tokyo Cabinet's is 0. */
PERL_STATIC_INLINE SV *answer(pTHX_ const Table *table, bool is_done) {
    PERL_UNUSED_CONTEXT;
    return is_done ? &PL_sv_yes : table->is_answering ? &PL_sv_zero : &PL_sv_no;
}

/* Returns true if the table is open; otherwise dies, or returns false if its methods keep failures. */
PERL_STATIC_INLINE bool is_open(pTHX_ const Table *table) {
    if (LIKELY(table->table != NULL)) return TRUE;
    if (!table->is_answering) die_with(aTHX_ "closed", "expected an open table, found it closed");
    return FALSE;
}

PERL_STATIC_NO_RET void die_of_others_inside(pTHX) {
    die_with(aTHX_ "argument", "expected the innermost transaction of the table, found one that has others inside");
}

/* Ends the innermost transaction of a table that is open. */
static void end_innermost(pTHX_ Table *table, bool is_kept) {
    bw_error error = BW_ERROR_INIT;
    const bw_status status = is_kept ? bw_table_commit(table->table, &error) : bw_table_abort(table->table, &error);
    pop_transaction(table, FALSE);
    table->lost_entries = TRUE;
    if (status) die_of(aTHX_ &error);
}

/* The value that a call has found, and copied to the table's buffer, as a mortal string, or null. */
static SV *found_value(pTHX_ Table *table, bw_status status, bw_error *error) {
    SV *value;
    if (status == BW_STATUS_NONE) return NULL;
    if (UNLIKELY(IS_FAILURE(status))) {
        fail(aTHX_ table, error);
        return NULL;
    }
    TAINT_BY(table);
    value = string(aTHX_ table->value.data, table->value.len, table->is_text);
    if (UNLIKELY(table->value.capacity > KEPT_VALUE_BYTES_MAX)) bw_buffer_free(&table->value);
    return value;
}

/* The value of a key as a mortal string, or null. */
static SV *value_of(pTHX_ Table *table, bw_slice key) {
    bw_error error = BW_ERROR_INIT;
    const bw_status status = bw_table_get(table->table, key.data, key.len, &table->value, &error);
    return found_value(aTHX_ table, status, &error);
}

/* Takes the entry of a key out, and returns its value as a mortal string, or null. */
static SV *take_entry(pTHX_ Table *table, SV *key) {
    bw_error error = BW_ERROR_INIT;
    bw_status status;
    do {
        const bw_slice slice = bytes(aTHX_ key, table->is_text, "a key");
        status = bw_table_take(table->table, slice.data, slice.len, &table->value, &error);
    } while (goes_on(aTHX_ status, &error) && is_open(aTHX_ table));
    if (status == BW_STATUS_OK) table->lost_entries = TRUE;
    return found_value(aTHX_ table, status, &error);
}

/* Removes the entry of a key; whether there was one. */
static bool remove_entry(pTHX_ Table *table, SV *key) {
    bw_error error = BW_ERROR_INIT;
    bw_status status;
    do {
        const bw_slice slice = bytes(aTHX_ key, table->is_text, "a key");
        status = bw_table_delete(table->table, slice.data, slice.len, &error);
    } while (goes_on(aTHX_ status, &error) && is_open(aTHX_ table));
    if (IS_FAILURE(status)) fail(aTHX_ table, &error);
    if (status == BW_STATUS_OK) table->lost_entries = TRUE;
    return status == BW_STATUS_OK;
}

/* The next key of the walk that is still there as a mortal string, or undef after the last. */
static SV *next_key(pTHX_ Table *table) {
    bw_error error = BW_ERROR_INIT;
    bw_slice key, value;
    bw_status status;
    TAINT_BY(table);
    while (table->walk && (status = bw_scan_next(table->walk, &key, &value, &error)) != BW_STATUS_NONE) {
        if (!IS_FAILURE(status) && table->lost_entries)
            status = bw_table_contains(table->table, key.data, key.len, &error);
        if (status == BW_STATUS_OK) return string(aTHX_ key.data, key.len, table->is_text);
        if (IS_FAILURE(status)) {
            end_walk(table);
            fail(aTHX_ table, &error);
        }
    }
    end_walk(table);
    return &PL_sv_undef;
}

/* Memory of this many bytes that is freed when the statement ends or dies. */
static void *mortal_memory(pTHX_ size_t len) {
    SV *memory = sv_2mortal(newSV(len ? len : 1));
    return SvPVX(memory);
}

/* Notes under -T that a tainted string goes into the table: what comes out of it is tainted from then on. */
#define NOTE_TAINT(table, sv) STMT_START { if (UNLIKELY(TAINTING_get && SvTAINTED(sv))) (table)->is_tainted = TRUE; } STMT_END

/* The arguments from `first` on, each a slice. */
static bw_slice *slices_of(pTHX_ SV **arguments, size_t count, bool is_text, const char *even, const char *odd) {
    bw_slice *slices = (bw_slice *)mortal_memory(aTHX_ count * sizeof(bw_slice));
    SV **plains = (SV **)mortal_memory(aTHX_ count * sizeof(SV *));
    size_t place;
    Copy(arguments, plains, count, SV *);
    make_plain(aTHX_ plains, count, even, odd);
    for (place = 0; place < count; place++) slices[place] = bytes(aTHX_ plains[place], is_text, place % 2 ? odd : even);
    return slices;
}

/* Values of many keys, one behind the other: strings are made of them when the library has returned. */
typedef struct {
    char *data;
    size_t len, capacity;
    size_t *ends; /* where each value ends */
    bool *found;
    bool is_full;
} Values;

static void keep_bytes(Values *values, const void *bytes, size_t len) {
    if (len > values->capacity - values->len && !values->is_full) {
        const size_t capacity = (values->len + len) * 2;
        char *data = (char *)realloc(values->data, capacity);
        if (data) {
            values->data = data;
            values->capacity = capacity;
        }
        values->is_full = !data;
    }
    if (len && !values->is_full) {
        memcpy(values->data + values->len, bytes, len);
        values->len += len;
    }
}

static void keep_value(void *context, size_t place, const bw_slice *value) {
    Values *values = (Values *)context;
    values->found[place] = value != NULL;
    if (value) keep_bytes(values, value->data, value->len);
    values->ends[place] = values->len;
}

/* Keeps strings of which nobody knows how many there are: each stands behind its length. */
static void keep_string(void *context, size_t place, const bw_slice *string) {
    PERL_UNUSED_ARG(place);
    keep_bytes((Values *)context, &string->len, sizeof(string->len));
    keep_bytes((Values *)context, string->data, string->len);
}

/* A reference to an array of the strings that were kept. */
static SV *strings_of(pTHX_ const Values *values) {
    AV *strings = newAV();
    SV *answer = sv_2mortal(newRV_noinc((SV *)strings));
    size_t start = 0, len;
    if (values->is_full) die_with(aTHX_ "limit", "expected memory for the strings of an answer, found too little");
    while (start < values->len) {
        memcpy(&len, values->data + start, sizeof(len));
        start += sizeof(len);
        av_push(strings, newSVpvn(values->data + start, len));
        start += len;
    }
    return answer;
}

/* A range by its bounds, of which those that are undef do not apply. The bounds are there while the arguments are. */
static bw_range range_of(pTHX_ SV *from, SV *to, SV *prefix, bool reverse, UV limit, bool is_text) {
    bw_range range = BW_RANGE_INIT;
    SV *bounds[3];
    SvGETMAGIC(from);
    SvGETMAGIC(to);
    SvGETMAGIC(prefix);
    bounds[0] = SvOK(from) ? from : NULL;
    bounds[1] = SvOK(to) ? to : NULL;
    bounds[2] = SvOK(prefix) ? prefix : NULL;
    make_plain(aTHX_ bounds, 3, "a bound", "a bound");
    range.has_first = bounds[0] != NULL;
    range.has_last = bounds[1] != NULL;
    if (bounds[0]) range.first = bytes(aTHX_ bounds[0], is_text, "a bound");
    if (bounds[1]) range.last = bytes(aTHX_ bounds[1], is_text, "a bound");
    if (bounds[2]) range.prefix = bytes(aTHX_ bounds[2], is_text, "a bound");
    range.reverse = reverse;
    range.limit = limit;
    return range;
}

/* A Bytewright::Scan over this. */
static SV *scan_object(pTHX_ bw_scan *scan, bool is_text, bool is_tainted) {
    Scan *handle;
    Newxz(handle, 1, Scan);
    handle->scan = scan;
    handle->is_text = is_text;
    handle->is_tainted = is_tainted;
    return object(aTHX_ "Bytewright::Scan", &scan_kind, handle);
}

/* Returns the range if any bound applies, else null: a hashed table takes no range. */
static const bw_range *or_all(const bw_range *range) {
    const bool applies = range->has_first || range->has_last || range->prefix.len || range->reverse || range->limit;
    return applies ? range : NULL;
}
