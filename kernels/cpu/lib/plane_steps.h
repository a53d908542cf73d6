/* plane_steps.h: the epilogue of texts whose vectors hold results of one channel, or of the KW_PLANES that share them (families
 * conv.depthwise_planes, conv.depthwise_rows). What a step has of a channel becomes a vector once a unit, each channel's value in its share of
 * the lanes; rule first_channels leaves no step that wants more, and results keep the type of what is read (rule result_type). */
#if KW_EPILOGUE

/* Tables stand here, for a function that makes them with each result would do so whether a step reads them or not. */
typedef struct kw_plane_steps {
    kw_vf vector[KW_EXTRAS];
    kw_tables tables;
} kw_plane_steps;

/* Channels that a unit lacks are the last one once more. */
#define KW_PLANE_ONE(type, number, plane) kw_one_##type(a->extra[number], kw_min(channel + (plane), a->groups - 1))
#if KW_PLANES == 1
#define KW_PLANE_VALUES(type, number) KW_PLANE_ONE(type, number, 0)
#else
static const kw_vi kw_upper_half = {0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1};
#if KW_PLANES == 2
#define KW_PLANE_VALUES(type, number) kw_pick(kw_upper_half, KW_PLANE_ONE(type, number, 1), KW_PLANE_ONE(type, number, 0))
#else
static const kw_vi kw_odd_quarters = {0, 0, 0, 0, -1, -1, -1, -1, 0, 0, 0, 0, -1, -1, -1, -1};
#define KW_PLANE_TWO(type, number, plane)                                                                                                  \
    kw_pick(kw_odd_quarters, KW_PLANE_ONE(type, number, (plane) + 1), KW_PLANE_ONE(type, number, plane))
#define KW_PLANE_VALUES(type, number) kw_pick(kw_upper_half, KW_PLANE_TWO(type, number, 2), KW_PLANE_TWO(type, number, 0))
#endif
#endif

#define KW_PLANE_HOLD_ONE(type, number) (steps->vector[number] = kw_one_##type(a->extra[number], 0))
#define KW_PLANE_HOLD(type, number) (steps->vector[number] = KW_PLANE_VALUES(type, number))
#define KW_PLANE_NONE(type, number) 0.0f
KW_INLINE void kw_plane_steps_at(kw_plane_steps *steps, const kw_kernel_args *a, kw_i64 channel) {
    kw_vf v = {0};
    (void)steps, (void)a, (void)channel;
    if (KW_EPILOGUE_LONG) steps->tables = kw_tables_of();
    KW_EPILOGUE_STEPS(v, KW_HOLD_FUNCTION, KW_PLANE_HOLD_ONE, KW_PLANE_HOLD, KW_PLANE_NONE, KW_PLANE_NONE)
    (void)v;
}

#define KW_PLANE_HELD(type, number) (steps->vector[number])
KW_INLINE kw_vf kw_plane_result(const kw_plane_steps *steps, kw_vf v) {
    const kw_tables *tables __attribute__((unused)) = &steps->tables;
    KW_EPILOGUE_STEPS(v, KW_STEP_FUNCTION, KW_PLANE_HELD, KW_PLANE_HELD, KW_PLANE_NONE, KW_PLANE_NONE)
    return v;
}

#else

typedef struct kw_plane_steps {
    char nothing[0];
} kw_plane_steps;
#define kw_plane_steps_at(steps, a, channel) (void)0
#define kw_plane_result(steps, v) (v)

#endif
