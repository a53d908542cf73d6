/* direct_columns.h: a convolution of few channels as tile registers have it. A register takes 32 elements of a pixel at a time, of which few
 * channels fill none; and a run of a filter row's columns would end in the midst of a register, behind it another pixel's, which may be no
 * numbers. So the copy has a pixel for each result column, whose channels are all that its filter row reads of a source row; each source
 * pixel stands in several of them. What is left is a convolution of as many channels, with a filter of one column, a stride of 1 and no
 * padding along the columns, whose weights lie as they did. Other texts of direct.c see what they were given. */
#ifndef KW_COLUMNS
#define KW_COLUMNS 0
#endif

#if KW_COLUMNS
typedef struct columned {
    kw_kernel_args seen; /* first */
    const kw_kernel_args *given;
} columned;

static columned columned_of(const kw_kernel_args *a) {
    columned c = {.seen = *a, .given = a};
    c.seen.c *= a->filter[2];
    c.seen.in[2] = a->out[2];
    c.seen.filter[2] = c.seen.stride[2] = c.seen.dilation[2] = 1;
    c.seen.pad[2] = 0;
    return c;
}

#define KW_SEE(a, args)                                                                                                                    \
    const columned of_args = columned_of(args);                                                                                            \
    const kw_kernel_args *a = &of_args.seen;
static const kw_kernel_args *given_of(const kw_kernel_args *a) { return ((const columned *)a)->given; }
#else
#define KW_SEE(a, args) const kw_kernel_args *a = args;
#define given_of(a) (a)
#endif
