/* run_compiler.h: what the toolchains share whose compiler is a program: finding it (compiler.c) and running it once (run_compiler.c). */
#ifndef KW_JIT_TOOLCHAIN_RUN_COMPILER_H
#define KW_JIT_TOOLCHAIN_RUN_COMPILER_H

#include "jit/toolchain/toolchain.h"

/* Which program will do for a toolchain. */
typedef struct kw_choice {
    const char *const *usual; /* names looked for on PATH when none is wanted, the first that works is taken; ended by NULL */
    /* KW_OK when a compiler that answered will do for the code; target: what machine it said it makes code for. Fills in its linker. */
    kw_status (*accepts)(kw_compiler *compiler, const char *target, kw_code code, kw_error *err);
    const char *none; /* the error when no usual one is on PATH: what to install */
} kw_choice;

/* A toolchain's find(). */
kw_status kw_compiler_choose(kw_compiler *compiler, const char *wanted, const kw_choice *choice, kw_code code, kw_error *err);

/* How a compiler is called: LAUNCHER... PATH OPTIONS MACHINE -o OBJECT SOURCE, where each word of the machine options stands behind
 * machine_prefix; then, where there is a linker, LINKER... -o BLOB OBJECT. */
typedef struct kw_command {
    const char *const *launcher; /* ended by NULL; NULL: none, the compiler is a program */
    const char *machine_prefix;
    const char *const *linker; /* ended by NULL; NULL: none, what the compiler leaves is the blob */
} kw_command;

/* A toolchain's compile(). */
kw_status kw_run_compiler(const kw_compile *compile, const kw_command *command, kw_compile_result *result, kw_error *err);

#endif
