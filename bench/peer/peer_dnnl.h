/* peer_dnnl.h: oneDNN as a peer of the CPU benchmarks, 2.x or 3.x, whichever it is built against. Tensors are ours, channels-last or as a
 * GEMM's layout says; the weights, read or written, are in an order of oneDNN's own choice, into which they are brought beforehand. */
#ifndef KW_BENCH_PEER_DNNL_H
#define KW_BENCH_PEER_DNNL_H

#include <kernelwright.h>

typedef struct peer_dnnl peer_dnnl;

/* The result goes to result, which has room for the tensor that the problem writes; the two others are read from tensors. */
kw_status peer_dnnl_open(peer_dnnl **peer, const kw_problem *problem, const kw_tensors *tensors, void *result, kw_error *err);
void peer_dnnl_close(peer_dnnl **peer);
/* kw_subject.call */
kw_status peer_dnnl_call(void *peer, kw_error *err);
/* Brings a weight gradient, which a call leaves in oneDNN's order, to result in ours; other results are there already. */
kw_status peer_dnnl_finish(peer_dnnl *peer, kw_error *err);
const char *peer_dnnl_kernel(const peer_dnnl *peer);
/* "oneDNN 3.2.0" */
const char *peer_dnnl_version(void);

#endif
