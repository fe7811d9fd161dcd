MODULE = Bytewright    PACKAGE = Bytewright::Cursor

bool
first(self)
    SV *self
ALIAS:
    last = 1
    next = 2
    prev = 3
CODE:
    bw_error error = BW_ERROR_INIT;
    bw_cursor *cursor = cursor_of(self)->cursor;
    const bw_status status = ix == 0   ? bw_cursor_first(cursor, &error)
                             : ix == 1 ? bw_cursor_last(cursor, &error)
                             : ix == 2 ? bw_cursor_next(cursor, &error)
                                       : bw_cursor_prev(cursor, &error);
    if (IS_FAILURE(status)) die_of(aTHX_ &error);
    RETVAL = status == BW_STATUS_OK;
OUTPUT:
    RETVAL

bool
seek(self, key)
    SV *self
    SV *key
CODE:
    bw_error error = BW_ERROR_INIT;
    SV *plain_key = plain(key, "a key");
    Cursor *cursor = cursor_of(self);
    const bw_slice slice = bytes(aTHX_ plain_key, cursor->is_text, "a key");
    const bw_status status = bw_cursor_seek(cursor->cursor, slice.data, slice.len, &error);
    if (IS_FAILURE(status)) die_of(aTHX_ &error);
    RETVAL = status == BW_STATUS_OK;
OUTPUT:
    RETVAL

void
entry(self)
    SV *self
ALIAS:
    key   = 1
    value = 2
PPCODE:
    bw_error error = BW_ERROR_INIT;
    bw_slice key, value;
    Cursor *cursor = cursor_of(self);
    const bw_status status = bw_cursor_entry(cursor->cursor, &key, &value, &error);
    if (IS_FAILURE(status)) die_of(aTHX_ &error);
    TAINT_BY(cursor);
    EXTEND(SP, 2);
    if (status == BW_STATUS_NONE) {
        if (ix) PUSHs(&PL_sv_undef);
    } else {
        if (ix != 2) PUSHs(string(aTHX_ key.data, key.len, cursor->is_text));
        /* A value behind its key is for lists, as that of each(%hash). */
        if (ix == 2 || (ix == 0 && GIMME_V == G_ARRAY)) PUSHs(string(aTHX_ value.data, value.len, cursor->is_text));
    }
