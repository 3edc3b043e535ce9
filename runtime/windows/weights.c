// The weights follow the program in its own file and are mapped from there: a Windows executable
// has 2 GB at most, and its file any size.
#include "engine/integrity.h"
#include "posix.h"
#include "program/output.h"
#include "wide.h"

enum { GRAIN = 1 << 16 };  // of places in a file that can be mapped

// The image of the compiler ends with its sums, on a whole cache line.
static uint64_t image_bytes(const burin_model *model) { return model->sums_offset + 64; }

// Behind the last section, on a whole grain (compiler/toolchain/image.c).
static uint64_t image_offset(void) {
    const unsigned char *base = (const unsigned char *)GetModuleHandleW(NULL);
    const IMAGE_NT_HEADERS64 *headers =
        (const void *)(base + ((const IMAGE_DOS_HEADER *)base)->e_lfanew);
    const IMAGE_SECTION_HEADER *section = IMAGE_FIRST_SECTION(headers);
    uint64_t end = 0;
    for (int i = 0; i < headers->FileHeader.NumberOfSections; i++) {
        uint64_t last = (uint64_t)section[i].PointerToRawData + section[i].SizeOfRawData;
        if (last > end) end = last;
    }
    return (end + GRAIN - 1) / GRAIN * GRAIN;
}

static HANDLE open_program(void) {
    static wchar_t path[32768];
    DWORD n = GetModuleFileNameW(NULL, path, sizeof path / sizeof *path);
    if (!n || n == sizeof path / sizeof *path) return INVALID_HANDLE_VALUE;
    return CreateFileW(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                       0, NULL);
}

static const unsigned char *map_images(uint64_t bytes) {
    uint64_t offset = image_offset();
    LARGE_INTEGER size = {0};
    HANDLE file = open_program();
    if (file == INVALID_HANDLE_VALUE || !GetFileSizeEx(file, &size))
        burin_stop(BURIN_USER_MISTAKE,
                   "cannot read the weights in the program's own file: error %lu of Windows",
                   GetLastError());
    if ((uint64_t)size.QuadPart < offset + bytes)
        burin_stop(BURIN_USER_MISTAKE,
                   "the program's own file ends too early\nhint: copy it again, or build it again");
    HANDLE mapping = CreateFileMappingW(file, NULL, PAGE_READONLY, 0, 0, NULL);
    const unsigned char *view =
        mapping ? MapViewOfFile(mapping, FILE_MAP_READ, (DWORD)(offset >> 32), (DWORD)offset, bytes)
                : NULL;
    if (!view)
        burin_stop(BURIN_USER_MISTAKE,
                   "cannot map the weights in the program's own file: error %lu of Windows",
                   GetLastError());
    CloseHandle(mapping), CloseHandle(file);
    return view;
}

// First called before there are threads.
const unsigned char *burin_weights(void) {
    static const unsigned char *images;
    const burin_model *model = &burin_model_this, *draft = model->draft;
    if (!images) images = map_images(image_bytes(model) + (draft ? image_bytes(draft) : 0));
    return images;
}

const unsigned char *burin_draft_weights(void) {
    return burin_weights() + image_bytes(&burin_model_this);
}
