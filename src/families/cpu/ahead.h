/* ahead.h: what CPU kernels are handed that is compiled with the library (kernels/cpu/ahead/ahead.h). */
#ifndef KW_FAMILIES_CPU_AHEAD_H
#define KW_FAMILIES_CPU_AHEAD_H

extern const struct kw_ahead kw_cpu_ahead;

#endif
