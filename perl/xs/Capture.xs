MODULE = Bytewright    PACKAGE = Bytewright::Capture

void
_open(self, path, ...)
    SV *self
    const char *path
CODE:
    bw_error error = BW_ERROR_INIT;
    bw_capture_options options = BW_CAPTURE_OPTIONS_INIT;
    Capture *capture;
    struct stat found;
    options.named = names_of(aTHX_ &ST(2), (size_t)items - 2);
    options.interrupted = signal_waits;
    options.interrupted_context = aTHX;
    capture = capture_for(aTHX_ self);
    capture->is_file = !stat(path, &found) && S_ISREG(found.st_mode);
    if (bw_capture_open(path, &options, &capture->capture, &error)) die_of(aTHX_ &error);

void
_open_input(self, given, ...)
    SV *self
    SV *given
CODE:
    bw_error error = BW_ERROR_INIT;
    bw_capture_options options = BW_CAPTURE_OPTIONS_INIT;
    Capture *capture;
    Input *input;
    options.named = names_of(aTHX_ &ST(2), (size_t)items - 2);
    input = input_of(given);
    options.interrupted = signal_waits;
    options.interrupted_context = aTHX;
    capture = capture_for(aTHX_ self);
    capture->is_tainted = input->is_tainted;
    capture->input = SvREFCNT_inc(SvRV(given));
    if (bw_capture_open_input(input->name, input->bring, input, &options, &capture->capture, &error)) die_of(aTHX_ &error);

void
_live(self, name, named_of_live, named)
    SV *self
    SV *name
    AV *named_of_live
    AV *named
CODE:
    bw_error error = BW_ERROR_INIT;
    bw_capture_options options = BW_CAPTURE_OPTIONS_INIT;
    bw_live_options live = BW_LIVE_OPTIONS_INIT;
    const char *interface_name = SvPVutf8_nolen(name);
    Capture *capture;
    options.jobs = 1;
    options.named = names_of_array(aTHX_ named);
    options.interrupted = signal_waits;
    options.interrupted_context = aTHX;
    live.named = names_of_array(aTHX_ named_of_live);
    capture = capture_for(aTHX_ self);
    capture->is_live = TRUE;
    if (bw_capture_open_live(interface_name, &live, &options, &capture->capture, &error)) die_of(aTHX_ &error);

void
damage(self)
    SV *self
PPCODE:
    bw_error error = BW_ERROR_INIT;
    if (bw_capture_damage(open_capture(aTHX_ self), &error) == BW_STATUS_NONE) XSRETURN_UNDEF;
    PUSHs(error_object(aTHX_ &error));

void
index_fault(self)
    SV *self
PPCODE:
    bw_error error = BW_ERROR_INIT;
    if (bw_capture_index_fault(open_capture(aTHX_ self), &error) == BW_STATUS_NONE) XSRETURN_UNDEF;
    PUSHs(error_object(aTHX_ &error));

void
stop(self)
    SV *self
CODE:
    bw_error error = BW_ERROR_INIT;
    if (bw_capture_stop(open_capture(aTHX_ self), &error)) die_of(aTHX_ &error);

void
_live_counts(self)
    SV *self
PPCODE:
    bw_error error = BW_ERROR_INIT;
    bw_live_counts counts;
    bw_status status = bw_capture_live_counts(open_capture(aTHX_ self), &counts, &error);
    if (status == BW_STATUS_NONE) XSRETURN_EMPTY;
    if (status) die_of(aTHX_ &error);
    EXTEND(SP, 3);
    mPUSHu(counts.captured);
    mPUSHu(counts.dropped);
    mPUSHu(counts.dropped_by_interface);

void
close(self)
    SV *self
CODE:
    bw_error error = BW_ERROR_INIT;
    Capture *capture = capture_of(self);
    bw_capture *open = capture->capture;
    capture->capture = NULL;
    if (bw_capture_close(open, &error)) die_of(aTHX_ &error);

void
_packets(self, names, named)
    SV *self
    AV *names
    AV *named
ALIAS:
    _own_packets = 1
PPCODE:
    bw_error error = BW_ERROR_INIT;
    bw_rows *rows = NULL;
    SV *source = self;
    const bw_names fields = names_of_array(aTHX_ names), options = names_of_array(aTHX_ named);
    bw_capture *capture = open_capture(aTHX_ self);
    /* Rows that the capture has itself would keep it for ever. */
    if (ix) source = capture_of(self)->input ? sv_2mortal(newRV_inc(capture_of(self)->input)) : NULL;
    if (bw_capture_packets(&capture, 1, &fields, 0, &options, &rows, &error)) die_of(aTHX_ &error);
    PUSHs(rows_object(aTHX_ rows, NULL, source, capture_of(self)->is_tainted));

void
_summary(self, question, named)
    SV *self
    const char *question
    AV *named
PPCODE:
    bw_error error = BW_ERROR_INIT;
    bw_rows *rows = NULL;
    const bw_names options = names_of_array(aTHX_ named);
    bw_capture *capture = open_capture(aTHX_ self);
    if (bw_ask(&capture, 1, question, &options, &rows, &error)) die_of(aTHX_ &error);
    PUSHs(rows_of_capture(aTHX_ self, rows, NULL));

void
_flows(self, names, named)
    SV *self
    AV *names
    AV *named
PPCODE:
    bw_error error = BW_ERROR_INIT;
    bw_rows *rows = NULL;
    bw_flow_options options = BW_FLOW_OPTIONS_INIT;
    const bw_names fields = names_of_array(aTHX_ names);
    bw_capture *capture = open_capture(aTHX_ self);
    options.named = names_of_array(aTHX_ named);
    if (bw_capture_flows(&capture, 1, &fields, &options, &rows, &error)) die_of(aTHX_ &error);
    PUSHs(rows_of_capture(aTHX_ self, rows, NULL));

void
_calls(self, names, named)
    SV *self
    AV *names
    AV *named
PPCODE:
    bw_error error = BW_ERROR_INIT;
    bw_rows *rows = NULL;
    const bw_names fields = names_of_array(aTHX_ names), options = names_of_array(aTHX_ named);
    bw_capture *capture = open_capture(aTHX_ self);
    if (bw_capture_calls(&capture, 1, &fields, NULL, &options, &rows, &error)) die_of(aTHX_ &error);
    PUSHs(rows_of_capture(aTHX_ self, rows, NULL));

void
_merge_flows(self, store, named)
    SV *self
    SV *store
    AV *named
PPCODE:
    bw_error error = BW_ERROR_INIT;
    bw_flow_options options = BW_FLOW_OPTIONS_INIT;
    bw_batch *batch = NULL;
    bw_status status;
    bw_flow_store *into;
    options.named = names_of_array(aTHX_ named);
    if (capture_of(self)->is_live)
        die_with(aTHX_ "argument", "expected a capture that ends, to merge its flows, found an interface; write them with a format");
    /* No program has the store, which could close it. */
    into = open_flow_store(aTHX_ store);
    UNTIL_ANSWERED(status, bw_capture_merge_flows(capture, into, &options, &batch, &error));
    if (status) die_of(aTHX_ &error);
    PUSHs(rows_of_capture(aTHX_ self, NULL, batch));

UV
_log_flows(self, path, format, named)
    SV *self
    const char *path
    const char *format
    AV *named
CODE:
    bw_error error = BW_ERROR_INIT;
    uint64_t flows = 0;
    bw_flow_log *log = (open_capture(aTHX_ self), flow_log_of_call(aTHX_ path, format, named));
    bw_status status;
    do status = bw_capture_log_flows(open_capture(aTHX_ self), log, &error);
    while (goes_on(aTHX_ status, &error));
    if (status || bw_flow_log_finish(log, &flows, &error)) die_of(aTHX_ &error);
    RETVAL = (UV)flows;
OUTPUT:
    RETVAL

void
_write_to(self, path, named, is_once)
    SV *self
    const char *path
    AV *named
    bool is_once
PPCODE:
    bw_error error = BW_ERROR_INIT, damage = BW_ERROR_INIT;
    bw_cut_counts counts = BW_CUT_COUNTS_INIT;
    const bw_names options = names_of_array(aTHX_ named);
    bw_status status;
    if (capture_of(self)->is_live)
        die_with(aTHX_ "argument", "expected a capture that ends, to write its packets, found an interface; use bytewright cut");
    /* What a pipe brought would be written by the first call, and not by the next. */
    ANEW_UNTIL_ANSWERED(status, is_once || !capture_of(self)->is_file,
                        bw_capture_cut(capture, path, &options, &counts, &damage, &error));
    if (status) die_of(aTHX_ &error);
    EXTEND(SP, 7);
    if (damage.status != BW_STATUS_OK) {
        SV *told;
        /* It is made by a call of Perl's, which uses the stack. */
        PUTBACK;
        told = error_object(aTHX_ &damage);
        SPAGAIN;
        SP[7] = told;
    } else {
        SP[7] = &PL_sv_undef;
    }
    TAINT_BY(capture_of(self));
    mPUSHu(counts.packets);
    mPUSHu(counts.bytes);
    mPUSHu(counts.late);
    mPUSHu(counts.duplicates);
    mPUSHu(counts.opaque);
    mPUSHu(counts.files);
    SP++;

void
_count_by(self, field, named)
    SV *self
    const char *field
    AV *named
PPCODE:
    bw_error error = BW_ERROR_INIT;
    const bw_names options = names_of_array(aTHX_ named);
    bw_batch *batch = NULL;
    bw_status status;
    UNTIL_ANSWERED(status, bw_capture_count_by(capture, field, &options, &batch, &error));
    if (status) die_of(aTHX_ &error);
    PUSHs(rows_of_capture(aTHX_ self, NULL, batch));

void
_sum(self, fields, named)
    SV *self
    AV *fields
    AV *named
PPCODE:
    bw_error error = BW_ERROR_INIT;
    bw_sum_options options = BW_SUM_OPTIONS_INIT;
    bw_batch *batch = NULL;
    bw_status status;
    options.fields = names_of_array(aTHX_ fields);
    options.named = names_of_array(aTHX_ named);
    UNTIL_ANSWERED(status, bw_capture_sum(capture, &options, &batch, &error));
    if (status) die_of(aTHX_ &error);
    PUSHs(rows_of_capture(aTHX_ self, NULL, batch));

void
_info(self)
    SV *self
PPCODE:
    bw_error error = BW_ERROR_INIT;
    bw_batch *batch = NULL;
    bw_status status;
    UNTIL_ANSWERED(status, bw_capture_info(capture, &batch, &error));
    if (status) die_of(aTHX_ &error);
    PUSHs(rows_of_capture(aTHX_ self, NULL, batch));
