/* source.h: config -> source. The source is one text, complete in itself and without system headers: the family's kernel file, in which
 * #include "kw_config.h" stands for the ABI, the prelude of the dialect and the config's own part (axes as #defines and straight-line
 * functions). */
#ifndef KW_FAMILIES_SOURCE_H
#define KW_FAMILIES_SOURCE_H

#include "config/config.h"
#include "config/arch/gpu_arch.h"

/* What source is made for; a value. Zeroed: this machine's CPU. */
typedef struct kw_code {
    kw_dialect dialect;
    const kw_gpu_arch *arch; /* NULL for KW_DIALECT_CPU */
} kw_code;

/* Whether its blobs run on this machine's CPU, so that the C compiler makes them: kernels for a CPU and those that play a GPU. */
bool kw_code_is_for_host(kw_code code);

/* For a target's backend and architecture. KW_MISSING names the architectures that the backend has. */
kw_status kw_code_for(kw_code *code, kw_backend_id backend, const char *arch, kw_error *err);

/* Appends the source of a generated family's config. Kernel texts are those compiled in or, with the environment variable KW_KERNELS,
 * those of that folder, read at each call. KW_ILLEGAL for a compiled-in family, which has none, and where family and dialect do not go
 * together; KW_MISSING or KW_IO for a kernel text that is not there. */
kw_status kw_source_make(kw_text *source, const kw_config *config, kw_code code, kw_error *err);
/* The machine options the source must be compiled with, blank-separated, e.g. "-march=x86-64-v4 -mprefer-vector-width=512"; on a GPU the
 * architecture as the toolchain is told it, e.g. "gfx942"; none for the emulator. */
const char *kw_source_options(const kw_config *config, kw_code code);

/* Files of kernels/ that were compiled in by cmake/embed.cmake; NULL when there is none of that name ("cpu/direct/direct.c"). */
const char *kw_kernel_file(const char *name);
/* Appends such a file and what it includes. KW_MISSING when it is not there. */
kw_status kw_source_add_file(kw_text *source, const char *name, kw_error *err);

#endif
