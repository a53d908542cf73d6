/* hip.c: source -> AMD code object, by clang and the linker of the same LLVM, without ROCm: neither its headers nor its device library is
 * needed, because kernel text says everything by builtins (kernels/prelude/gpu_amd.h). The two run one after the other: a clang that has
 * the linker to run as well starts itself anew for the compile, a tenth of its time.
 *
 * The object is bare, without the bundle that would hold several architectures, so that its notes and code can be read as ELF. It is of
 * code object version 5, which ROCm 6 loads; what clang takes by itself differs from version to version. */
#include "jit/toolchain/hip.h"

#include "base/os/process/process.h"
#include "jit/toolchain/run_compiler.h"

#include <stdio.h>
#include <string.h>

/* The oldest clang that makes code for an architecture of which older ones have not heard. */
static const struct {
    const char *arch;
    int major;
} newer[] = {{"gfx950", 22}, {"gfx1250", 22}};
enum { OLDEST_MAJOR = 19 };

static const int64_t ask_limit_ns = 10000000000;

/* -S -Xclang -emit-obj: stop before the linker, with an object for it; -c would link. -fuse-cuid=none: no symbol with a name made from the
 * source's path, so that equal sources give equal objects. -munsafe-fp-atomics: fp32 sums go by the hardware's instruction, as device
 * memory allows, and not by a loop. -fno-vectorize -fno-slp-vectorize: kernel text says its vectors itself, and looking for more takes an
 * eleventh of a compile. */
static const char *const hip_options[] = {"-x",
                                          "hip",
                                          "--cuda-device-only",
                                          "-S",
                                          "-Xclang",
                                          "-emit-obj",
                                          "-nogpuinc",
                                          "-nogpulib",
                                          "-nostdinc",
                                          "--no-gpu-bundle-output",
                                          "-mcode-object-version=5",
                                          "-std=c++17",
                                          "-O3",
                                          "-fno-vectorize",
                                          "-fno-slp-vectorize",
                                          "-ffp-contract=fast",
                                          "-munsafe-fp-atomics",
                                          "-fuse-cuid=none",
                                          "-fno-exceptions",
                                          "-w",
                                          NULL};

static const char *const *hip_compiler_options(const kw_compiler *compiler) {
    (void)compiler;
    return hip_options;
}

static int needed_major(kw_code code) {
    for (size_t i = 0; i < sizeof newer / sizeof *newer; i++) {
        if (code.arch && !strcmp(newer[i].arch, code.arch->name)) {
            return newer[i].major;
        }
    }
    return OLDEST_MAJOR;
}

/* What the program prints of itself; "" when it does not answer. */
static kw_status answer_of(const char *const argv[], kw_text *answer, kw_error *err) {
    kw_process_result result;
    kw_status status = kw_process_run(argv, ask_limit_ns, answer, &result, err);
    if (!status && (result.timed_out || result.exit_code || answer->failed)) {
        kw_text_drop(answer);
    }
    return status;
}

/* The lld that clang finds, beside itself or else on PATH, where one of another version may stand that does not know its objects. */
static kw_status find_linker(kw_compiler *compiler, int major, kw_error *err) {
    const char *const where[] = {compiler->path, "-print-prog-name=lld", NULL};
    kw_text path = {0}, answer = {0};
    kw_word line = {0};
    kw_status status = answer_of(where, &path, err);
    if (!status && path.size) {
        snprintf(compiler->linker, sizeof compiler->linker, "%.*s", (int)strcspn(path.data, "\r\n"), path.data);
        const char *const version[] = {compiler->linker, "-flavor", "gnu", "--version", NULL};
        answer_of(version, &answer, NULL);
        kw_scan scan = kw_scan_string(kw_text_string(&answer));
        kw_scan_line(&scan, &line);
    }
    const char *digits = line.size ? memmem(line.at, line.size, "LLD ", 4) : NULL;
    kw_scan number = {digits ? digits + 4 : NULL, digits ? line.at + line.size : NULL};
    int64_t found = 0;
    if (!status && (!digits || !kw_scan_int(&number, 1, 999, &found) || found != major)) {
        status = kw_fail(err, KW_ENVIRONMENT, "compiler %s needs the lld of its own version, and finds %s; install it (apt install lld-%d)",
                         compiler->path, line.size ? kw_text_string(&answer) : "none", major);
    }
    kw_text_drop(&path);
    kw_text_drop(&answer);
    return status;
}

static kw_status for_amd(kw_compiler *compiler, const char *target, kw_code code, kw_error *err) {
    (void)target; /* where it runs; --offload-arch says what for */
    int needed = needed_major(code);
    int64_t major = 0;
    kw_scan scan = kw_scan_string(compiler->version);
    if (strcmp(compiler->kind, "clang") || !kw_scan_int(&scan, 1, 999, &major) || major < needed) {
        return kw_fail(err, KW_ENVIRONMENT, "compiler %s is %s %s; %s needs clang %d or newer (apt install clang-%d lld-%d)",
                       compiler->path, compiler->kind, compiler->version, code.arch ? code.arch->name : "an AMD GPU", needed, needed,
                       needed);
    }
    return find_linker(compiler, (int)major, err);
}

static kw_status hip_find(kw_compiler *compiler, const char *wanted, kw_code code, kw_error *err) {
    static const char *const usual[] = {"clang-22", "clang-21", "clang-20", "clang-19", "clang", NULL};
    static const kw_choice older = {.usual = usual,
                                    .accepts = for_amd,
                                    .none =
                                        "no compiler for AMD GPUs: no clang of version 19 or newer is on PATH; install one (apt install "
                                        "clang-19 lld-19)"};
    static const kw_choice latest = {.usual = usual,
                                     .accepts = for_amd,
                                     .none = "no compiler for this AMD GPU: no clang of version 22 or newer is on PATH; install one (apt "
                                             "install clang-22 lld-22)"};
    return kw_compiler_choose(compiler, wanted, needed_major(code) > OLDEST_MAJOR ? &latest : &older, code, err);
}

static kw_status hip_compile(const kw_compile *compile, kw_compile_result *result, kw_error *err) {
    const char *const linker[] = {compile->compiler->linker, "-flavor", "gnu", "-m", "elf64_amdgpu", "--no-undefined", "-shared", NULL};
    return kw_run_compiler(compile, &(kw_command){.machine_prefix = "--offload-arch=", .linker = linker}, result, err);
}

const kw_toolchain kw_hip_toolchain = {
    .name = "hip",
    .find = hip_find,
    .options = hip_compiler_options,
    .compile = hip_compile,
    .check = kw_hip_check,
    .facts = kw_hip_facts,
};
