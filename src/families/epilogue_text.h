/* epilogue_text.h: an epilogue as kernel text. It is one expression, in words that each dialect's prelude gives a meaning for its own
 * vectors or values (kernels/prelude/epilogue_cpu.h, epilogue_gpu.h). */
#ifndef KW_FAMILIES_EPILOGUE_TEXT_H
#define KW_FAMILIES_EPILOGUE_TEXT_H

#include "config/family.h"

/* The type of the result. */
kw_dtype kw_config_output(const kw_config *config);
/* Whether sums are more than stored: a step is done to them, or on a CPU zero points of w are taken off them. */
bool kw_epilogue_has_text(const kw_config *config);
/* Appends
 *     #define KW_EPILOGUE        1, or 0 where the sums are the result in its usual type
 *     #define KW_X_ZERO, KW_W_ZERO  1 where x, w has zero points; of a text that takes those of w off as it loads w KW_W_ZERO is 0 and
 *                                   KW_W_ZERO_LOADED 1
 *     #define KW_EPILOGUE_LONG   1 where a step is a function of many instructions
 *     #define KW_EPILOGUE_PLACED 1 where a step's tensor has a value for each channel or row, so that an element's number does not do
 *     #define KW_EPILOGUE_STEPS(v, F, ONE, CHANNEL, ROW, ALL) ...
 * a statement for each step, which changes v. F(name)(v, ...) is an activation; ONE, CHANNEL, ROW and ALL(type, number) are what the tensor
 * args.extra[number], of elements of this type (fp32 bf16 fp16 int8 int32), has for v, as its shape says. */
void kw_epilogue_emit(kw_text *text, const kw_config *config);
/* For GPUs appends KW_RESIDUAL, the number of the first tensor that has the result's shape and 16 bits, or -1; KW_RESIDUAL_TYPE; and
 * KW_EPILOGUE_OTHERS, how many others have values for each element or row; KW_EPILOGUE_CHANNEL_BYTES and KW_EPILOGUE_ROW_BYTES, of what
 * tensors have for one channel, and for one row. */
void kw_epilogue_emit_residual(kw_text *text, const kw_config *config);

#endif
