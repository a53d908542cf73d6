/* stop.c: kw_stop (kernelwright/status.h). Release and acquire, so that who sees the request also sees what was written before it. */
#include <kernelwright.h>

#include <stdatomic.h>
#include <stddef.h>

_Static_assert(sizeof(kw_stop) == sizeof(int) && _Alignof(kw_stop) == _Alignof(int), "C++ sees a plain int");
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "a signal handler must not wait for a lock");

void kw_stop_request(kw_stop *stop) {
    atomic_store_explicit(&stop->requested, 1, memory_order_release);
}

bool kw_stop_requested(const kw_stop *stop) {
    return stop && atomic_load_explicit(&stop->requested, memory_order_acquire);
}
