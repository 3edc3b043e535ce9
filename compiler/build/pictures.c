#include "build/pictures.h"

#include <stdio.h>
#include <string.h>

#include "build/optional_library.h"
#include "toolchain/cache.h"
#include "util/text.h"

#define WITHOUT "leave it out: the program takes PPM, PGM, BMP and GIF files"

static const OptionalLibrary libpng = {
    .option = "--with=images",
    .header = "png.h",
    .archive = "libpng.a",
    .probe = "#include <png.h>\nint main(void) { return !png_create_info_struct(0); }\n",
    .lists = {"-lpng -lz -lm"},
    .package = "libpng-dev",
    .name = "libpng",
    .without = WITHOUT,
};

static const OptionalLibrary libjpeg = {
    .option = "--with=images",
    .header = "jpeglib.h",
    .archive = "libjpeg.a",
    .probe =
        "#include <stdio.h>\n#include <jpeglib.h>\n"
        "int main(void) { struct jpeg_error_mgr e; return !jpeg_std_error(&e); }\n",
    .lists = {"-ljpeg"},
    .package = "libjpeg62-turbo-dev",
    .name = "libjpeg",
    .without = WITHOUT,
};

static const OptionalLibrary libwebp = {
    .option = "--with=images",
    .header = "webp/decode.h",
    .archive = "libwebp.a",
    .probe =
        "#include <webp/decode.h>\nint main(void) { return !WebPDecodeRGBInto(0, 0, 0, 0, 0); }\n",
    .lists = {"-lwebp -lm"},
    .package = "libwebp-dev",
    .name = "libwebp",
    .without = WITHOUT,
};

bool pictures_are_asked_for(const Options *o) { return o->with && !strcmp(o->with, "images"); }

void pictures_check(const Build *b, const char *output) {
    if (!pictures_are_asked_for(b->options)) return;
    optional_library_check(b, &libpng, output);
    optional_library_check(b, &libjpeg, output);
    optional_library_check(b, &libwebp, output);
}

void pictures_choose(Build *b) {
    if (!b->pictures) return;
    b->tools.png = optional_library_words(b, &libpng);
    b->tools.jpeg = optional_library_words(b, &libjpeg);
    b->tools.webp = optional_library_words(b, &libwebp);
}

const char *pictures_formats(const Build *b) {
    return arena_printf(b->arena, "%s%s%sPPM, PGM, BMP, GIF", b->tools.png ? "PNG (libpng), " : "",
                        b->tools.jpeg ? "JPEG (libjpeg-turbo), " : "",
                        b->tools.webp ? "WebP (libwebp), " : "");
}

uint64_t pictures_key(const Build *b, uint64_t hash) {
    hash = pictures_are_asked_for(b->options) ? hash + 1 : hash;
    hash = hash_text(optional_library_path(b, &libwebp), hash);
    return hash_text(optional_library_path(b, &libpng),
                     hash_text(optional_library_path(b, &libjpeg), hash));
}
