/* cpu.h: the pieces of the CPU backend. */
#ifndef KW_BACKEND_CPU_CPU_H
#define KW_BACKEND_CPU_CPU_H

#include "backend/backend.h"

extern const kw_backend kw_cpu_backend;

/* Maps a blob and finds kw_stage0, kw_stage1, ... up to the first that is missing (NULL from there on). *handle ends with kw_cpu_unload. */
kw_status kw_cpu_load(void **handle, kw_kernel_stage *stage[KW_STAGE_MAX], const kw_blob *blob, kw_error *err);
void kw_cpu_unload(void **handle);

/* Memory on 64 bytes; from 2 MiB on in huge pages where there are any, and touched, so that no timing pays for first use. */
kw_status kw_cpu_alloc(void **memory, size_t size, kw_error *err);

#endif
