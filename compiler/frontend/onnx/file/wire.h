// The protobuf wire format of an ONNX file, walked before anything is unpacked.
#ifndef BURIN_ONNX_WIRE_H
#define BURIN_ONNX_WIRE_H
#include "frontend/checkpoint/mapped_file.h"
#include "onnx.pb-c.h"

// Where a tensor's raw data lies in the file: what wire_unpack leaves in TensorData.raw_data.
typedef struct WirePlace {
    uint64_t offset, length;
} WirePlace;

// Checks the whole structure (bounds, wire types, depth) and unpacks everything but raw_data. Ends the run with the byte offset
// and the path of messages ("graph.node.attribute") when the file is damaged. The result lives in the arena.
BurinOnnx__ModelFile *wire_unpack(Arena *, const MappedFile *);

// For the unpack functions of protobuf-c: what they make lives in the arena.
ProtobufCAllocator wire_allocator(Arena *);
#endif
