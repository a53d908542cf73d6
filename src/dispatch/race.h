/* race.h: candidates are built side by side, verified, timed one against the other, and one of them is chosen. */
#ifndef KW_DISPATCH_RACE_H
#define KW_DISPATCH_RACE_H

#include "dispatch/field.h"

/* Races the first entrants of the field. choice gets the winner, the records and the story; verdict what wisdom is to remember, with
 * time_ns 0 when nothing could be measured (the estimate's best of those that load is then the winner). choice->loaded stays NULL when
 * no entrant could be used. The caller holds the measuring lock. */
kw_status kw_race_run(kw_choice *choice, kw_verdict *verdict, const kw_request *request, const kw_field *field, size_t entrants,
                      kw_error *err);

/* Which of count good records wins: times within the noise of the least are equal, and of equal ones the first by config text wins, so
 * that processes that measure the same kernels choose alike. floor is the least width of the noise band, a fraction; *noise (may be NULL)
 * gets the width used for the runner-up. count > 0. */
size_t kw_race_decide(const kw_record *const records[], size_t count, double floor, double *noise);

#endif
