/* svg.h: charts as SVG text: a plot area with two axes, ticks and a legend, and the marks in it. Values are in the units of the axes.
 *
 * A chart is as wide as its page; colours are classes (s0 to s7 for series, page.css gives them for light, dark and print), so nothing
 * here names a colour. Series differ by shape as well. A scale is made whole whatever it is given: empty, reversed, infinite or, on a
 * logarithmic axis, not positive; a value that cannot be shown is left out and counted. Marks that would cover an earlier one of their
 * series to the pixel are not written again, so a chart's size is bounded by its pixels. */
#ifndef KW_REPORT_PAGE_SVG_H
#define KW_REPORT_PAGE_SVG_H

#include "base/format/escape.h"

enum { KW_SVG_WIDTH = 820, KW_SVG_SERIES = 8 };

typedef enum kw_unit {
    KW_UNIT_PLAIN,
    KW_UNIT_SI,      /* 2.5 G */
    KW_UNIT_PERCENT, /* of shares */
    KW_UNIT_RATIO,   /* 2x */
    KW_UNIT_TIME     /* of nanoseconds */
} kw_unit;

/* At most 23 characters. */
void kw_unit_print(char text[24], double value, kw_unit unit);

typedef struct kw_svg_axis {
    const char *title; /* with its unit */
    double low, high;
    bool log, hidden; /* hidden: neither ticks nor title, for axes whose positions are rows or columns */
    kw_unit unit;
} kw_svg_axis;

typedef enum kw_key_mark { KW_MARK_POINT, KW_MARK_LINE, KW_MARK_BAR } kw_key_mark;

typedef struct kw_svg_key {
    const char *name;
    int series;
    kw_key_mark mark;
} kw_svg_key;

typedef struct kw_svg_spec {
    const char *label;        /* for readers who do not see it */
    double height;            /* of the plot area, in units of which the page is KW_SVG_WIDTH wide */
    double left, bottom, top; /* room besides what axes and legend take, e.g. for names of rows */
    kw_svg_axis x, y;
    const kw_svg_key *keys; /* the legend */
    int key_count;
} kw_svg_spec;

typedef struct kw_svg {
    kw_text *out;
    kw_text data; /* JSON of what has a title or is a line, for the page's script */
    kw_svg_axis x, y;
    double left, top, right, bottom; /* of the plot area */
    unsigned char *seen;             /* a bit for each series at each pixel; NULL: no memory, out has failed */
    double pen[2];                   /* of the path being drawn */
    bool pen_down;
    size_t drawn, left_out; /* marks; values that cannot be shown */
    size_t told;            /* entries of data */
} kw_svg;

void kw_svg_open(kw_svg *svg, kw_text *out, const kw_svg_spec *spec);
void kw_svg_close(kw_svg *svg);

/* Positions on the page; clamped to the plot area. false for a value that cannot be shown. */
bool kw_svg_map(const kw_svg *svg, double x, double y, double at[2]);
/* title (may be NULL): shown while the pointer rests on it. */
void kw_svg_point(kw_svg *svg, double x, double y, int series, const char *title);
/* A line through points: begin, then each point, then end. wide: thicker. */
void kw_svg_line_begin(kw_svg *svg, int series, bool wide, const char *name);
void kw_svg_line_to(kw_svg *svg, double x, double y);
void kw_svg_line_end(kw_svg *svg);
/* A straight line across the plot at one value, with a word beside it. */
void kw_svg_rule_x(kw_svg *svg, double x, const char *word);
void kw_svg_rule_y(kw_svg *svg, double y, const char *word);
/* A rectangle between two corners in the values of the axes; a cell is coloured by a share, 0 to 1. */
void kw_svg_bar(kw_svg *svg, const double from[2], const double to[2], int series, const char *title);
void kw_svg_cell(kw_svg *svg, const double from[2], const double to[2], double share, const char *title);
/* Text at a position of the page. class: "tick", "name", "word"; anchor: "start", "middle", "end". */
void kw_svg_text(kw_svg *svg, const double at[2], const char *class, const char *anchor, const char *text);

#endif
