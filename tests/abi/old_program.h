/* old_program.h: what test_old_program.c asks of a program that was compiled against an older header. */
#ifndef KW_ABI_OLD_PROGRAM_H
#define KW_ABI_OLD_PROGRAM_H

#include <stddef.h>

/* Plans and runs a product in the folder. NULL: its result is right; else one line that says what went wrong. */
const char *old_program_run(const char *folder);
/* Its size of the values that never grow. */
size_t old_program_problem_size(void);
size_t old_program_error_size(void);

#endif
