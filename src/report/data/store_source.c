/* store_source.c: a ledger from a store's file. */
#include "report/data/report_data.h"

typedef struct reading {
    kw_ledger *ledger;
    bool good; /* there was memory for everything */
} reading;

static bool take_run(void *user, const kw_run *run) {
    reading *state = user;
    return state->good = kw_ledger_add_run(state->ledger, run);
}

static bool take_answer(void *user, const kw_row *row) {
    reading *state = user;
    return state->good = kw_ledger_add_answer(state->ledger, row);
}

static bool take_moment(void *user, const kw_row *row) {
    reading *state = user;
    return state->good = kw_ledger_add_moment(state->ledger, row);
}

kw_status kw_ledger_open(kw_ledger **ledger, const char *path, kw_error *err) {
    kw_store *store = NULL;
    kw_ledger *made = NULL;
    kw_status status = kw_store_open(&store, path, KW_STORE_READ, err);
    if (status) {
        return status;
    }
    status = kw_ledger_create(&made, kw_store_id(store), path, err);
    if (status) {
        goto out;
    }
    reading state = {made, true};
    status = kw_store_visit_runs(store, take_run, &state, err);
    if (!status && state.good) {
        status = kw_store_visit(store, &(kw_row_filter){.answers = true}, take_answer, &state, err);
    }
    if (!status && state.good) {
        status = kw_store_visit(store, &(kw_row_filter){0}, take_moment, &state, err);
    }
    if (!status && !state.good) {
        status = kw_fail_memory(err, "the report");
    }
    status = status ? status : kw_ledger_settle(made, err);
out:
    kw_store_close(&store);
    if (status) {
        kw_ledger_close(&made);
    } else {
        *ledger = made;
    }
    return status;
}
