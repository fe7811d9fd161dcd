MODULE = Bytewright    PACKAGE = Bytewright::Scan

void
next(self)
    SV *self
PPCODE:
    bw_error error = BW_ERROR_INIT;
    bw_slice key, value;
    Scan *scan = scan_of(self);
    const bw_status status = bw_scan_next(scan->scan, &key, &value, &error);
    if (IS_FAILURE(status)) die_of(aTHX_ &error);
    TAINT_BY(scan);
    if (status == BW_STATUS_OK) {
        EXTEND(SP, 2);
        PUSHs(string(aTHX_ key.data, key.len, scan->is_text));
        /* As each(%hash). */
        if (GIMME_V == G_ARRAY) PUSHs(string(aTHX_ value.data, value.len, scan->is_text));
    }

void
all(self)
    SV *self
ALIAS:
    keys   = 1
    values = 2
PPCODE:
    bw_error error = BW_ERROR_INIT;
    bw_slice key, value;
    bw_status status;
    Scan *scan = scan_of(self);
    const bool is_list = GIMME_V == G_ARRAY;
    UV count = 0;
    TAINT_BY(scan);
    while ((status = bw_scan_next(scan->scan, &key, &value, &error)) == BW_STATUS_OK) {
        count++;
        if (!is_list) continue;
        EXTEND(SP, 2);
        if (ix != 2) PUSHs(string(aTHX_ key.data, key.len, scan->is_text));
        if (ix != 1) PUSHs(string(aTHX_ value.data, value.len, scan->is_text));
    }
    if (IS_FAILURE(status)) die_of(aTHX_ &error);
    if (!is_list) mXPUSHu(count);
