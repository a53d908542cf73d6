/* png_colours.c: png_colours PICTURE.png LEAST < BOXES. Each line of BOXES is "name x y width height" in pixels. Fails when a box does
 * not lie in the picture, or holds fewer than LEAST different colours, or is all but empty: then a chart was not drawn. Reads what
 * browsers write, 8 bits of red, green, blue and perhaps alpha, not interlaced. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

typedef struct picture {
    uint32_t width, height, channels;
    unsigned char *rows; /* each with its filter's byte before it */
} picture;

static uint32_t read_word(const unsigned char *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static int paeth(int a, int b, int c) {
    int pa = abs(b - c), pb = abs(a - c), pc = abs(a + b - 2 * c);
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

static bool unfilter(picture *of) {
    size_t stride = (size_t)of->width * of->channels + 1;
    for (uint32_t y = 0; y < of->height; y++) {
        unsigned char *row = of->rows + y * stride + 1, filter = row[-1];
        for (size_t x = 0; x + 1 < stride; x++) {
            int left = x >= of->channels ? row[x - of->channels] : 0, up = y ? row[x - stride] : 0;
            int corner = y && x >= of->channels ? row[x - stride - of->channels] : 0;
            const int add[] = {0, left, up, (left + up) / 2, paeth(left, up, corner)};
            if (filter > 4) {
                return false;
            }
            row[x] = (unsigned char)(row[x] + add[filter]);
        }
    }
    return true;
}

/* The parts of the picture's data are put together in place. */
static bool decode(picture *of, unsigned char *file, size_t size) {
    size_t packed = 0;
    if (size < 33 || memcmp(file, "\x89PNG\r\n\x1a\n", 8) != 0) {
        return false;
    }
    of->width = read_word(file + 16);
    of->height = read_word(file + 20);
    of->channels = file[25] == 6 ? 4 : 3;
    if (file[24] != 8 || (file[25] != 2 && file[25] != 6) || file[28] || of->width > 20000 || of->height > 60000) {
        return false;
    }
    for (size_t at = 8; at + 12 <= size;) {
        size_t length = read_word(file + at);
        if (length > size - at - 12) {
            return false;
        }
        bool data = !memcmp(file + at + 4, "IDAT", 4);
        memmove(file + packed, file + at + 8, data ? length : 0);
        packed += data ? length : 0;
        at += length + 12;
    }
    uLongf whole = ((uLongf)of->width * of->channels + 1) * of->height;
    of->rows = malloc(whole);
    uLongf got = whole;
    return of->rows && uncompress(of->rows, &got, file, packed) == Z_OK && got == whole && unfilter(of);
}

static bool check_box(const picture *of, const char *name, const double box[4], size_t least) {
    static const size_t slots = 1 << 12; /* of 4 bits a channel */
    bool *seen = calloc(slots, sizeof *seen);
    size_t stride = (size_t)of->width * of->channels + 1, colours = 0, inked = 0, pixels = 0;
    bool inside =
        box[0] >= 0 && box[1] >= 0 && box[0] + box[2] <= of->width && box[1] + box[3] <= of->height && box[2] >= 10 && box[3] >= 10;
    if (!seen || !inside) {
        printf("%s: its box %.0f %.0f %.0f %.0f is not within the picture of %u x %u\n", name, box[0], box[1], box[2], box[3], of->width,
               of->height);
        free(seen);
        return false;
    }
    const unsigned char *paper = NULL;
    for (size_t y = (size_t)box[1]; y < (size_t)(box[1] + box[3]); y++) {
        for (size_t x = (size_t)box[0]; x < (size_t)(box[0] + box[2]); x++) {
            const unsigned char *at = of->rows + y * stride + 1 + x * of->channels;
            paper = paper ? paper : at;
            size_t slot = (size_t)(at[0] >> 4) << 8 | (size_t)(at[1] >> 4) << 4 | at[2] >> 4;
            colours += !seen[slot];
            seen[slot] = true;
            inked += memcmp(at, paper, 3) != 0;
            pixels++;
        }
    }
    free(seen);
    bool good = colours >= least && inked * 100 > pixels;
    printf("%s: %zu colours, %.1f %% inked%s\n", name, colours, 100 * (double)inked / (double)pixels, good ? "" : " - NOT DRAWN");
    return good;
}

int main(int count, char **words) {
    picture of = {0};
    unsigned char *file = malloc(1 << 26);
    FILE *stream = count == 3 ? fopen(words[1], "rb") : NULL;
    size_t size = stream && file ? fread(file, 1, 1 << 26, stream) : 0;
    bool good = decode(&of, file, size);
    if (!good) {
        printf("no picture\n");
    }
    char name[64];
    double box[4];
    size_t boxes = 0;
    while (good && scanf("%63s %lf %lf %lf %lf", name, &box[0], &box[1], &box[2], &box[3]) == 5) {
        boxes++;
        good = check_box(&of, name, box, (size_t)atoi(words[2]));
    }
    if (stream) {
        fclose(stream);
    }
    free(file);
    free(of.rows);
    return good && boxes ? 0 : 1;
}
