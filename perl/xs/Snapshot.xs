MODULE = Bytewright    PACKAGE = Bytewright::Snapshot

void
get(self, key)
    SV *self
    SV *key
PPCODE:
    bw_error error = BW_ERROR_INIT;
    SV *plain_key = plain(key, "a key");
    Snapshot *snapshot = snapshot_of(self);
    const bw_slice slice = bytes(aTHX_ plain_key, snapshot->is_text, "a key");
    const bw_status status = bw_snapshot_get(snapshot->snapshot, slice.data, slice.len, &snapshot->value, &error);
    if (IS_FAILURE(status)) die_of(aTHX_ &error);
    if (status == BW_STATUS_NONE) XSRETURN_UNDEF;
    TAINT_BY(snapshot);
    PUSHs(string(aTHX_ snapshot->value.data, snapshot->value.len, snapshot->is_text));
    if (snapshot->value.capacity > KEPT_VALUE_BYTES_MAX) bw_buffer_free(&snapshot->value);

UV
count(self)
    SV *self
CODE:
    bw_error error = BW_ERROR_INIT;
    uint64_t len = 0;
    if (bw_snapshot_len(snapshot_of(self)->snapshot, &len, &error)) die_of(aTHX_ &error);
    RETVAL = (UV)len;
OUTPUT:
    RETVAL

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
    const bool is_text = snapshot_of(self)->is_text;
    const bw_range range = range_of(aTHX_ from, to, prefix, reverse, limit, is_text);
    Snapshot *snapshot = snapshot_of(self);
    if (bw_snapshot_scan(snapshot->snapshot, or_all(&range), &scan, &error)) die_of(aTHX_ &error);
    PUSHs(scan_object(aTHX_ scan, is_text, snapshot->is_tainted));
