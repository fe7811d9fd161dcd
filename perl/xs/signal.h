/* Signals that come while a call waits. */

/* True while this thread makes a call that no signal is to end: their handlers run afterwards. */
static __thread bool signals_are_held;

/* Returns true if a signal came whose handler of Perl's is to run. */
static bool signal_waits(void *context) {
    dTHXa((PerlInterpreter *)context);
    PERL_UNUSED_CONTEXT;
    return !signals_are_held && PL_sig_pending != 0;
}

/* Runs the handlers of Perl's after a call that ended for them. Whether it is to be made again. */
static bool goes_on(pTHX_ bw_status status, bw_error *error) {
    if (status != BW_STATUS_IO || error->os_error != EINTR || !PL_sig_pending) return FALSE;
    bw_error_clear(error);
    PERL_ASYNC_CHECK();
    return TRUE;
}
