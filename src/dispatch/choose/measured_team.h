/* measured_team.h: how many threads of a CPU a kernel runs on, chosen as the kernel is: measured, and remembered with it in wisdom. */
#ifndef KW_DISPATCH_CHOOSE_MEASURED_TEAM_H
#define KW_DISPATCH_CHOOSE_MEASURED_TEAM_H

#include "dispatch/choose/request.h"
#include "measure/measure.h"

/* Times the winner, which takes time_ns, on fewer and on more threads than config/launch/team.h gives it, and sets choice->launch.team and
 * value->threads to the best of them. Leaves both 0 where there is nothing to choose from. KW_OK but where the device is lost. */
kw_status kw_measure_team(kw_choice *choice, kw_wisdom_value *value, const kw_request *request, kw_bench *bench, double time_ns,
                          kw_error *err);

#endif
