/* machine_change.c: least and most of what kernels changed by. */
#include "measure/machine_change.h"

#include <math.h>

double kw_machine_change(const double before_ns[], const kw_record now[], size_t count) {
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < count; i++) {
        if (before_ns[i] > 0 && now[i].outcome == KW_GOOD && now[i].samples > 0) {
            least = fmin(least, now[i].time_ns / before_ns[i]);
            most = fmax(most, now[i].time_ns / before_ns[i]);
        }
    }
    return most < 1 && most > 0 ? most : least > 1 && least < INFINITY ? least : 1;
}

void kw_record_scale(kw_record *record, double by) {
    double *times[] = {&record->time_ns,  &record->spread_ns, &record->median_ns, &record->mad_ns,
                       &record->least_ns, record->half_ns,    record->half_ns + 1};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        *times[i] *= by;
    }
}

void kw_record_keep_behind(kw_record records[], size_t count, double best_ns) {
    for (size_t i = 0; i < count; i++) {
        if (records[i].time_ns > 0 && records[i].time_ns < best_ns) {
            kw_record_scale(&records[i], best_ns / records[i].time_ns);
        }
    }
}
