MODULE = Bytewright    PACKAGE = Bytewright::Capture

void
_open(self, path, filter, inner, jobs, keeps_damage)
    SV *self
    const char *path
    SV *filter
    bool inner
    U32 jobs
    bool keeps_damage
CODE:
    bw_error error = BW_ERROR_INIT;
    bw_capture_options options = BW_CAPTURE_OPTIONS_INIT;
    Capture *capture;
    if (SvOK(filter)) options.filter = SvPVutf8_nolen(filter);
    options.inner = inner;
    options.jobs = jobs;
    options.damage = keeps_damage ? BW_DAMAGE_KEEP : BW_DAMAGE_RAISE;
    options.interrupted = signal_waits;
    options.interrupted_context = aTHX;
    Newxz(capture, 1, Capture);
    attach(aTHX_ self, &capture_kind, capture);
    if (bw_capture_open(path, &options, &capture->capture, &error)) die_of(aTHX_ &error);

void
_live(self, name, filter, inner, snaplen, buffer, promiscuous)
    SV *self
    SV *name
    SV *filter
    bool inner
    U32 snaplen
    U32 buffer
    bool promiscuous
CODE:
    bw_error error = BW_ERROR_INIT;
    bw_capture_options options = BW_CAPTURE_OPTIONS_INIT;
    bw_live_options live = BW_LIVE_OPTIONS_INIT;
    const char *interface_name = SvPVutf8_nolen(name);
    Capture *capture;
    if (SvOK(filter)) options.filter = SvPVutf8_nolen(filter);
    options.inner = inner;
    options.jobs = 1;
    options.interrupted = signal_waits;
    options.interrupted_context = aTHX;
    live.snaplen = snaplen;
    live.buffer = buffer;
    live.promiscuous = promiscuous;
    Newxz(capture, 1, Capture);
    attach(aTHX_ self, &capture_kind, capture);
    if (bw_capture_open_live(interface_name, &live, &options, &capture->capture, &error)) die_of(aTHX_ &error);

void
damage(self)
    SV *self
PPCODE:
    bw_error error = BW_ERROR_INIT;
    if (bw_capture_damage(open_capture(aTHX_ self), &error) == BW_STATUS_NONE) XSRETURN_UNDEF;
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
packets(self, ...)
    SV *self
ALIAS:
    _own_packets = 1
PPCODE:
    bw_error error = BW_ERROR_INIT;
    bw_rows *rows = NULL;
    const bw_names fields = names_of(aTHX_ &ST(1), (size_t)items - 1);
    bw_capture *capture = open_capture(aTHX_ self);
    if (bw_capture_packets(&capture, 1, &fields, 0, &rows, &error)) die_of(aTHX_ &error);
    /* Rows that the capture has itself would keep it for ever. */
    PUSHs(rows_object(aTHX_ rows, NULL, ix ? NULL : self, TRUE));

void
_flows(self, idle_timeout, active_timeout, max_flows, ...)
    SV *self
    double idle_timeout
    double active_timeout
    UV max_flows
PPCODE:
    bw_error error = BW_ERROR_INIT;
    bw_rows *rows = NULL;
    bw_flow_options options = BW_FLOW_OPTIONS_INIT;
    const bw_names fields = names_of(aTHX_ &ST(4), (size_t)items - 4);
    bw_capture *capture = open_capture(aTHX_ self);
    options.idle_timeout = idle_timeout;
    options.active_timeout = active_timeout;
    options.max_flows = max_flows;
    if (bw_capture_flows(&capture, 1, &fields, &options, &rows, &error)) die_of(aTHX_ &error);
    PUSHs(rows_object(aTHX_ rows, NULL, self, TRUE));

void
_count_by(self, field)
    SV *self
    const char *field
PPCODE:
    bw_error error = BW_ERROR_INIT;
    bw_batch *batch = NULL;
    bw_status status;
    do status = bw_capture_count_by(open_capture(aTHX_ self), field, &batch, &error);
    while (goes_on(aTHX_ status, &error));
    if (status) die_of(aTHX_ &error);
    PUSHs(rows_object(aTHX_ NULL, batch, NULL, TRUE));

void
_sum(self, by, fields, every, top, condition)
    SV *self
    AV *by
    AV *fields
    double every
    UV top
    SV *condition
PPCODE:
    bw_error error = BW_ERROR_INIT;
    bw_sum_options options = BW_SUM_OPTIONS_INIT;
    bw_batch *batch = NULL;
    bw_status status;
    options.by = names_of(aTHX_ AvARRAY(by), (size_t)(av_len(by) + 1));
    options.fields = names_of(aTHX_ AvARRAY(fields), (size_t)(av_len(fields) + 1));
    options.every = every;
    options.top = top;
    if (SvOK(condition)) options.where = SvPVutf8_nolen(condition);
    do status = bw_capture_sum(open_capture(aTHX_ self), &options, &batch, &error);
    while (goes_on(aTHX_ status, &error));
    if (status) die_of(aTHX_ &error);
    PUSHs(rows_object(aTHX_ NULL, batch, NULL, TRUE));

void
_info(self)
    SV *self
PPCODE:
    bw_error error = BW_ERROR_INIT;
    bw_batch *batch = NULL;
    bw_status status;
    do status = bw_capture_info(open_capture(aTHX_ self), &batch, &error);
    while (goes_on(aTHX_ status, &error));
    if (status) die_of(aTHX_ &error);
    PUSHs(rows_object(aTHX_ NULL, batch, NULL, TRUE));
