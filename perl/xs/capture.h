/* Captures. */

typedef struct {
    bw_capture *capture; /* null when closed */
    SV *input;           /* what the program gave instead of a path, or null */
    bool is_tainted;     /* what it reads comes from outside */
    bool is_file;        /* it can be read again from the beginning */
    bool is_live;        /* it is an interface */
} Capture;

static void free_capture(pTHX_ void *handle) {
    Capture *capture = (Capture *)handle;
    bw_capture_close(capture->capture, NULL);
    SvREFCNT_dec(capture->input);
}

HANDLE_KIND(capture)

#define capture_of(self) ((Capture *)handle_of(aTHX_ (self), &capture_kind, "capture"))

static bw_capture *open_capture(pTHX_ SV *self) {
    Capture *capture = capture_of(self);
    if (!capture->capture) die_with(aTHX_ "closed", "expected an open capture, found it closed");
    return capture->capture;
}

/* A new capture of an object, to be opened. */
static Capture *capture_for(pTHX_ SV *self) {
    Capture *capture;
    Newxz(capture, 1, Capture);
    capture->is_tainted = TRUE;
    attach(aTHX_ self, &capture_kind, capture);
    return capture;
}

/* Rows over a capture, which they keep open; or the one batch of an answer. */
static SV *rows_of_capture(pTHX_ SV *self, bw_rows *rows, bw_batch *batch) {
    return rows_object(aTHX_ rows, batch, rows ? self : NULL, capture_of(self)->is_tainted);
}

/* Makes a call of an open capture until no signal ends it: made again, it goes on. A handler may have closed the capture. */
#define UNTIL_ANSWERED(status, call) STMT_START {                      \
    do {                                                               \
        bw_capture *capture = open_capture(aTHX_ self);                \
        (status) = (call);                                             \
    } while (goes_on(aTHX_ (status), &error));                         \
} STMT_END

/* Makes a call that begins anew where the handler of a signal has run: the second time signals wait, or a call that takes longer than
 * they come apart would never end. With `holds` they wait at once. */
#define ANEW_UNTIL_ANSWERED(status, holds, call) STMT_START {          \
    bool are_held = (holds), is_again;                                 \
    do {                                                               \
        bw_capture *capture = open_capture(aTHX_ self);                \
        signals_are_held = are_held;                                   \
        (status) = (call);                                             \
        signals_are_held = FALSE;                                      \
        is_again = goes_on(aTHX_ (status), &error);                    \
        are_held = are_held || capture_of(self)->is_file;              \
    } while (is_again);                                                \
} STMT_END

/* Files of flows under way. No program has such an object: it frees the file where a handler of a signal dies. */

typedef struct {
    bw_flow_log *log;
} FlowLog;

static void free_flow_log(pTHX_ void *handle) {
    PERL_UNUSED_CONTEXT;
    bw_flow_log_free(((FlowLog *)handle)->log);
}

HANDLE_KIND(flow_log)

/* Begins a file, which is freed with the mortal that holds it. */
static bw_flow_log *flow_log_of_call(pTHX_ const char *path, const char *format, AV *named) {
    bw_error error = BW_ERROR_INIT;
    bw_flow_options options = BW_FLOW_OPTIONS_INIT;
    FlowLog *log;
    options.named = names_of_array(aTHX_ named);
    Newxz(log, 1, FlowLog);
    object(aTHX_ "Bytewright::Capture::FlowLog", &flow_log_kind, log);
    if (bw_flow_log_create(path, format, &options, &log->log, &error)) die_of(aTHX_ &error);
    return log->log;
}
