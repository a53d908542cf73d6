/* nvrtc_library.h: libnvrtc, found and bound at run time; a value. Once loaded it stays until the process ends. */
#ifndef KW_JIT_TOOLCHAIN_NVRTC_LIBRARY_H
#define KW_JIT_TOOLCHAIN_NVRTC_LIBRARY_H

#include "jit/jit.h"

typedef void *kw_nvrtc_program;

typedef struct kw_nvrtc {
    char path[512]; /* of the file, without links */
    int major, minor;
    int (*version)(int *major, int *minor);
    int (*arch_count)(int *count);
    int (*archs)(int archs[]);
    const char *(*error_name)(int result);
    int (*create)(kw_nvrtc_program *program, const char *source, const char *name, int headers, const char *const *texts,
                  const char *const *names);
    int (*compile)(kw_nvrtc_program program, int count, const char *const *options);
    int (*destroy)(kw_nvrtc_program *program);
    int (*log_size)(kw_nvrtc_program program, size_t *size);
    int (*log)(kw_nvrtc_program program, char *text);
    int (*cubin_size)(kw_nvrtc_program program, size_t *size);
    int (*cubin)(kw_nvrtc_program program, char *data);
} kw_nvrtc;

/* wanted: a path, a name, a folder, or NULL for KW_NVRTC, else the usual names and places. KW_ENVIRONMENT says how to get one. */
kw_status kw_nvrtc_open(kw_nvrtc *library, const char *wanted, kw_error *err);

typedef struct kw_nvrtc_job {
    const char *source, *name;
    const char *const *options;
    size_t option_count;
} kw_nvrtc_job;

/* KW_FAILED: the source was refused; messages has the log in any case. blob is on the heap. */
kw_status kw_nvrtc_compile(const kw_nvrtc *library, const kw_nvrtc_job *job, kw_blob *blob, kw_text *messages, kw_error *err);

#endif
