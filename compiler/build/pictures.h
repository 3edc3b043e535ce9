// Programs that take pictures: libpng and libjpeg-turbo, where they are there.
#ifndef BURIN_BUILD_PICTURES_H
#define BURIN_BUILD_PICTURES_H
#include "build/build.h"

bool pictures_are_asked_for(const Options *);
// --with=images for an output that cannot have the libraries, or where one is missing, ends the
// run.
void pictures_check(const Build *, const char *output);
void pictures_choose(Build *);                // sets tools.png and tools.jpeg; clang is found
const char *pictures_formats(const Build *);  // "PNG, JPEG, PPM, PGM, BMP"
// Hash of the libraries' paths, for the key of a program.
uint64_t pictures_key(const Build *, uint64_t hash);
#endif
