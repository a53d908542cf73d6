/* joined.h: a launch of several products whose sizes all differ (kw_plans_run), config word joined=1. Its kernel's only parameter is this
 * table, which the launch carries itself: no memory of the device is written for it, and a graph that captures the launch has it. One text
 * for the library, which fills the table (backend/joined.c), and for kernels.
 *
 * Units of the launch are those of all products, one product after the other, the deepest ones first: blocks begin in the order of their
 * numbers, so what takes longest is begun first, and small tiles fill the end. */
#ifndef KW_JOINED_H
#define KW_JOINED_H

/* Of a launch. All of it together is less than the 32,764 bytes that CUDA 12.1 and later take as a parameter. */
#define KW_JOINED_MAX 64

typedef struct kw_joined_product {
    char *x, *w, *y;
    const char *extra[KW_EXTRAS];
    kw_i64 batch, gm, gn, gk, line_step[3], batch_step[3];
    kw_i64 first; /* its units are first, first + 1, ... of the launch's */
    KW_KERNEL_PARAMS params;
    kw_i64 rest[KW_PARAMS_WORDS + 1 - sizeof(KW_KERNEL_PARAMS) / sizeof(kw_i64)];
} kw_joined_product;

typedef struct kw_joined {
    kw_i64 count;
    kw_joined_product product[KW_JOINED_MAX];
} kw_joined;

KW_STATIC_ASSERT(sizeof(kw_joined) <= 32764, "kw_joined is larger than a kernel's parameters may be");

#ifdef KW_DEVICE
#if KW_EMU
#define kw_joined_table() (args.joined)
#else
#undef KW_PARAMETER
#define KW_PARAMETER kw_joined
#define kw_joined_table() (&args)
#endif

/* The arguments of the product that a unit of the launch is of, as those of a launch of its own. Returns its own number of the unit. */
KW_DEVICE int kw_joined_find(kw_gpu_args *a, const kw_joined *joined, int unit) {
    int low = 0, high = (int)joined->count - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if ((int)joined->product[middle].first <= unit)
            low = middle;
        else
            high = middle - 1;
    }
    const kw_joined_product *p = &joined->product[low];
    a->x = p->x;
    a->w = p->w;
    a->y = p->y;
    for (int i = 0; i < KW_EXTRAS; i++)
        a->extra[i] = p->extra[i];
    a->groups = 1;
    a->batch = p->batch;
    a->gm = p->gm;
    a->gn = p->gn;
    a->gk = p->gk;
    for (int i = 0; i < 3; i++) {
        a->line_step[i] = p->line_step[i];
        a->batch_step[i] = p->batch_step[i];
    }
    a->params = p->params;
    return unit - (int)p->first;
}
#endif

#endif
