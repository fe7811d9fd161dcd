/* Handles of the library behind Perl's objects. A handle is ext magic of the object, whatever that is a reference to: so
 * Perl code cannot forge or change it, and it is freed with the object, at the end of the program too. A new ithread gets
 * objects without a handle: a handle is used by one thread.
 *
 * Objects free their handles in any order, as at the end of a program: scans, snapshots and cursors hold what they need. */

typedef struct {
    bw_table *table;  /* null when closed */
    bw_scan *walk;    /* where each(%hash) is */
    bw_buffer value;  /* of get, used again */
    SV *failure;      /* where methods answer instead of dying: what the last failure was */
    struct transaction *innermost; /* of the open transactions */
    bool is_text;
    bool is_tainted;   /* it is a file, or tainted strings were put into it */
    bool is_answering; /* methods answer a failure, as Tokyo Cabinet's do */
    bool lost_entries; /* an entry went since the walk began */
} Table;

/* An open transaction. The one around it outlives it: whatever ends that one ends this one before. */
typedef struct transaction {
    Table *table;              /* null when it has ended */
    struct transaction *outer; /* the one around it */
    SV *owner;                 /* the table's object, kept alive while it is open */
    bool has_object;           /* an object of Perl's frees it; one of ADB's goes when it ends */
    bool went_with_outer;      /* it ended because the one around it did */
} Transaction;

typedef struct {
    bw_scan *scan;
    bool is_text;
    bool is_tainted;
} Scan;

typedef struct {
    bw_snapshot *snapshot;
    bw_buffer value;
    bool is_text;
    bool is_tainted;
} Snapshot;

typedef struct {
    bw_cursor *cursor;
    bool is_text;
    bool is_tainted;
} Cursor;

typedef struct {
    bw_changes *changes;
    bool is_text;
    bool is_tainted;
} Changes;

typedef struct {
    bw_cache *cache;  /* null when closed */
    bw_buffer value;  /* of get, used again */
    uint64_t clearings; /* that were told */
    bool is_tainted;
} Cache;

/* A value that is larger is not kept for the next get. */
#define KEPT_VALUE_BYTES_MAX 65536

static void end_walk(Table *table) {
    bw_scan_free(table->walk);
    table->walk = NULL;
}

static void push_transaction(Table *table, Transaction *begun) {
    begun->table = table;
    begun->outer = table->innermost;
    table->innermost = begun;
}

/* Ends the innermost transaction for Perl; the library has ended it, or the table is closed. */
static void pop_transaction(Table *table, bool went_with_outer) {
    Transaction *ended = table->innermost;
    table->innermost = ended->outer;
    ended->table = NULL;
    ended->went_with_outer = went_with_outer;
    if (!ended->has_object) Safefree(ended);
}

static void pop_all_transactions(Table *table) {
    while (table->innermost) pop_transaction(table, TRUE);
}

/* Takes a transaction back whose object goes, and those inside of it. This is no Perl code, so no handler of a signal runs
 * before it is done. In a forked child, the transaction of a file is the parent's. */
static void free_transaction(pTHX_ void *handle) {
    Transaction *transaction = (Transaction *)handle;
    Table *table = transaction->table;
    bw_error error = BW_ERROR_INIT;
    while (transaction->table) {
        if (error.status == BW_STATUS_OK) bw_table_abort(table->table, &error);
        pop_transaction(table, table->innermost != transaction);
        table->lost_entries = TRUE;
    }
    if (error.status != BW_STATUS_OK && error.status != BW_STATUS_CLOSED && !PL_dirty)
        warn("a transaction was left open, and taking it back failed: %s\n", error.message);
    bw_error_clear(&error);
    SvREFCNT_dec(transaction->owner);
}

static void free_table(pTHX_ void *handle) {
    Table *table = (Table *)handle;
    bw_error error = BW_ERROR_INIT;
    pop_all_transactions(table);
    end_walk(table);
    if (IS_FAILURE(bw_table_close(table->table, &error)) && !PL_dirty)
        warn("a table was left open, and closing it failed: %s\n", error.message);
    bw_error_clear(&error);
    bw_buffer_free(&table->value);
    SvREFCNT_dec(table->failure);
}

static void free_scan(pTHX_ void *handle) {
    PERL_UNUSED_CONTEXT;
    bw_scan_free(((Scan *)handle)->scan);
}

static void free_snapshot(pTHX_ void *handle) {
    PERL_UNUSED_CONTEXT;
    bw_snapshot_free(((Snapshot *)handle)->snapshot);
    bw_buffer_free(&((Snapshot *)handle)->value);
}

static void free_cursor(pTHX_ void *handle) {
    PERL_UNUSED_CONTEXT;
    bw_cursor_free(((Cursor *)handle)->cursor);
}

static void free_cache(pTHX_ void *handle) {
    Cache *cache = (Cache *)handle;
    bw_error error = BW_ERROR_INIT;
    if (IS_FAILURE(bw_cache_close(cache->cache, &error)) && !PL_dirty)
        warn("a cache was left open, and closing it failed: %s\n", error.message);
    bw_error_clear(&error);
    bw_buffer_free(&cache->value);
}

static void free_changes(pTHX_ void *handle) {
    PERL_UNUSED_CONTEXT;
    bw_changes_free(((Changes *)handle)->changes);
}

static int leave_to_its_thread(pTHX_ MAGIC *magic, CLONE_PARAMS *params) {
    PERL_UNUSED_CONTEXT;
    PERL_UNUSED_ARG(params);
    magic->mg_ptr = NULL;
    return 0;
}

#define HANDLE_KIND(name)                                                              \
    static int free_##name##_magic(pTHX_ SV *sv, MAGIC *magic) {                       \
        PERL_UNUSED_ARG(sv);                                                           \
        if (magic->mg_ptr) {                                                           \
            free_##name(aTHX_ magic->mg_ptr);                                          \
            Safefree(magic->mg_ptr);                                                   \
            magic->mg_ptr = NULL;                                                      \
        }                                                                              \
        return 0;                                                                      \
    }                                                                                  \
    static const MGVTBL name##_kind = {NULL, NULL, NULL, NULL, free_##name##_magic,    \
                                       NULL, leave_to_its_thread, NULL};

HANDLE_KIND(table)
HANDLE_KIND(transaction)
HANDLE_KIND(scan)
HANDLE_KIND(snapshot)
HANDLE_KIND(cursor)
HANDLE_KIND(changes)
HANDLE_KIND(cache)

/* Gives the object that `self` refers to a handle. */
static void attach(pTHX_ SV *self, const MGVTBL *kind, void *handle) {
    MAGIC *magic = sv_magicext(SvRV(self), NULL, PERL_MAGIC_ext, kind, (const char *)handle, 0);
    magic->mg_flags |= MGf_DUP;
}

/* A new object of a class, with this handle. */
static SV *object(pTHX_ const char *class_name, const MGVTBL *kind, void *handle) {
    SV *self = newRV_noinc(newSV(0));
    attach(aTHX_ self, kind, handle);
    return sv_bless(sv_2mortal(self), gv_stashpv(class_name, GV_ADD));
}

PERL_STATIC_NO_RET void die_without_handle(pTHX_ SV *self, const MAGIC *magic, const char *what) {
    if (magic) die_with(aTHX_ "closed", "expected the thread that made the %s, found another one: make one here", what);
    if (!SvROK(self)) die_with(aTHX_ "argument", "expected a %s, found no object", what);
    die_with(aTHX_ "argument", "expected a %s, found %" SVf, what, SVfARG(excerpt(aTHX_ sv_ref(NULL, SvRV(self), TRUE))));
}

/* The handle of an object. */
PERL_STATIC_INLINE void *handle_of(pTHX_ SV *self, const MGVTBL *kind, const char *what) {
    const bool may_be = SvROK(self) && SvTYPE(SvRV(self)) >= SVt_PVMG;
    const MAGIC *magic = may_be ? mg_findext(SvRV(self), PERL_MAGIC_ext, kind) : NULL;
    if (UNLIKELY(!magic || !magic->mg_ptr)) die_without_handle(aTHX_ self, magic, what);
    return magic->mg_ptr;
}

#define table_of(self) ((Table *)handle_of(aTHX_ (self), &table_kind, "table"))
#define transaction_of(self) ((Transaction *)handle_of(aTHX_ (self), &transaction_kind, "transaction"))
#define scan_of(self) ((Scan *)handle_of(aTHX_ (self), &scan_kind, "scan"))
#define snapshot_of(self) ((Snapshot *)handle_of(aTHX_ (self), &snapshot_kind, "snapshot"))
#define changes_of(self) ((Changes *)handle_of(aTHX_ (self), &changes_kind, "changes object"))
#define cache_of(self) ((Cache *)handle_of(aTHX_ (self), &cache_kind, "cache"))
#define cursor_of(self) ((Cursor *)handle_of(aTHX_ (self), &cursor_kind, "cursor"))
