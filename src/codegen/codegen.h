/* codegen.h: config -> source. The source is one text, complete in itself and without system headers: the ABI, the prelude, the
 * config's kw_config.h part (axes as #defines and straight-line functions), the family's kernel file. */
#ifndef KW_CODEGEN_CODEGEN_H
#define KW_CODEGEN_CODEGEN_H

#include "config/config.h"

/* Appends the source of a generated family's config. KW_ILLEGAL for a compiled-in family, which has none. */
kw_status kw_codegen_source(kw_text *source, const kw_config *config, kw_error *err);
/* The machine options the source must be compiled with, blank-separated, e.g. "-march=x86-64-v4 -mprefer-vector-width=512". */
const char *kw_codegen_options(const kw_config *config);

/* Files of kernels/ that were compiled in by tools/embed.cmake; NULL when there is none of that name ("cpu/direct.c"). */
const char *kw_kernel_file(const char *name);

#endif
