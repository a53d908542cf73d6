/* svg.c: draws the plot area and the marks. Coordinates are written in tenths of a pixel. */
#include "report/page/scale.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double margin = 8, tick_room = 46, title_room = 20, tick_height = 18, key_height = 20;
/* Mean width of a character of the 12-unit sans-serif text, generous. */
static const double letter = 6.6;

static double text_width(const char *text) {
    size_t characters = 0;
    for (const char *c = text; *c; c++) {
        characters += ((unsigned char)*c & 0xc0) != 0x80;
    }
    return letter * (double)characters;
}

void kw_svg_text(kw_svg *svg, const double at[2], const char *class, const char *anchor, const char *text) {
    kw_text_addf(svg->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\" text-anchor=\"%s\">", at[0], at[1], class, anchor);
    kw_escape_add(svg->out, text, KW_ESCAPE_HTML);
    kw_text_add(svg->out, "</text>\n");
}

/* --- marks of a legend and of points -------------------------------------------------------------------------- */

/* Series differ by shape, so that they can be told apart without colour. */
static void add_shape(kw_text *out, int series, double x, double y) {
    static const char *const paths[] = {
        "m-3.2 0a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0-6.4 0z",
        "m-2.8-2.8h5.6v5.6h-5.6z",
        "m0-3.8l3.6 6.6h-7.2z",
        "m0-4l4 4l-4 4l-4-4z",
        "m-1.2-4h2.4v2.8h2.8v2.4h-2.8v2.8h-2.4v-2.8h-2.8v-2.4h2.8z",
        "m0 3.8l3.6-6.6h-7.2z",
        "m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0z",
        "m-2-4h4v8h-4z",
    };
    kw_text_addf(out, "<path class=\"s%d\" d=\"M%.1f %.1f%s\"", series, x, y, paths[series]);
}

static void add_key_mark(kw_svg *svg, const kw_svg_key *key, double x, double y) {
    int series = key->series % KW_SVG_SERIES;
    if (key->mark == KW_MARK_POINT) {
        add_shape(svg->out, series, x + 8, y);
        kw_text_add(svg->out, "/>");
    } else if (key->mark == KW_MARK_LINE) {
        kw_text_addf(svg->out, "<path class=\"line l%d\" d=\"M%.1f %.1fh16\"/>", series, x, y);
    } else {
        kw_text_addf(svg->out, "<path class=\"s%d\" d=\"M%.1f %.1fh12v9h-12z\"/>", series, x + 2, y - 4.5);
    }
}

/* Lays the legend out in rows; draws it when told to. Returns its height. */
static double draw_legend(kw_svg *svg, const kw_svg_spec *spec, bool draw) {
    double x = margin, y = margin;
    for (int i = 0; i < spec->key_count; i++) {
        kw_text name = {0};
        kw_escape_add_truncated(&name, spec->keys[i].name, KW_ESCAPE_HTML, 44);
        double width = 24 + fmin(text_width(spec->keys[i].name), 44 * letter) + 18;
        if (x > margin && x + width > KW_SVG_WIDTH) {
            x = margin;
            y += key_height;
        }
        if (draw) {
            add_key_mark(svg, &spec->keys[i], x, y + 8);
            kw_text_addf(svg->out, "<text class=\"key\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", x + 22, y + 12, kw_text_string(&name));
        }
        kw_escape_drop(&name, svg->out);
        x += width;
    }
    return spec->key_count ? y + key_height : margin;
}

/* --- the plot area -------------------------------------------------------------------------------------------- */

static void add_x_axis(kw_svg *svg) {
    kw_tick ticks[KW_TICKS_MAX];
    char label[24];
    int count = kw_scale_ticks(ticks, &svg->x, 9);
    for (int i = 0; i < count; i++) {
        double x = svg->left + (svg->right - svg->left) * kw_scale_map(&svg->x, ticks[i].value);
        kw_text_addf(svg->out, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", x, svg->top, svg->bottom);
        if (ticks[i].labelled) {
            kw_unit_print(label, ticks[i].value, svg->x.unit);
            kw_svg_text(svg, (double[]){x, svg->bottom + 15}, "tick", "middle", label);
        }
    }
    kw_svg_text(svg, (double[]){(svg->left + svg->right) / 2, svg->bottom + 34}, "axis", "middle", svg->x.title);
}

static void add_y_axis(kw_svg *svg) {
    kw_tick ticks[KW_TICKS_MAX];
    char label[24];
    int count = kw_scale_ticks(ticks, &svg->y, (int)((svg->bottom - svg->top) / 36));
    for (int i = 0; i < count; i++) {
        double y = svg->bottom - (svg->bottom - svg->top) * kw_scale_map(&svg->y, ticks[i].value);
        kw_text_addf(svg->out, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>\n", svg->left, y, svg->right);
        if (ticks[i].labelled) {
            kw_unit_print(label, ticks[i].value, svg->y.unit);
            kw_svg_text(svg, (double[]){svg->left - 6, y + 4}, "tick", "end", label);
        }
    }
    double x = svg->left - tick_room - 12, y = (svg->top + svg->bottom) / 2;
    kw_text_addf(svg->out, "<text class=\"axis\" text-anchor=\"middle\" transform=\"translate(%.1f %.1f)rotate(-90)\">", x, y);
    kw_escape_add(svg->out, svg->y.title, KW_ESCAPE_HTML);
    kw_text_add(svg->out, "</text>\n");
}

static void open_chart_data(kw_svg *svg) {
    const kw_svg_axis *axes[] = {&svg->x, &svg->y};
    kw_text_add(&svg->data, "{\"axes\":[");
    for (int i = 0; i < 2; i++) {
        kw_text_addf(&svg->data, "%s{\"low\":%.9g,\"high\":%.9g,\"log\":%s,\"title\":\"", i ? "," : "", axes[i]->low, axes[i]->high,
                     axes[i]->log ? "true" : "false");
        kw_escape_add(&svg->data, axes[i]->title, KW_ESCAPE_JSON);
        kw_text_addf(&svg->data, "\",\"percent\":%s}", axes[i]->unit == KW_UNIT_PERCENT ? "true" : "false");
    }
    kw_text_add(&svg->data, "],\"marks\":[");
}

void kw_svg_open(kw_svg *svg, kw_text *out, const kw_svg_spec *spec) {
    *svg = (kw_svg){.out = out, .x = spec->x, .y = spec->y};
    kw_scale_sanitize(&svg->x);
    kw_scale_sanitize(&svg->y);
    svg->left = margin + spec->left + (spec->y.hidden ? 0 : tick_room + title_room);
    svg->right = KW_SVG_WIDTH - 3 * margin;
    svg->top = draw_legend(svg, spec, false) + spec->top + margin;
    svg->bottom = svg->top + spec->height;
    double height = svg->bottom + spec->bottom + (spec->x.hidden ? 0 : tick_height + title_room) + margin;
    svg->seen = calloc((size_t)(KW_SVG_WIDTH + 1) * ((size_t)height + 1), 1);
    out->failed |= !svg->seen;
    kw_text_addf(out, "<svg viewBox=\"0 0 %d %.0f\" role=\"img\" aria-label=\"", KW_SVG_WIDTH, height);
    kw_escape_add(out, spec->label, KW_ESCAPE_HTML);
    kw_text_add(out, "\">\n");
    draw_legend(svg, spec, true);
    if (!spec->x.hidden) {
        add_x_axis(svg);
    }
    if (!spec->y.hidden) {
        add_y_axis(svg);
    }
    kw_text_addf(out, "<path class=\"frame\" d=\"M%.1f %.1fH%.1fV%.1fH%.1fz\"/>\n", svg->left, svg->top, svg->right, svg->bottom,
                 svg->left);
    open_chart_data(svg);
}

void kw_svg_close(kw_svg *svg) {
    kw_text_add(svg->out, "</svg>\n");
    kw_text_add(&svg->data, "]}");
    free(svg->seen);
    svg->seen = NULL;
}

bool kw_svg_map(const kw_svg *svg, double x, double y, double at[2]) {
    double across = kw_scale_map(&svg->x, x), up = kw_scale_map(&svg->y, y);
    at[0] = svg->left + (svg->right - svg->left) * across;
    at[1] = svg->bottom - (svg->bottom - svg->top) * up;
    return across >= 0 && up >= 0;
}

/* --- marks ---------------------------------------------------------------------------------------------------- */

static void end_mark(kw_svg *svg, const char *title) {
    if (!title) {
        kw_text_add(svg->out, "/>\n");
        return;
    }
    kw_text_add(svg->out, "><title>");
    kw_escape_add(svg->out, title, KW_ESCAPE_HTML);
    kw_text_add(svg->out, "</title></path>\n");
}

/* Whether the pixel has a mark of the series; it has one from now on. */
static bool is_pixel_covered(kw_svg *svg, const double at[2], int series) {
    if (!svg->seen) {
        return true;
    }
    unsigned char *pixel = &svg->seen[(size_t)at[1] * (KW_SVG_WIDTH + 1) + (size_t)at[0]];
    bool covered = *pixel >> series & 1;
    *pixel |= (unsigned char)(1u << series);
    return covered;
}

void kw_svg_point(kw_svg *svg, double x, double y, int series, const char *title) {
    double at[2];
    series %= KW_SVG_SERIES;
    if (!kw_svg_map(svg, x, y, at)) {
        svg->left_out++;
        return;
    }
    svg->drawn++;
    if (is_pixel_covered(svg, at, series)) {
        return;
    }
    add_shape(svg->out, series, at[0], at[1]);
    end_mark(svg, title);
    if (title) {
        kw_text_addf(&svg->data, "%s[%d,%.6g,%.6g,\"", svg->told++ ? "," : "", series, x, y);
        kw_escape_add(&svg->data, title, KW_ESCAPE_JSON);
        kw_text_add(&svg->data, "\"]");
    }
}

void kw_svg_line_begin(kw_svg *svg, int series, bool wide, const char *name) {
    kw_text_addf(svg->out, "<path class=\"line l%d%s\" d=\"", series % KW_SVG_SERIES, wide ? " wide" : "");
    kw_text_addf(&svg->data, "%s{\"series\":%d,\"name\":\"", svg->told++ ? "," : "", series % KW_SVG_SERIES);
    kw_escape_add(&svg->data, name, KW_ESCAPE_JSON);
    kw_text_add(&svg->data, "\",\"at\":[");
    svg->pen_down = false;
}

void kw_svg_line_to(kw_svg *svg, double x, double y) {
    double at[2];
    if (!kw_svg_map(svg, x, y, at)) {
        svg->left_out++;
        return;
    }
    if (svg->pen_down && fabs(at[0] - svg->pen[0]) < 0.4 && fabs(at[1] - svg->pen[1]) < 0.4) {
        return; /* not to be seen */
    }
    kw_text_addf(svg->out, "%c%.1f %.1f", svg->pen_down ? 'L' : 'M', at[0], at[1]);
    kw_text_addf(&svg->data, "%s%.6g,%.6g", svg->pen_down ? "," : "", x, y);
    svg->pen[0] = at[0];
    svg->pen[1] = at[1];
    svg->pen_down = true;
    svg->drawn++;
}

void kw_svg_line_end(kw_svg *svg) {
    kw_text_add(svg->out, "\"/>\n");
    kw_text_add(&svg->data, "]}");
}

void kw_svg_rule_x(kw_svg *svg, double x, const char *word) {
    double at[2];
    if (kw_svg_map(svg, x, svg->y.low, at)) {
        kw_text_addf(svg->out, "<path class=\"rule\" d=\"M%.1f %.1fV%.1f\"/>\n", at[0], svg->top, svg->bottom);
        bool left = at[0] + 8 + text_width(word) > svg->right;
        kw_svg_text(svg, (double[]){left ? at[0] - 5 : at[0] + 5, svg->top + 14}, "word", left ? "end" : "start", word);
    }
}

void kw_svg_rule_y(kw_svg *svg, double y, const char *word) {
    double at[2];
    if (kw_svg_map(svg, svg->x.low, y, at)) {
        kw_text_addf(svg->out, "<path class=\"rule\" d=\"M%.1f %.1fH%.1f\"/>\n", svg->left, at[1], svg->right);
        kw_svg_text(svg, (double[]){svg->right - 5, at[1] - 4}, "word", "end", word);
    }
}

static void add_rectangle(kw_svg *svg, const double from[2], const double to[2], const char *class, const char *title) {
    double a[2], b[2];
    if (!kw_svg_map(svg, from[0], from[1], a) || !kw_svg_map(svg, to[0], to[1], b)) {
        svg->left_out++;
        return;
    }
    kw_text_addf(svg->out, "<path class=\"%s\" d=\"M%.1f %.1fH%.1fV%.1fH%.1fz\"", class, a[0], a[1], b[0], b[1], a[0]);
    end_mark(svg, title);
    svg->drawn++;
}

void kw_svg_bar(kw_svg *svg, const double from[2], const double to[2], int series, const char *title) {
    char class[16];
    snprintf(class, sizeof class, "s%d", series % KW_SVG_SERIES);
    add_rectangle(svg, from, to, class, title);
}

void kw_svg_cell(kw_svg *svg, const double from[2], const double to[2], double share, const char *title) {
    char class[16];
    double step = isfinite(share) ? fmin(fmax(floor(share * 10), 0), 9) : 0;
    snprintf(class, sizeof class, "h%d", (int)step);
    add_rectangle(svg, from, to, class, title);
}
