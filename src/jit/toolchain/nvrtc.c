/* nvrtc.c: source -> CUBIN, by NVIDIA's run-time compiler, a library that is looked for when it is first needed. No GPU, no driver and no
 * header of a toolkit are needed.
 *
 * The library compiles one program at a time in a process, whatever the number of threads, and what goes wrong in it takes the process
 * along. So kwright compiles in a child: itself, by a hidden verb (nvrtc_child.c). A program of another name that uses the library
 * compiles inside its own process, unless KW_WORKER names a kwright. */
#include "jit/toolchain/nvrtc.h"

#include "base/os/clock.h"
#include "jit/toolchain/nvrtc_library.h"
#include "jit/toolchain/run_compiler.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 16, REGISTERS_MOST = 255 };

/* The log of -v has what spills; all else is chosen as for the other toolchains. From CUDA 12.9 on NVRTC keeps what it compiles in the
 * driver's cache, where there is a driver: a second store of what ours has already, which costs up to a compile to open. --minimal leaves
 * out declarations that no kernel has a use for, textures and the runtime's functions. */
#define COMMON_OPTIONS "--std=c++17", "--ptxas-options=-v", "--fmad=true", "--disable-warnings"
static const char *const older_options[] = {COMMON_OPTIONS, NULL};
static const char *const newer_options[] = {COMMON_OPTIONS, "--no-cache", "--minimal", NULL};

static const char *const *nvrtc_options(const kw_compiler *compiler) {
    int major = 0, minor = 0;
    sscanf(compiler->version, "%d.%d", &major, &minor);
    return major > 12 || (major == 12 && minor >= 9) ? newer_options : older_options;
}

/* --- finding ------------------------------------------------------------------------------------------------------ */

/* "sm_90" among 75 80 86 ... */
static kw_status check_nvrtc_arch(const kw_nvrtc *library, kw_code code, kw_error *err) {
    int count = 0, archs[64];
    const char *digits = code.arch && !strncmp(code.arch->name, "sm_", 3) ? code.arch->name + 3 : NULL;
    if (!digits || library->arch_count(&count) || count < 1 || count > 64 || library->archs(archs)) {
        return KW_OK; /* the first compile will tell */
    }
    for (int i = 0; i < count; i++) {
        if (archs[i] == atoi(digits)) {
            return KW_OK;
        }
    }
    return kw_fail(err, KW_ENVIRONMENT, "NVRTC %d.%d (%s) does not know %s, its architectures are %d to %d; use a CUDA toolkit that does",
                   library->major, library->minor, library->path, code.arch->name, archs[0], archs[count - 1]);
}

static kw_status nvrtc_find(kw_compiler *compiler, const char *wanted, kw_code code, kw_error *err) {
    kw_nvrtc library;
    struct stat info;
    *compiler = (kw_compiler){0};
    kw_status status = kw_nvrtc_open(&library, wanted, err);
    status = status ? status : check_nvrtc_arch(&library, code, err);
    if (status) {
        return status;
    }
    if (stat(library.path, &info)) {
        return kw_fail(err, KW_ENVIRONMENT, "the file of NVRTC, %.200s, cannot be examined; name the library by its path", library.path);
    }
    snprintf(compiler->path, sizeof compiler->path, "%s", library.path);
    snprintf(compiler->kind, sizeof compiler->kind, "nvrtc");
    snprintf(compiler->version, sizeof compiler->version, "%d.%d", library.major, library.minor);
    compiler->size = (int64_t)info.st_size;
    compiler->time = (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec;
    snprintf(compiler->identity, sizeof compiler->identity, "nvrtc %s size=%lld time=%lld", compiler->version, (long long)compiler->size,
             (long long)compiler->time);
    return KW_OK;
}

/* --- what a blob says --------------------------------------------------------------------------------------------- */

static kw_status check_cubin(const kw_blob *blob, kw_error *err) {
    kw_cubin cubin;
    return kw_cubin_read(&cubin, blob, err);
}

static kw_status read_facts(kw_blob_facts *facts, const kw_blob *blob, kw_error *err) {
    kw_cubin cubin;
    kw_status status = kw_cubin_read(&cubin, blob, err);
    *facts = (kw_blob_facts){.spill_bytes = cubin.spill_bytes};
    for (int i = 0; i < KW_STAGE_MAX; i++) {
        const kw_cubin_stage *stage = &cubin.stage[i];
        int32_t lds = stage->fixed_lds <= INT32_MAX - stage->requested_lds ? stage->fixed_lds + stage->requested_lds : INT32_MAX;
        facts->registers = stage->registers > facts->registers ? stage->registers : facts->registers;
        facts->scratch = stage->stack > facts->scratch ? stage->stack : facts->scratch;
        facts->lds = lds > facts->lds ? lds : facts->lds;
    }
    return status;
}

/* --- compiling ---------------------------------------------------------------------------------------------------- */

/* A program whose hidden verb compiles; false when there is none. */
static bool find_program(char path[PATH_MAX]) {
    const char *named = secure_getenv("KW_WORKER");
    if (named && *named) {
        return snprintf(path, PATH_MAX, "%s", named) < PATH_MAX;
    }
    ssize_t size = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[size > 0 ? size : 0] = 0;
    const char *name = strrchr(path, '/');
    if (!name || strncmp(name, "/kwright", 8)) {
        return false;
    }
    snprintf(path, PATH_MAX, "/proc/self/exe"); /* the very file that runs, also when its name was given to another since */
    return true;
}

/* The most that "N bytes spill stores, M bytes spill loads" say; 0 when nothing spills. */
static int32_t read_spills(const char *log) {
    static const char words[] = " bytes spill ";
    int32_t most = 0;
    for (const char *at = strstr(log, words); at; at = strstr(at + 1, words)) {
        const char *start = at;
        while (start > log && start[-1] >= '0' && start[-1] <= '9') {
            start--;
        }
        long bytes = strtol(start, NULL, 10);
        most = bytes > most && bytes <= INT32_MAX ? (int32_t)bytes : most;
    }
    return most;
}

static kw_status compile_here(const kw_compile *compile, kw_compile_result *result, kw_error *err) {
    const char *options[ARGUMENTS_MAX];
    char arch[64];
    size_t count = 0;
    kw_nvrtc library;
    *result = (kw_compile_result){0};
    kw_status status = kw_nvrtc_open(&library, compile->compiler->path, err);
    if (status) {
        return status;
    }
    for (const char *const *option = nvrtc_options(compile->compiler); *option; option++) {
        options[count++] = *option;
    }
    snprintf(arch, sizeof arch, "--gpu-architecture=%s", compile->machine);
    options[count++] = arch;
    kw_text_add(&result->command, "nvrtc");
    for (size_t i = 0; i < count; i++) {
        kw_text_addf(&result->command, " %s", options[i]);
    }
    kw_text_addf(&result->command, " %s", compile->name);
    const kw_nvrtc_job job = {.source = compile->source, .name = compile->name, .options = options, .option_count = count};
    int64_t start = kw_clock_thread_ns();
    status = kw_nvrtc_compile(&library, &job, &result->blob, &result->messages, err);
    result->cpu_ns = kw_clock_thread_ns() - start;
    return status;
}

static kw_status compile_once(const kw_compile *compile, kw_compile_result *result, kw_error *err) {
    char program[PATH_MAX];
    const char *const launcher[] = {program, "nvrtc", NULL};
    kw_status status =
        find_program(program)
            ? kw_run_compiler(compile, &(kw_command){.launcher = launcher, .machine_prefix = "--gpu-architecture="}, result, err)
            : compile_here(compile, result, err);
    status = status ? status : kw_cubin_note_spills(&result->blob, read_spills(kw_text_string(&result->messages)), err);
    if (status) {
        kw_blob_drop(&result->blob);
    }
    return status;
}

/* Whether registers are kept in memory though a thread might have more of them. */
static bool spills_for_room(const kw_blob *blob) {
    kw_blob_facts facts;
    return !read_facts(&facts, blob, NULL) && facts.spill_bytes > 0 && facts.registers < REGISTERS_MOST;
}

/* The same with all registers that a thread may have. What is wrong with it is no fault of the kernel, which is there already. */
static void compile_roomy(const kw_compile *compile, kw_compile_result *result) {
    kw_text source = {0};
    kw_compile_result second = {0};
    kw_blob_facts before, after;
    kw_text_addf(&source, "#define KW_LEAST_BLOCKS 1\n%.*s", (int)compile->size, compile->source);
    kw_compile roomy = *compile;
    roomy.source = source.data;
    roomy.size = source.size;
    if (!source.failed && compile->size < INT32_MAX && !compile_once(&roomy, &second, NULL) && !read_facts(&before, &result->blob, NULL) &&
        !read_facts(&after, &second.blob, NULL) && after.spill_bytes < before.spill_bytes) {
        kw_blob first = result->blob;
        result->blob = second.blob;
        second.blob = first;
    }
    result->cpu_ns += second.cpu_ns;
    kw_compile_result_drop(&second);
    kw_text_drop(&source);
}

static kw_status nvrtc_compile(const kw_compile *compile, kw_compile_result *result, kw_error *err) {
    kw_status status = compile_once(compile, result, err);
    if (!status && spills_for_room(&result->blob)) {
        compile_roomy(compile, result);
    }
    return status;
}

const kw_toolchain kw_nvrtc_toolchain = {
    .name = "nvrtc",
    .find = nvrtc_find,
    .options = nvrtc_options,
    .compile = nvrtc_compile,
    .check = check_cubin,
    .facts = read_facts,
};
