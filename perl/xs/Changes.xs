MODULE = Bytewright    PACKAGE = Bytewright::Changes

void
next(self)
    SV *self
PPCODE:
    static const char *const names[] = {"", "clear", "put", "delete"};
    bw_error error = BW_ERROR_INIT;
    bw_change kind;
    bw_slice key, value;
    Changes *changes = changes_of(self);
    const bw_status status = bw_changes_next(changes->changes, &kind, &key, &value, &error);
    if (IS_FAILURE(status)) die_of(aTHX_ &error);
    TAINT_BY(changes);
    if (status == BW_STATUS_OK) {
        EXTEND(SP, 3);
        PUSHs(sv_2mortal(newSVpv(names[kind], 0)));
        /* Key and value are for lists, as those of each(%hash). */
        if (GIMME_V == G_ARRAY) {
            if (kind != BW_CHANGE_CLEAR) PUSHs(string(aTHX_ key.data, key.len, changes->is_text));
            if (kind == BW_CHANGE_PUT) PUSHs(string(aTHX_ value.data, value.len, changes->is_text));
        }
    }

const char *
position(self)
    SV *self
CODE:
    RETVAL = bw_changes_position(changes_of(self)->changes);
OUTPUT:
    RETVAL
