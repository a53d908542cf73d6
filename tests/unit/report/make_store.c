/* make_store.c: a store of made-up rows for looking at a report: make_store PATH PROBLEMS [SPEED]. */
#include "made_up.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct filling {
    kw_store *store;
    kw_row *rows;
    size_t count;
    kw_error err;
} filling;

enum { TOGETHER = 512 };

static bool flush(filling *state) {
    bool good = kw_store_add(state->store, state->rows, state->count, NULL, &state->err) == KW_OK;
    state->count = 0;
    return good;
}

static bool take_run(void *user, const kw_run *run) {
    filling *state = user;
    return kw_store_add_run(state->store, run, &state->err) == KW_OK;
}

static bool take_row(void *user, const kw_row *row) {
    filling *state = user;
    state->rows[state->count++] = *row;
    return state->count < TOGETHER || flush(state);
}

int main(int count, char **words) {
    if (count < 3) {
        fprintf(stderr, "make_store PATH PROBLEMS [SPEED]\n");
        return 2;
    }
    filling state = {.rows = calloc(TOGETHER, sizeof *state.rows)};
    made_up what = {.problems = atoi(words[2]), .speed = count > 3 ? atof(words[3]) : 1};
    bool good = state.rows && kw_store_open(&state.store, words[1], KW_STORE_WRITE, &state.err) == KW_OK &&
                made_up_visit(&what, take_run, take_row, &state) && flush(&state);
    if (!good) {
        fprintf(stderr, "make_store: %s\n", state.err.text);
    }
    kw_store_close(&state.store);
    free(state.rows);
    return good ? 0 : 1;
}
