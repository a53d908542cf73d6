/* kernelwright.h: the run-time library. A user names a problem, opens a context on a device, makes a plan and runs it. One header a subject,
 * in the order in which they need each other; each may be included alone.
 *
 * Shapes and units: sizes are counts of elements, memory sizes are bytes, times are nanoseconds. C and K of a
 * convolution are totals over all groups. Three tensors keep their names in every direction: x is the input side, w the
 * filter, y the output side; the operation says which one is written (forward: y, backward data: x, backward weight: w).
 * A GEMM uses x = A, w = B, y = C.
 *
 * Errors: every function that can fail returns a kw_status and, where err is not NULL, fills it with one line that names
 * the offending value, the rule and the way out. Nothing aborts. Pointers that are handed out live as long as the handle
 * they came from, unless said otherwise. No function changes global state; all functions may be called from many threads
 * on different handles. Which calls may share a handle is said at the handle.
 *
 * Sizes of structs: one that the caller makes begins with its size, as the caller's header has it,
 *     kw_plan_options options = {.size = sizeof options, .mode = KW_FROZEN};        (C++: options = {sizeof options}; options.mode = ...)
 * and a member that is zero asks for its default. Later releases add members at the end, so a program that was compiled against an older
 * header runs as before. A size that no header gives, and one from a newer header with a member set that the library does not know, are
 * KW_ILLEGAL. A struct without a size is a value that never grows, or the library makes it and lends it.
 */
#ifndef KERNELWRIGHT_H
#define KERNELWRIGHT_H

#include "kernelwright/version.h"
#include "kernelwright/status.h"
#include "kernelwright/types.h"
#include "kernelwright/epilogue.h"
#include "kernelwright/problem.h"
#include "kernelwright/record.h"
#include "kernelwright/context.h"
#include "kernelwright/registry.h"
#include "kernelwright/plan.h"
#include "kernelwright/packed.h"
#include "kernelwright/explanation.h"
#include "kernelwright/prediction.h"
#include "kernelwright/measuring.h"
#include "kernelwright/wisdom.h"

#endif
