/* made_up_ledger.c: rows straight into a ledger. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "made_up_ledger.h"

bool made_up_take_run(void *user, const kw_run *run) {
    return kw_ledger_add_run(user, run);
}

bool made_up_take_row(void *user, const kw_row *row) {
    return kw_ledger_add_answer(user, row) && kw_ledger_add_moment(user, row);
}

kw_ledger *made_up_ledger(const made_up *what) {
    kw_ledger *ledger = NULL;
    assert_int_equal(kw_ledger_create(&ledger, "0123456789abcdef0123456789abcdef", "results.db", NULL), KW_OK);
    assert_true(made_up_visit(what, made_up_take_run, made_up_take_row, ledger));
    assert_int_equal(kw_ledger_settle(ledger, NULL), KW_OK);
    return ledger;
}
