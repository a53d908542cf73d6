/* made_rows.h: rows of a sweep that never was, the same every time. A kernel's time is the analytic estimate of it times a factor that
 * its axes and the problem decide, which the estimate does not know and a model can learn, plus a little noise. */
#ifndef KW_TEST_MADE_ROWS_H
#define KW_TEST_MADE_ROWS_H

#include <kernelwright_tune.h>

extern const char made_target[];

typedef struct made_rows {
    kw_row *rows;
    size_t count;
    size_t good, slow, failed, unfit;
} made_rows;

/* Every kernel of set "tests" for x86-64-v4-bf16 on so many problems: forward, backward data and GEMM, fp32 and bf16. Ends the program
 * when it cannot. */
void made_rows_make(made_rows *made, int problems);
void made_rows_free(made_rows *made);
/* Adds rows first, first + step, ... to a store, made if missing. */
void made_rows_save(const made_rows *made, const char *path, size_t first, size_t step);

#endif
