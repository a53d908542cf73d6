/* row_groups.h: which rows of a grouped product are whose (kw_tensors.ends). One text for kernels of CPUs, of GPUs and compiled-in ones, which
 * differ in KW_GROUP_FUNCTION, how a function begins.
 *
 * Rows are cut into chunks of so many, of each group its own, the last one of which may have fewer. A launch is for a count of rows and
 * groups that is known, and for ends that are not: it has units for the most chunks that there can be (KW_GROUP_CHUNKS_MOST), and a kernel
 * finds its chunk by going over the ends. Whatever they are, nothing outside of the rows is found: an end that descends, or is too large, is
 * taken for the nearest that is possible. */
#ifndef KW_ROW_GROUPS_H
#define KW_ROW_GROUPS_H

#ifndef KW_GROUP_FUNCTION
#define KW_GROUP_FUNCTION static inline
#endif

/* Each group with a row has less than one chunk more than its rows fill; no more groups than rows have any. */
#define KW_GROUP_CHUNKS_MOST(rows, groups, size) ((rows) / (size) + ((groups) < (rows) ? (groups) : (rows)))

/* Where a search stands: at a group that begins at a row, with so many chunks before it. A zeroed one stands at the front. */
typedef struct kw_group_place {
    int group, begin, before;
} kw_group_place;

/* Rows first .. end - 1 of a group. */
typedef struct kw_group_chunk {
    int group, first, end;
} kw_group_chunk;

#define KW_GROUP_AHEAD 8 /* ends that are loaded together: a GPU waits some hundred cycles for one */

/* Chunk number `number` of `size` rows, which is at or behind the place; the place moves to its group. 0: there is none, and place.before
 * is the count of all. */
KW_GROUP_FUNCTION int kw_group_find(kw_group_chunk *chunk, kw_group_place *place, const int *ends, int groups, int rows, int size,
                                    int number) {
    for (int at = place->group; at < groups; at += KW_GROUP_AHEAD) {
        int end[KW_GROUP_AHEAD];
        for (int i = 0; i < KW_GROUP_AHEAD; i++)
            end[i] = at + i < groups ? ends[at + i] : 0;
        for (int i = 0; i < KW_GROUP_AHEAD; i++) {
            int last = end[i] < place->begin ? place->begin
                       : end[i] < rows       ? end[i]
                                             : rows,
                count = (last - place->begin + size - 1) / size;
            if (number - place->before < count) {
                place->group = at + i;
                chunk->group = at + i;
                chunk->first = place->begin + (number - place->before) * size;
                chunk->end = last - chunk->first < size ? last : chunk->first + size;
                return 1;
            }
            place->before += count;
            place->begin = last;
        }
    }
    place->group = groups;
    return 0;
}

/* Chunks of all groups. */
KW_GROUP_FUNCTION int kw_group_chunks(const int *ends, int groups, int rows, int size) {
    kw_group_chunk none;
    kw_group_place place = {0, 0, 0};
    kw_group_find(&none, &place, ends, groups, rows, size, 0x7fffffff);
    return place.before;
}

#endif
