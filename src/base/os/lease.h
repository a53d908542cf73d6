/* lease.h: one process at a time, of a user's, measures on a device: times of two that do so at once tell nothing of either.
 *
 * A file FOLDER/measuring-HASH.lock, HASH being that of the device's name, with a lock (flock) while somebody measures. The lock goes with its process,
 * however that ends; the file stays. Where there is no folder, or no locks, nobody waits: the spread of times is what is left then. */
#ifndef KW_BASE_OS_LEASE_H
#define KW_BASE_OS_LEASE_H

#include "base/os/settings.h"

/* Waits until the device is free, at most limit_ns or until the settings' stop is requested, and says so in the log. -1: without a lease. */
int kw_lease_take(const kw_settings *settings, const char *device, int64_t limit_ns);
/* Does nothing with -1. */
void kw_lease_give(int lease);

#endif
