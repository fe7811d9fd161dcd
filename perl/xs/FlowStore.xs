MODULE = Bytewright    PACKAGE = Bytewright::FlowStore

void
_open(self, path)
    SV *self
    const char *path
ALIAS:
    _open_to_merge = 1
CODE:
    bw_error error = BW_ERROR_INIT;
    FlowStore *store;
    Newxz(store, 1, FlowStore);
    attach(aTHX_ self, &flow_store_kind, store);
    if (ix ? bw_flow_store_open(path, &store->store, &error) : bw_flow_store_open_read_only(path, &store->store, &error))
        die_of(aTHX_ &error);

void
_flows(self, names)
    SV *self
    AV *names
PPCODE:
    bw_error error = BW_ERROR_INIT;
    bw_rows *rows = NULL;
    const bw_names fields = names_of_array(aTHX_ names);
    if (bw_flow_store_flows(open_flow_store(aTHX_ self), &fields, &rows, &error)) die_of(aTHX_ &error);
    PUSHs(rows_object(aTHX_ rows, NULL, self, TRUE));

UV
count(self)
    SV *self
CODE:
    bw_error error = BW_ERROR_INIT;
    uint64_t len = 0;
    if (bw_flow_store_len(open_flow_store(aTHX_ self), &len, &error)) die_of(aTHX_ &error);
    RETVAL = (UV)len;
OUTPUT:
    RETVAL

void
close(self)
    SV *self
CODE:
    bw_error error = BW_ERROR_INIT;
    FlowStore *store = flow_store_of(self);
    bw_flow_store *open = store->store;
    store->store = NULL;
    if (bw_flow_store_close(open, &error)) die_of(aTHX_ &error);
