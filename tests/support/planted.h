/* planted.h: kernel texts of its own for one test, with a fault planted in them, and a kernel of them verified, played on emu:sm_90 or on another device. */
#ifndef KW_TESTS_PLANTED_H
#define KW_TESTS_PLANTED_H

#include "measure/measure.h"
#include "support/scratch.h"

typedef struct planted {
    char folder[SCRATCH_MAX], kernels[2 * SCRATCH_MAX];
} planted;

/* Copies the kernel texts and has KW_KERNELS name the copy until planted_close(). */
void planted_open(planted *texts);
void planted_close(planted *texts);
/* The first place of text in a file of the copy becomes other; a file without it ends the test, for then the fault is none. */
void planted_change(const planted *texts, const char *file, const char *text, const char *other);
/* Skip the test where no compiler is found. */
void planted_verify(const char *config_text, const char *problem_text, kw_record *record);
void planted_verify_on(const char *device_name, const char *config_text, const char *problem_text, kw_record *record);

/* A kernel and a problem that it is played on. */
typedef struct planted_pair {
    const char *config, *problem;
} planted_pair;

/* In a file, text becomes other; wrong has a bit for each pair that is wrong then, and no other is played. 0: no fault, and all are right. */
typedef struct planted_fault {
    const char *file, *text, *other;
    unsigned wrong;
} planted_fault;

/* Plants one after the other, and fails unless all are found by the pairs that they name. units: multiprocessors of the emulated GPU. */
void planted_find(const planted_fault faults[], size_t fault_count, const planted_pair pairs[], size_t pair_count, const char *units);

#endif
