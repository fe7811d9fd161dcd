/* Signals that come while a call waits. */

/* True while this thread makes a call that no signal is to end: their handlers run afterwards. */
static __thread bool signals_are_held;

/* Returns true if a signal came whose handler of Perl's is to run. */
static bool signal_waits(void *context) {
    dTHXa((PerlInterpreter *)context);
    PERL_UNUSED_CONTEXT;
    return !signals_are_held && PL_sig_pending != 0;
}

/* Keeps the objects of calls under way until the statement ends: Perl's stack does not count them, and the handler of a signal may drop the
 * last reference of the program to one. */
static void keep_objects(pTHX) {
    SV **place;
    for (place = PL_stack_base + 1; place <= PL_stack_sp; place++)
        if (*place && SvROK(*place)) sv_2mortal(SvREFCNT_inc_simple_NN(SvRV(*place)));
}

/* Runs the handlers of Perl's after a call that ended for them. Whether it is to be made again. */
static bool goes_on(pTHX_ bw_status status, bw_error *error) {
    if (status != BW_STATUS_IO || error->os_error != EINTR || !PL_sig_pending) return FALSE;
    bw_error_clear(error);
    keep_objects(aTHX);
    PERL_ASYNC_CHECK();
    return TRUE;
}
