/* emu_lines.c: which line of the kernel text an address of the code belongs to, from the line table that the compiler left in the blob
 * (DWARF, versions 2 to 4, which -gdwarf-4 asks for). It is read only for a report, so running costs nothing.
 *
 * The table is a program for a small machine: it walks over rows of (address, file, line) in rising order of addresses; the row wanted
 * is the last one that is not above the address. Every read is checked against the table's end: what is malformed gives no line, nothing
 * worse. */
#include "backend/emu/emu.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct cursor {
    const unsigned char *at, *end;
    bool bad;
} cursor;

typedef struct table {
    cursor program, folders, files;
    uint8_t step, line_range, opcode_base, lengths[256];
    int8_t line_base;
} table;

typedef struct row {
    uint64_t address;
    uint32_t file, line;
} row;

/* At most 8 bytes. */
static uint64_t take_bytes(cursor *c, size_t bytes) {
    uint64_t value = 0;
    if ((size_t)(c->end - c->at) < bytes) {
        c->bad = true;
        c->at = c->end;
        return 0;
    }
    memcpy(&value, c->at, bytes); /* little-endian, as the blob's check asked */
    c->at += bytes;
    return value;
}

static uint64_t take_leb(cursor *c) {
    uint64_t value = 0, byte;
    int shift = 0;
    do {
        byte = take_bytes(c, 1);
        value |= shift < 64 ? (byte & 0x7f) << shift : 0;
        shift += 7;
    } while (byte & 0x80 && !c->bad);
    return value;
}

static int64_t take_signed_leb(cursor *c) {
    uint64_t value = 0, byte;
    int shift = 0;
    do {
        byte = take_bytes(c, 1);
        value |= shift < 64 ? (byte & 0x7f) << shift : 0;
        shift += 7;
    } while (byte & 0x80 && !c->bad);
    return shift < 64 && byte & 0x40 ? (int64_t)(value | ~(uint64_t)0 << shift) : (int64_t)value;
}

static const char *take_line_string(cursor *c) {
    const unsigned char *start = c->at, *end = memchr(start, 0, (size_t)(c->end - start));
    if (!end) {
        c->bad = true;
        c->at = c->end;
        return "";
    }
    c->at = end + 1;
    return (const char *)start;
}

/* One unit's table; moves all behind it. false: there is none, or it is not understood. */
static bool open_line_table(table *t, cursor *all) {
    uint64_t length = take_bytes(all, 4);
    if (all->bad || length >= 0xfffffff0 || length > (uint64_t)(all->end - all->at)) {
        return false;
    }
    cursor c = {all->at, all->at + length, false};
    all->at = c.end;
    uint64_t version = take_bytes(&c, 2), header = take_bytes(&c, 4);
    if (version < 2 || version > 4 || header > (uint64_t)(c.end - c.at)) {
        return false;
    }
    t->program = (cursor){c.at + header, c.end, false};
    t->step = (uint8_t)take_bytes(&c, 1);
    take_bytes(&c, version == 4 ? 2 : 1); /* operations an instruction; whether rows are statements */
    t->line_base = (int8_t)take_bytes(&c, 1);
    t->line_range = (uint8_t)take_bytes(&c, 1);
    t->opcode_base = (uint8_t)take_bytes(&c, 1);
    for (int i = 1; i < t->opcode_base; i++) {
        t->lengths[i] = (uint8_t)take_bytes(&c, 1);
    }
    t->folders = c;
    while (*take_line_string(&c) && !c.bad) {
    }
    t->files = c;
    return !c.bad && t->line_range && t->opcode_base;
}

static void step_special(row *r, const table *t, unsigned opcode) {
    unsigned n = opcode - t->opcode_base;
    r->address += (uint64_t)t->step * (n / t->line_range);
    r->line += (uint32_t)(t->line_base + (int)(n % t->line_range));
}

/* true: the row is to be noted. ended: it ends a run of addresses, and belongs to none. */
static bool step_extended(row *r, cursor *c, bool *ended) {
    uint64_t length = take_leb(c);
    if (length > (uint64_t)(c->end - c->at)) {
        c->bad = true;
        return false;
    }
    cursor own = {c->at, c->at + length, false};
    c->at = own.end;
    switch (take_bytes(&own, 1)) {
    case 1:
        *ended = true;
        return true;
    case 2:
        r->address = take_bytes(&own, 8);
        break;
    default:
        break;
    }
    return false;
}

static bool step_standard(row *r, const table *t, cursor *c, unsigned opcode) {
    switch (opcode) {
    case 1:
        return true;
    case 2:
        r->address += t->step * take_leb(c);
        break;
    case 3:
        r->line += (uint32_t)take_signed_leb(c);
        break;
    case 4:
        r->file = (uint32_t)take_leb(c);
        break;
    case 8:
        r->address += (uint64_t)t->step * ((255u - t->opcode_base) / t->line_range);
        break;
    case 9:
        r->address += take_bytes(c, 2);
        break;
    default:
        for (int i = 0; i < t->lengths[opcode]; i++) {
            take_leb(c);
        }
    }
    return false;
}

static bool find_row(row *found, const table *t, uint64_t address) {
    static const row start = {0, 1, 1};
    row now = start, before = start;
    bool any = false;
    cursor c = t->program;
    while (c.at < c.end && !c.bad) {
        unsigned opcode = (unsigned)take_bytes(&c, 1);
        bool ended = false, noted = true;
        if (opcode >= t->opcode_base) {
            step_special(&now, t, opcode);
        } else if (opcode) {
            noted = step_standard(&now, t, &c, opcode);
        } else {
            noted = step_extended(&now, &c, &ended);
        }
        if (!noted) {
            continue;
        }
        if (any && before.address <= address && address < now.address) {
            *found = before;
            return true;
        }
        any = !ended;
        before = now;
        now = ended ? start : now;
    }
    return false;
}

/* Folder 0 is where the compiler ran; so is one that begins with a slash. Neither says anything of the text. */
static void name_file(const table *t, uint32_t wanted, const char **folder, const char **name) {
    cursor files = t->files, folders = t->folders;
    uint64_t number = 0;
    *folder = "";
    *name = take_line_string(&files);
    for (uint32_t i = 1; i < wanted && !files.bad && **name; i++) {
        take_leb(&files), take_leb(&files), take_leb(&files);
        *name = take_line_string(&files);
    }
    number = take_leb(&files);
    for (uint64_t i = 0; i < number && !folders.bad; i++) {
        *folder = take_line_string(&folders);
    }
    *folder = **folder == '/' ? "" : *folder;
}

void kw_emu_line(const kw_emu_object *object, const void *place, char text[80]) {
    uint64_t address = (uint64_t)((const char *)place - object->base) - 1; /* of the call, not of what follows it */
    cursor all = {object->lines, object->lines + object->lines_size, false};
    table t = {0};
    row found;
    snprintf(text, 80, "code at 0x%llx", (unsigned long long)address);
    while (all.at < all.end && open_line_table(&t, &all)) {
        if (find_row(&found, &t, address)) {
            const char *folder, *name;
            name_file(&t, found.file, &folder, &name);
            snprintf(text, 80, "%s%s%s:%u", folder, *folder ? "/" : "", name, found.line);
            return;
        }
    }
}

/* Frames of the text are linked: frame[0] is the caller's, frame[1] where it goes on. All lie on one stack, callers above. */
void kw_emu_backtrace(const kw_emu_object *object, void *const *frame, char text[KW_EMU_BACKTRACE_MAX]) {
    uintptr_t top = ((uintptr_t)frame | (KW_EMU_STACK - 1)) - sizeof(kw_emu_thread);
    size_t used = 0;
    *text = 0;
    for (int depth = 0; depth < 3; depth++) {
        char line[80];
        size_t offset = (size_t)((const char *)frame[1] - object->base);
        if (offset >= object->size) { /* the machine, which called the kernel */
            return;
        }
        kw_emu_line(object, frame[1], line);
        used += (size_t)snprintf(text + used, KW_EMU_BACKTRACE_MAX - used, "%s%s", depth ? " called at " : "", line);
        void *const *caller = (void *const *)frame[0];
        if (used >= KW_EMU_BACKTRACE_MAX || caller <= frame || (uintptr_t)caller >= top) {
            return;
        }
        frame = caller;
    }
}

/* The bytes of a section inside the blob; NULL when there is none. */
static const unsigned char *find_section(const kw_blob *blob, const char *name, size_t *size) {
    const unsigned char *data = blob->data;
    Elf64_Ehdr head;
    Elf64_Shdr names, section;
    memcpy(&head, data, sizeof head); /* kw_blob_check saw that it is there */
    if (head.e_shentsize != sizeof section || head.e_shoff > blob->size || head.e_shstrndx >= head.e_shnum ||
        (blob->size - head.e_shoff) / sizeof section < head.e_shnum) {
        return NULL;
    }
    memcpy(&names, data + head.e_shoff + head.e_shstrndx * sizeof names, sizeof names);
    for (int i = 0; i < head.e_shnum; i++) {
        size_t length = strlen(name) + 1;
        memcpy(&section, data + head.e_shoff + (size_t)i * sizeof section, sizeof section);
        if (names.sh_offset <= blob->size && section.sh_name < blob->size - names.sh_offset &&
            length <= blob->size - names.sh_offset - section.sh_name && !memcmp(data + names.sh_offset + section.sh_name, name, length) &&
            section.sh_offset <= blob->size && section.sh_size <= blob->size - section.sh_offset) {
            *size = section.sh_size;
            return data + section.sh_offset;
        }
    }
    return NULL;
}

kw_status kw_emu_lines_keep(kw_emu_object *object, const kw_blob *blob, kw_error *err) {
    size_t size = 0;
    const unsigned char *lines = find_section(blob, ".debug_line", &size);
    if (lines && size) {
        object->lines = malloc(size);
        if (!object->lines) {
            return kw_fail_memory(err, "a kernel's line table");
        }
        memcpy(object->lines, lines, size);
        object->lines_size = size;
    }
    return KW_OK;
}
