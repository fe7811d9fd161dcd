/* Stores of flows. */

typedef struct {
    bw_flow_store *store; /* null when closed */
} FlowStore;

static void free_flow_store(pTHX_ void *handle) {
    PERL_UNUSED_CONTEXT;
    bw_flow_store_close(((FlowStore *)handle)->store, NULL);
}

HANDLE_KIND(flow_store)

#define flow_store_of(self) ((FlowStore *)handle_of(aTHX_ (self), &flow_store_kind, "store of flows"))

static bw_flow_store *open_flow_store(pTHX_ SV *self) {
    FlowStore *store = flow_store_of(self);
    if (!store->store) die_with(aTHX_ "closed", "expected an open store, found it closed");
    return store->store;
}
