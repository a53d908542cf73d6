/* clock.h: time. */
#ifndef KW_BASE_OS_CLOCK_H
#define KW_BASE_OS_CLOCK_H

#include <stdint.h>

/* Nanoseconds of the monotonic clock. */
int64_t kw_clock_ns(void);
/* Processor nanoseconds of the calling thread. */
int64_t kw_clock_thread_ns(void);
/* Today's date in UTC as "2026-11-21". */
void kw_clock_date(char text[11]);
/* The date so many days before today. */
void kw_clock_date_before(char text[11], int days);
/* The time of day in UTC as "2026-11-21T05:47:09Z". */
void kw_clock_time(char text[21]);

#endif
