/* fake_family.h: a small generated family, so that compiler, cache and device can be tested without a real one. Its kernels work on
 * arrays of count = args->params.word[0] integers in three stages, which only give the right answer when barriers hold between them:
 *   packed[i] = w[i] * value;  shared[i] = packed[count - 1 - i] + x[i];  y[i] = shared[(i + 7) % count] */
#ifndef KW_TESTS_FAKE_FAMILY_H
#define KW_TESTS_FAKE_FAMILY_H

#include "config/family.h"

extern _Atomic int fake_emitted; /* how often a source was made */
extern const kw_family fake_family, fake_builtin_family;

/* What the text of the kernel is like. */
enum { FAKE_GOOD = 0, FAKE_SYNTAX_ERROR, FAKE_UNRESOLVED, FAKE_NO_STAGE };

kw_config fake_config(int value, int text);
kw_launch fake_launch(int64_t count);
int32_t fake_expected(const int32_t *x, const int32_t *w, int64_t count, int64_t i, int value);

#endif
