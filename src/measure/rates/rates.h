/* rates.h: the rates of a CPU target (problem/target/rates.h), measured once and kept in the user's data folder.
 *
 * The file is "rates.txt": a first line "# kernelwright rates 1", then one line a machine: architecture and processor model, then the
 * rates as text, and behind "looks=" how often they were measured, where it was more than once. KW_CPU_ARCH makes another architecture, so
 * another machine with rates of its own, but for levels of memory, which are the processor model's. A line of another form means nothing
 * and is kept. */
#ifndef KW_MEASURE_RATES_RATES_H
#define KW_MEASURE_RATES_RATES_H

#include "base/os/settings.h"
#include "problem/target/target.h"

/* What is measured: all, in about a second; or instructions and caches alone, in a fifth of one and 64 MB of memory at most. */
typedef enum kw_rates_part { KW_RATES_ALL, KW_RATES_CORE } kw_rates_part;

/* Measures what the architecture of the target has; target->rates gets it, and 0 for what was left out. Only on the CPU that the target is of. */
void kw_rates_measure(kw_target *target, kw_rates_part part);
/* First choices measure a machine so often, a minute apart at least: it may be busy, and one look then would stand for ever. */
enum { KW_RATES_LOOKS = 3 };
/* Gives the target what is kept of it, and says how often it was measured; 0: nothing is kept, there is no data folder, or the settings want
 * the usual ones. */
int kw_rates_recall(kw_target *target, const kw_settings *settings);
/* Keeps target->rates as one look more; where that cannot be, err says why. */
kw_status kw_rates_keep(const kw_target *target, const kw_settings *settings, kw_error *err);
/* Measures all of them, raises what is kept by them and keeps that; the log tells why it was not kept. Nothing for a GPU. */
void kw_rates_renew(kw_target *target, const kw_settings *settings);
/* For a choice on a machine that was looked at less than KW_RATES_LOOKS times: what another process keeps by now; and where that is nothing,
 * or older than a minute, instructions and caches are measured, and what is kept is raised by them. */
void kw_rates_learn(kw_target *target, const kw_settings *settings);

#endif
