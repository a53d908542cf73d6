/* parts.h: adds the parts of a result, each a slice of the workspace, where parts are many and the result is small: gradients of
 * depthwise and grouped weights. A block has KW_PARTS_SUMS of the result's elements, and as many threads an element share its parts as
 * KW_PARTS_SHARES says: thread after thread has a chain of loads that is short. The order is always the same. launch() fills
 * args.params.elements; the count of blocks is resources.h's. */
#ifndef KW_PARTS_H
#define KW_PARTS_H

#define KW_PARTS_AHEAD 8 /* loads of a thread that are under way together */

/* lds: KW_PARTS_BYTES. */
KW_DEVICE void kw_parts_reduce(const kw_gpu_args *a, char *lds, int parts) {
    float *shares = (float *)lds, sum = 0;
    int count = KW_PARTS_SHARES(parts), sums = KW_PARTS_SUMS(parts), column = kw_thread() % sums;
    kw_i64 elements = a->params.elements, at = kw_block() * sums + column;
    const float *from = (const float *)a->shared + at;
    for (int part = kw_thread() / sums; part < parts && at < elements; part += KW_PARTS_AHEAD * count) {
        float some[KW_PARTS_AHEAD];
        KW_UNROLL
        for (int i = 0; i < KW_PARTS_AHEAD; i++)
            some[i] = part + i * count < parts ? from[(part + i * count) * elements] : 0;
        KW_UNROLL
        for (int i = 0; i < KW_PARTS_AHEAD; i++)
            sum += some[i];
    }
    shares[kw_thread()] = sum;
    kw_barrier();
    if (kw_thread() >= sums || at >= elements) return;
    for (int share = 1; share < count; share++)
        sum += shares[share * sums + column];
#if KW_EPILOGUE
    kw_finish_element(a->w, a, at, sum);
#else
    kw_store(a->w, at, sum);
#endif
}

#endif
