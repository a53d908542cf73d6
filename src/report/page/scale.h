/* scale.h: the ticks of an axis. Internal to this folder. */
#ifndef KW_REPORT_PAGE_SCALE_H
#define KW_REPORT_PAGE_SCALE_H

#include "report/page/svg.h"

enum { KW_TICKS_MAX = 32 };

typedef struct kw_tick {
    double value;
    bool labelled;
} kw_tick;

/* Makes low and high finite, ascending and, on a logarithmic axis, positive. */
void kw_scale_sanitize(kw_svg_axis *axis);
/* Round values within a mended axis; how many there are, at most KW_TICKS_MAX. room: how many labels fit. */
int kw_scale_ticks(kw_tick ticks[KW_TICKS_MAX], const kw_svg_axis *axis, int room);
/* Where a value lies between low (0) and high (1), clamped; negative when it cannot be shown. */
double kw_scale_map(const kw_svg_axis *axis, double value);

#endif
