/* report_data_open.c: report data from a store's file. */
#include "report/data/report_data.h"

typedef struct reading {
    kw_report_data *report_data;
    bool good; /* there was memory for everything */
} reading;

static bool add_store_run(void *user, const kw_run *run) {
    reading *state = user;
    return state->good = kw_report_data_add_run(state->report_data, run);
}

static bool add_answer_row(void *user, const kw_row *row) {
    reading *state = user;
    return state->good = kw_report_data_add_answer(state->report_data, row);
}

static bool add_any_row(void *user, const kw_row *row) {
    reading *state = user;
    return state->good = kw_report_data_add_row(state->report_data, row);
}

kw_status kw_report_data_open(kw_report_data **report_data, const char *path, kw_error *err) {
    kw_store *store = NULL;
    kw_report_data *made = NULL;
    kw_status status = kw_store_open(&store, path, KW_STORE_READ, err);
    if (status) {
        return status;
    }
    status = kw_report_data_create(&made, kw_store_id(store), path, err);
    if (status) {
        goto out;
    }
    reading state = {made, true};
    status = kw_store_visit_runs(store, add_store_run, &state, err);
    if (!status && state.good) {
        status = kw_store_visit(store, &(kw_row_filter){.size = sizeof(kw_row_filter), .answers = true}, add_answer_row, &state, err);
    }
    if (!status && state.good) {
        status = kw_store_visit(store, &(kw_row_filter){.size = sizeof(kw_row_filter)}, add_any_row, &state, err);
    }
    if (!status && !state.good) {
        status = kw_fail_memory(err, "the report");
    }
    status = status ? status : kw_report_data_finish(made, err);
out:
    kw_store_close(&store);
    if (status) {
        kw_report_data_close(&made);
    } else {
        *report_data = made;
    }
    return status;
}
