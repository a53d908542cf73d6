/* tie.h: which of several measured kernels wins when some are equally fast. */
#ifndef KW_DISPATCH_TIE_H
#define KW_DISPATCH_TIE_H

#include "base/status.h"

enum { KW_TIE_MAX = 6 };

/* Which of count good records (1 to KW_TIE_MAX) wins: times within the noise of the least are equal, and of equal ones the first by
 * config text wins, so that processes that measure the same kernels choose alike. floor is the least width of the noise band, a fraction;
 * *noise (may be NULL) gets the width used. */
size_t kw_tie_decide(const kw_record *const records[], size_t count, double floor, double *noise);

#endif
