/* Captures. */

typedef struct {
    bw_capture *capture; /* null when closed */
} Capture;

static void free_capture(pTHX_ void *handle) {
    PERL_UNUSED_CONTEXT;
    bw_capture_close(((Capture *)handle)->capture, NULL);
}

HANDLE_KIND(capture)

#define capture_of(self) ((Capture *)handle_of(aTHX_ (self), &capture_kind, "capture"))

static bw_capture *open_capture(pTHX_ SV *self) {
    Capture *capture = capture_of(self);
    if (!capture->capture) die_with(aTHX_ "closed", "expected an open capture, found it closed");
    return capture->capture;
}
