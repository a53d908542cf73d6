/* rates.h: the rates of a CPU target (problem/target/rates.h), measured in about a second and kept in the user's data folder.
 *
 * The file is "rates.txt": a first line "# kernelwright rates 1", then one line a machine: architecture and processor model, then the
 * rates as text. KW_CPU_ARCH makes another architecture, so another machine with rates of its own. A line of another form means nothing
 * and is kept. */
#ifndef KW_MEASURE_RATES_RATES_H
#define KW_MEASURE_RATES_RATES_H

#include "base/os/settings.h"
#include "problem/target/target.h"

/* Measures what the architecture of the target has; target->rates gets it. Only on the CPU that the target is of. */
void kw_rates_measure(kw_target *target);
/* Gives the target what is kept of it; false: nothing is, or there is no data folder. */
bool kw_rates_recall(kw_target *target, const kw_settings *settings);
/* Keeps target->rates; where that cannot be, err says why. */
kw_status kw_rates_keep(const kw_target *target, const kw_settings *settings, kw_error *err);
/* Measures them, raises what is kept by them and keeps that; the log tells why it was not kept. Nothing for a GPU. */
void kw_rates_renew(kw_target *target, const kw_settings *settings);

#endif
