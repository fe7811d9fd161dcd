MODULE = Bytewright    PACKAGE = Bytewright::Transaction

# The object is there before the transaction begins, so that no signal's handler can come between the two.
void
_begin(class_name, self)
    const char *class_name
    SV *self
PPCODE:
    bw_error error = BW_ERROR_INIT;
    Table *table = table_of(self);
    Transaction *transaction;
    bw_status status;
    SV *made;
    if (!is_open(aTHX_ table)) XSRETURN_UNDEF;
    Newxz(transaction, 1, Transaction);
    made = object(aTHX_ class_name, &transaction_kind, transaction);
    do status = bw_table_begin(table->table, &error);
    while (goes_on(aTHX_ status, &error) && is_open(aTHX_ table));
    if (status) die_of(aTHX_ &error);
    transaction->has_object = TRUE;
    transaction->owner = SvREFCNT_inc(SvRV(self));
    push_transaction(table, transaction);
    PUSHs(made);

bool
commit(self)
    SV *self
ALIAS:
    abort = 1
CODE:
    Transaction *transaction = transaction_of(self);
    Table *table = transaction->table;
    if (!table && transaction->went_with_outer)
        die_with(aTHX_ "argument",
                 "expected the innermost transaction of the table, found one that ended with the one around it");
    if (!table) die_with(aTHX_ "argument", "expected a transaction that is open, found one that has ended");
    if (table->innermost != transaction) die_of_others_inside(aTHX);
    sv_2mortal(transaction->owner);
    transaction->owner = NULL;
    end_innermost(aTHX_ table, ix == 0);
    RETVAL = TRUE;
OUTPUT:
    RETVAL
