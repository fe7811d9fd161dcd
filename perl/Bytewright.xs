/* The Perl face: what Perl passes becomes what the C interface takes, and the other way. A file of xs/ per class.
 *
 * The rule of every call: what may run Perl code (magic, overloading, warnings) or die is done before the library is
 * called and after it has returned, never inside, so that no frame of the library is skipped, and nothing of C is held when
 * Perl dies. All arguments are made plain again until none of their code ran, because that could have changed others. */
#define PERL_NO_GET_CONTEXT
#include "EXTERN.h"
#include "perl.h"
#include "XSUB.h"

#include "bytewright.h"

#include "xs/error.h"
#include "xs/bytes.h"
#include "xs/number.h"
#include "xs/handle.h"
#include "xs/signal.h"
#include "xs/table.h"
#include "xs/cache.h"
#include "xs/rows.h"
#include "xs/input.h"
#include "xs/flow_store.h"
#include "xs/capture.h"
#include "xs/reader.h"
#include "xs/writer.h"

MODULE = Bytewright    PACKAGE = Bytewright

PROTOTYPES: DISABLE

BOOT:
{
    bw_error error = BW_ERROR_INIT;
    if (bw_check_abi(BW_ABI_VERSION, &error)) die_of(aTHX_ &error);
}

const char *
version()
CODE:
    RETVAL = bw_version();
OUTPUT:
    RETVAL

INCLUDE: xs/Number.xs

INCLUDE: xs/Table.xs

INCLUDE: xs/Transaction.xs

INCLUDE: xs/Scan.xs

INCLUDE: xs/Snapshot.xs

INCLUDE: xs/Cursor.xs
INCLUDE: xs/Changes.xs

INCLUDE: xs/Cache.xs

INCLUDE: xs/Input.xs

INCLUDE: xs/Capture.xs

INCLUDE: xs/FlowStore.xs

INCLUDE: xs/Rows.xs

INCLUDE: xs/Reader.xs

INCLUDE: xs/Writer.xs
