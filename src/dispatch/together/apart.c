/* apart.c: see apart.h. Sorted by where they begin, pieces fall into clusters that lie in each other's spans. Most have one. In the others all that
 * have several runs have one step, or two of them meet; so such a cluster is a matrix whose rows are a step long, and each piece a rectangle of
 * it, or two where its runs go over a row's end. Rectangles are met row by row: those that begin before this row and have not ended stand in a tree
 * over the columns, where whoever begins looks whether its columns are free. */
#include "dispatch/together/apart.h"

#include <stdlib.h>

typedef struct side {
    int64_t row, column, to; /* columns column .. to - 1 */
    int32_t piece;
    bool begins;
} side;

/* A node is half of its parent's columns. taken: a piece has all of its columns; within: some piece has some; -1: none. */
typedef struct node {
    int32_t taken, within;
} node;

typedef struct matrix {
    side *sides;
    int64_t *columns; /* where rectangles begin or end, ascending */
    node *nodes;
    int64_t side_count, column_count;
} matrix;

static int order_pieces(const void *a, const void *b) {
    uintptr_t x = ((const kw_piece *)a)->begin, y = ((const kw_piece *)b)->begin;
    return (x > y) - (x < y);
}

/* Ends of a row come before what begins there. */
static int order_sides(const void *a, const void *b) {
    const side *x = a, *y = b;
    return x->row != y->row ? (x->row > y->row) - (x->row < y->row) : x->begins - y->begins;
}

static int order_columns(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static uintptr_t end_of(const kw_piece *p) {
    return p->begin + (uintptr_t)((p->count - 1) * p->step + p->length);
}

/* Who has one of the columns from..to - 1 of a node's first..last - 1; -1: nobody. */
static int32_t find_taker(const matrix *m, int64_t at, int64_t first, int64_t last, const int64_t range[2]) {
    const node *n = &m->nodes[at];
    if (range[1] <= first || last <= range[0]) {
        return -1;
    }
    if (n->taken >= 0 || (range[0] <= first && last <= range[1])) {
        return n->taken >= 0 ? n->taken : n->within;
    }
    int64_t middle = first + (last - first) / 2;
    int32_t left = find_taker(m, 2 * at, first, middle, range);
    return left >= 0 ? left : find_taker(m, 2 * at + 1, middle, last, range);
}

/* What takes columns takes free ones, so a node has at most one. */
static void take_columns(matrix *m, int64_t at, int64_t first, int64_t last, const int64_t range[2], int32_t piece) {
    node *n = &m->nodes[at];
    if (range[1] <= first || last <= range[0]) {
        return;
    }
    if (range[0] <= first && last <= range[1]) {
        n->taken = n->within = piece;
        return;
    }
    int64_t middle = first + (last - first) / 2;
    take_columns(m, 2 * at, first, middle, range, piece);
    take_columns(m, 2 * at + 1, middle, last, range, piece);
    const node *left = &m->nodes[2 * at], *right = &m->nodes[2 * at + 1];
    n->within = left->within >= 0 ? left->within : right->within;
}

static int64_t column_number(const matrix *m, int64_t column) {
    int64_t low = 0, high = m->column_count - 1;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (m->columns[middle] < column) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void put_rectangle(matrix *m, int32_t piece, int64_t row, int64_t rows, int64_t column, int64_t columns) {
    m->columns[m->column_count++] = column;
    m->columns[m->column_count++] = column + columns;
    m->sides[m->side_count++] = (side){row, column, column + columns, piece, true};
    m->sides[m->side_count++] = (side){row + rows, column, column + columns, piece, false};
}

/* No run is longer than a step. */
static void put_pieces(matrix *m, const kw_piece pieces[], int32_t count, int64_t step) {
    for (int32_t i = 0; i < count; i++) {
        int64_t from = (int64_t)(pieces[i].begin - pieces[0].begin), row = from / step, column = from % step;
        int64_t here = column + pieces[i].length > step ? step - column : pieces[i].length;
        put_rectangle(m, i, row, pieces[i].count, column, here);
        if (here < pieces[i].length) {
            put_rectangle(m, i, row + 1, pieces[i].count, 0, pieces[i].length - here);
        }
    }
    qsort(m->sides, (size_t)m->side_count, sizeof *m->sides, order_sides);
    qsort(m->columns, (size_t)m->column_count, sizeof *m->columns, order_columns);
    int64_t kept = 1;
    for (int64_t i = 1; i < m->column_count; i++) {
        if (m->columns[i] != m->columns[kept - 1]) {
            m->columns[kept++] = m->columns[i];
        }
    }
    m->column_count = kept;
}

static bool rectangles_meet(matrix *m, int32_t pair[2]) {
    int64_t width = m->column_count - 1;
    for (int64_t i = 0; i < 4 * width; i++) {
        m->nodes[i] = (node){-1, -1};
    }
    for (int64_t i = 0; i < m->side_count; i++) {
        const side *s = &m->sides[i];
        int64_t range[2] = {column_number(m, s->column), column_number(m, s->to)};
        int32_t taker = s->begins ? find_taker(m, 1, 0, width, range) : -1;
        if (taker >= 0) {
            pair[0] = taker;
            pair[1] = s->piece;
            return true;
        }
        take_columns(m, 1, 0, width, range, s->begins ? s->piece : -1);
    }
    return false;
}

static kw_status cluster_meets(bool *meet, kw_piece pair[2], const kw_piece pieces[], int32_t count, int64_t step, kw_error *err) {
    size_t most = (size_t)count * 4; /* sides, and columns; a tree of n columns has less than 4 n nodes */
    matrix m = {0};
    int32_t number[2];
    char *memory = malloc(most * (sizeof *m.sides + sizeof *m.columns + 4 * sizeof *m.nodes));
    if (!memory) {
        return kw_fail_memory(err, "pieces of memory");
    }
    m.sides = (side *)(void *)memory;
    m.columns = (int64_t *)(void *)(m.sides + most);
    m.nodes = (node *)(void *)(m.columns + most);
    put_pieces(&m, pieces, count, step);
    *meet = rectangles_meet(&m, number);
    if (*meet) {
        pair[0] = pieces[number[0]];
        pair[1] = pieces[number[1]];
    }
    free(memory);
    return KW_OK;
}

/* Whether a piece that begins in another's span is sure to meet it, whatever lies in the gaps between runs. */
static bool fills_gap(const kw_piece *earlier, const kw_piece *p) {
    return earlier->count == 1 || (p->count == 1 ? p->length > earlier->step : p->step != earlier->step);
}

kw_status kw_pieces_meet(bool *meet, kw_piece pair[2], kw_piece pieces[], size_t count, kw_error *err) {
    kw_status status = KW_OK;
    bool sorted = true;
    *meet = false;
    for (size_t i = 1; i < count; i++) {
        sorted &= pieces[i - 1].begin <= pieces[i].begin;
    }
    if (!sorted) {
        qsort(pieces, count, sizeof *pieces, order_pieces);
    }
    for (size_t first = 0, next; first < count && !status && !*meet; first = next) {
        const kw_piece *last = &pieces[first]; /* of those so far the one that ends last */
        for (next = first + 1; next < count && pieces[next].begin < end_of(last); next++) {
            if (fills_gap(last, &pieces[next])) {
                *meet = true;
                pair[0] = *last;
                pair[1] = pieces[next];
                return KW_OK;
            }
            last = end_of(&pieces[next]) > end_of(last) ? &pieces[next] : last;
        }
        if (next > first + 1) {
            status = cluster_meets(meet, pair, pieces + first, (int32_t)(next - first), pieces[first].step, err);
        }
    }
    return status;
}
