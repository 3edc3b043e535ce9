// The protobuf wire format of an ONNX file, walked before anything is unpacked.
#ifndef BURIN_ONNX_WIRE_H
#define BURIN_ONNX_WIRE_H
#include "frontend/checkpoint/mapped_file.h"
#include "onnx.pb-c.h"

// The offset of a tensor's raw data in the file: wire_unpack stores it in TensorData.raw_data.
typedef struct WirePlace {
    uint64_t offset, length;
} WirePlace;

// Checks the whole structure (bounds, wire types, depth) and unpacks everything but raw_data. Ends
// the run with the byte offset and the path of messages ("graph.node.attribute") when the file is
// damaged. The result lives in the arena.
BurinOnnx__ModelFile *wire_unpack(Arena *, const MappedFile *);

// Allocator of protobuf-c's unpack functions: messages live in the arena.
ProtobufCAllocator wire_allocator(Arena *);
#endif
