/* defines.h: what every GPU kernel text is told of its config and architecture. */
#ifndef KW_FAMILIES_GPU_DEFINES_H
#define KW_FAMILIES_GPU_DEFINES_H

#include "families/source.h"

/* Appends the #defines that stand before the prelude; kernels/prelude/gpu.h lists them. */
void kw_gpu_defines(kw_text *text, const kw_config *config, kw_code code);

/* Whether the text's first kernel is that of gpu/lib/turn.h. */
bool kw_gpu_turns(const kw_config *config);

/* The emit() of families whose text needs no more than its axes. */
void kw_gpu_emit_nothing(const kw_config *config, kw_text *text);

#endif
