// The version, and what the cache of built programs is keyed with.
#ifndef BURIN_VERSION_H
#define BURIN_VERSION_H
#define BURIN_VERSION "0.1"
#endif
