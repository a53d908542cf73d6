/* code_object.c: what an AMD code object says of its kernels: a note in MessagePack, a map whose "amdhsa.kernels" is an array of maps, one
 * a kernel, as LLVM's guide for AMDGPU back ends has it. Facts that are absent read 0. A code object without such a note is none of ours.
 */
#include "jit/toolchain/hip.h"
#include "jit/object/message_pack.h"
#include "jit/object/object.h"

#include <elf.h>
#include <limits.h>
#include <string.h>

enum { MACHINE_AMDGPU = 224, NOTE_METADATA = 32 };
static const char note_owner[] = "AMDGPU";

kw_status kw_hip_check(const kw_blob *blob, kw_error *err) {
    return kw_object_check(blob, ET_DYN, MACHINE_AMDGPU, err);
}

/* Whether the note that stands at offset is the metadata; then pack is its bytes. offset moves to the next note, or to the end. */
static bool read_metadata_note(const kw_blob *blob, size_t *offset, size_t end, kw_pack *pack) {
    const char *data = blob->data;
    Elf64_Nhdr head;
    if (end - *offset < sizeof head) {
        *offset = end;
        return false;
    }
    memcpy(&head, data + *offset, sizeof head);
    size_t name = *offset + sizeof head;
    uint64_t at = name + (((uint64_t)head.n_namesz + 3) & ~3ull);
    uint64_t next = at + (((uint64_t)head.n_descsz + 3) & ~3ull);
    bool whole = at + head.n_descsz <= end;
    bool wanted =
        whole && head.n_type == NOTE_METADATA && head.n_namesz == sizeof note_owner && !memcmp(data + name, note_owner, sizeof note_owner);
    if (wanted) {
        *pack = (kw_pack){(const uint8_t *)data + at, (const uint8_t *)data + at + head.n_descsz};
    }
    *offset = whole && next < end ? (size_t)next : end;
    return wanted;
}

/* The blob was checked, so its parts lie inside. */
static bool find_metadata(const kw_blob *blob, kw_pack *pack) {
    Elf64_Ehdr head;
    memcpy(&head, blob->data, sizeof head);
    for (int i = 0; i < head.e_phnum; i++) {
        Elf64_Phdr part;
        memcpy(&part, (const char *)blob->data + head.e_phoff + (size_t)i * sizeof part, sizeof part);
        size_t offset = (size_t)part.p_offset, end = (size_t)(part.p_offset + part.p_filesz);
        while (part.p_type == PT_NOTE && offset < end) {
            if (read_metadata_note(blob, &offset, end, pack)) {
                return true;
            }
        }
    }
    return false;
}

/* What of a kernel's map is summed up, and where: each is the most that any kernel of the object needs. */
typedef struct counts {
    int32_t registers, acc_registers, scalar_registers, lds, scratch, vector_spills, scalar_spills;
} counts;

static bool read_kernel_metadata(kw_pack *pack, uint64_t pairs, counts *most) {
    const struct {
        const char *key;
        int32_t *to;
    } wanted[] = {
        {".vgpr_count", &most->registers},
        {".agpr_count", &most->acc_registers},
        {".sgpr_count", &most->scalar_registers},
        {".group_segment_fixed_size", &most->lds},
        {".private_segment_fixed_size", &most->scratch},
        {".vgpr_spill_count", &most->vector_spills},
        {".sgpr_spill_count", &most->scalar_spills},
    };
    for (; pairs; pairs--) {
        kw_pack_item key, value;
        if (!kw_pack_next(pack, &key) || !kw_pack_skip(pack, &key) || !kw_pack_next(pack, &value) || !kw_pack_skip(pack, &value)) {
            return false;
        }
        for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
            if (value.kind == KW_PACK_NUMBER && kw_word_is(key.text, wanted[i].key) && value.number > (uint64_t)*wanted[i].to) {
                *wanted[i].to = value.number < INT32_MAX ? (int32_t)value.number : INT32_MAX;
            }
        }
    }
    return true;
}

/* The number of kernels; -1 for what is not as it should be. */
static int64_t read_kernel_list(kw_pack *pack, counts *most) {
    kw_pack_item root, key, value, kernel;
    if (!kw_pack_next(pack, &root) || root.kind != KW_PACK_MAP) {
        return -1;
    }
    for (uint64_t pairs = root.number; pairs; pairs--) {
        if (!kw_pack_next(pack, &key) || !kw_pack_skip(pack, &key) || !kw_pack_next(pack, &value)) {
            return -1;
        }
        if (value.kind != KW_PACK_ARRAY || !kw_word_is(key.text, "amdhsa.kernels")) {
            if (!kw_pack_skip(pack, &value)) {
                return -1;
            }
            continue;
        }
        for (uint64_t i = 0; i < value.number; i++) {
            if (!kw_pack_next(pack, &kernel) || kernel.kind != KW_PACK_MAP || !read_kernel_metadata(pack, kernel.number, most)) {
                return -1;
            }
        }
        return (int64_t)value.number;
    }
    return 0;
}

/* .vgpr_count has the accumulators within it where the two share a file of registers (from gfx90a on); gfx908 has a file of each, and
 * there it is the greater of the two. Spilled vector registers are 4 bytes each; a scalar one goes to a lane of a vector register, not to
 * memory. */
kw_status kw_hip_facts(kw_blob_facts *facts, const kw_blob *blob, kw_error *err) {
    kw_pack pack;
    counts most = {0};
    if (!find_metadata(blob, &pack)) {
        return kw_fail(err, KW_MALFORMED, "the code object has no metadata");
    }
    if (read_kernel_list(&pack, &most) < 1) {
        return kw_fail(err, KW_MALFORMED, "the metadata of the code object names no kernel, or is cut short");
    }
    *facts = (kw_blob_facts){.registers = most.registers,
                             .acc_registers = most.acc_registers,
                             .scalar_registers = most.scalar_registers,
                             .lds = most.lds,
                             .scratch = most.scratch,
                             .spill_bytes = most.vector_spills < INT32_MAX / 4 ? 4 * most.vector_spills : INT32_MAX};
    return KW_OK;
}
