/* cc.c: source -> shared object, by gcc or clang. memcpy and memset, which a compiler may call on its own, resolve in the process that
 * loads the kernel.
 *
 * The options are chosen for the compile's own cost, since kernel text is straight-line C that needs little optimising. With gcc,
 * -fexpensive-optimizations on top of -O1 makes kernels as fast as -O2 does (plain -O1: up to 2.5 times slower, depthwise) for 0.64 of its
 * time. What cleans up after others, hoists a second time or follows pointers costs a fifth of that and gains nothing; leaving out
 * all constant propagation, guesses of branches or registers by regions slows some kernels. With clang, -O1 and -O2 give equal kernels.
 * -nostdlib saves the linking of libraries. bench/jit.c and docs/results/2026-11-23/bench-jit.md have the figures. */
#include "jit/toolchain/cc.h"

#include "jit/toolchain/run_compiler.h"

#include <stdlib.h>
#include <string.h>

/* What distributions switch on by default and a kernel has no use for (stack protector, branch protection, unwind tables) is switched off
 * by name. noseparate-code makes the object a third of its size. */
#define COMMON_OPTIONS                                                                                                                     \
    "-std=gnu11", "-w", "-pipe", "-shared", "-fPIC", "-nostdlib", "-fvisibility=hidden", "-fno-math-errno", "-fno-trapping-math",          \
        "-ffp-contract=fast", "-fno-stack-protector", "-fno-asynchronous-unwind-tables", "-fcf-protection=none",                           \
        "-Wl,-z,noseparate-code,--build-id=none"

#define GCC_OPTIONS "-O1", "-fexpensive-optimizations", "-fno-tree-dominator-opts", "-fno-thread-jumps", "-fno-tree-bit-ccp"
static const char *const old_gcc_options[] = {GCC_OPTIONS, COMMON_OPTIONS, NULL};
/* Older ones do not know all of these. */
static const char *const gcc_options[] = {GCC_OPTIONS,
                                          "-fno-tree-pta",
                                          "-fno-tree-dse",
                                          "-fno-tree-sink",
                                          "-fno-tree-scev-cprop",
                                          "-fno-tree-loop-ivcanon",
                                          "-fno-ivopts",
                                          "-fno-tree-phiprop",
                                          "-fno-tree-copy-prop",
                                          "-fno-tree-builtin-call-dce",
                                          "-fno-ssa-backprop",
                                          "-fno-split-wide-types",
                                          "-fno-ipa-profile",
                                          "-fno-ipa-reference",
                                          "-fno-ipa-reference-addressable",
                                          "-fno-ipa-modref",
                                          "-fno-ipa-pure-const",
                                          "-fno-forward-propagate",
                                          "-fno-move-loop-invariants",
                                          "--param=max-combine-insns=2",
                                          "-fno-dse",
                                          "-fno-dce",
                                          "-fno-cprop-registers",
                                          "-fno-compare-elim",
                                          "-fno-combine-stack-adjustments",
                                          "-fno-defer-pop",
                                          "-fno-shrink-wrap",
                                          "-fno-tree-sra",
                                          "-fira-region=one",
                                          COMMON_OPTIONS,
                                          NULL};
static const char *const clang_options[] = {"-O1", COMMON_OPTIONS, NULL};

/* What plays a GPU is not optimised: the time goes into the operations that the library does for it, and most kernels run for less time
 * than they take to compile (-O1: twice the compile, a quarter less of the run). Accesses to memory call functions of the text itself
 * (kernels/prelude/gpu_emu.h), not of a sanitizer; clang without optimising would copy structs by memcpy and call none. Reports name
 * lines, which -g1 tells, and the lines that called them. Variables begin as a pattern, a huge number, so that one that is used before it
 * is set is not taken for zero; gcc can do so from version 12 on. Functions do not tell that they begin and end: nobody asks. */
#define EMU_OPTIONS "-g1", "-gdwarf-4", "-fsanitize=thread", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-fms-extensions"
#define EMU_PATTERN "-ftrivial-auto-var-init=pattern"
static const char *const emu_gcc_options[] = {"-O0",       EMU_PATTERN,    "--param=tsan-instrument-func-entry-exit=0",
                                              EMU_OPTIONS, COMMON_OPTIONS, NULL};
static const char *const emu_old_gcc_options[] = {"-O0", EMU_OPTIONS, COMMON_OPTIONS, NULL};
static const char *const emu_clang_options[] = {"-O1",       "-fno-inline",  EMU_PATTERN, "-mllvm", "-tsan-instrument-func-entry-exit=0",
                                                EMU_OPTIONS, COMMON_OPTIONS, NULL};

const char *const *kw_compiler_options(const kw_compiler *compiler) {
    enum { KNOWS_ALL = 12 };
    bool clang = !strcmp(compiler->kind, "clang"), old = strtol(compiler->version, NULL, 10) < KNOWS_ALL;
    if (compiler->toolchain == &kw_emu_toolchain) {
        return clang ? emu_clang_options : old ? emu_old_gcc_options : emu_gcc_options;
    }
    return clang ? clang_options : old ? old_gcc_options : gcc_options;
}

#if defined __x86_64__
static const char own_machine[] = "x86_64";
#elif defined __aarch64__
static const char own_machine[] = "aarch64";
#else
static const char own_machine[] = "";
#endif

static kw_status for_this_machine(kw_compiler *compiler, const char *target, kw_code code, kw_error *err) {
    (void)code; /* any C compiler for this machine */
    if (strncmp(target, own_machine, strlen(own_machine))) {
        return kw_fail(err, KW_ENVIRONMENT, "compiler %s makes code for %s, not for this machine (%s); name another one", compiler->path,
                       target, own_machine);
    }
    return KW_OK;
}

kw_status kw_cc_find(kw_compiler *compiler, const char *wanted, kw_code code, kw_error *err) {
    static const char *const usual[] = {"gcc", "clang", "cc", NULL};
    static const kw_choice choice = {.usual = usual,
                                     .accepts = for_this_machine,
                                     .none = "no compiler: none of gcc, clang, cc is on PATH; install one (apt install gcc)"};
    return kw_compiler_choose(compiler, wanted, &choice, code, err);
}

kw_status kw_compile_run(const kw_compile *compile, kw_compile_result *result, kw_error *err) {
    return kw_run_compiler(compile, &(kw_command){.machine_prefix = ""}, result, err);
}

const kw_toolchain kw_cc_toolchain = {
    .name = "cc",
    .find = kw_cc_find,
    .options = kw_compiler_options,
    .compile = kw_compile_run,
    .check = kw_blob_check,
};

const kw_toolchain kw_emu_toolchain = {
    .name = "emu",
    .find = kw_cc_find,
    .options = kw_compiler_options,
    .compile = kw_compile_run,
    .check = kw_blob_check,
};
