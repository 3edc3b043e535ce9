// Streamed answers: splits a growing text into reasoning, content and calls of tools, each byte
// once and as soon as its part is certain. An ended answer gives the same parts as a whole reply.
#include <stdlib.h>
#include <string.h>

#include "server/server.h"

typedef struct streaming {
    burin_answer *answer;
    const burin_stream_printer *printer;
} streaming;

static void send_more(burin_answer *a, const burin_stream_printer *p, burin_stream_part part,
                      const char *text, size_t bytes) {
    size_t *sent = part == BURIN_STREAM_REASONING ? &a->streamed.reasoning : &a->streamed.content;
    if (bytes <= *sent) return;
    p->part(a, part, text + *sent, bytes - *sent);
    *sent = bytes;
}

static void take_call(void *context, int number, burin_call_part name, burin_call_part arguments,
                      bool whole) {
    const streaming *s = context;
    burin_streamed *sent = &s->answer->streamed;
    bool begins = number == sent->calls, newest = number == sent->calls - 1;
    if (begins) sent->calls++, sent->arguments = 0;
    if (!begins && (!newest || arguments.bytes <= sent->arguments)) return;
    s->printer->call(s->answer, number, begins ? &name : NULL, arguments.text + sent->arguments,
                     arguments.bytes - sent->arguments);
    sent->arguments = arguments.bytes;
    (void)whole;
}

// Content goes first: it cannot follow a part of a call that has been sent.
static bool send_content_and_calls(streaming *s, const char *text, size_t bytes, bool ended) {
    const burin_tool_format *format = &s->answer->request->tools;
    burin_capture content = {0}, calls = {0}, *out = burin_capture_into(&calls);
    const burin_call_reader reader = {.context = s, .call = take_call, .open = !ended};
    bool called = burin_read_tool_calls(format, text, bytes, &content, &reader) > 0;
    burin_capture_into(out);
    size_t n = content.n;
    if (!ended && n)
        n = burin_text_before_calls(format, content.data, n);
    else if (called)
        while (n && strchr(" \n", content.data[n - 1])) n--;
    send_more(s->answer, s->printer, BURIN_STREAM_CONTENT, content.data, n);
    if (calls.n) burin_print_bytes(calls.data, calls.n);
    free(content.data), free(calls.data);
    return called;
}

// An answer in channels is sent when it has ended.
static bool send_channels(streaming *s, const char *text, size_t bytes) {
    burin_capture content = {0};
    const burin_call_reader reader = {.context = s, .call = take_call};
    bool called =
        burin_read_tool_calls(&s->answer->request->tools, text, bytes, &content, &reader) > 0;
    const burin_answer_parts parts =
        burin_split_channels(content.data ? content.data : "", content.n);
    send_more(s->answer, s->printer, BURIN_STREAM_REASONING, parts.reasoning,
              parts.reasoning_bytes);
    send_more(s->answer, s->printer, BURIN_STREAM_CONTENT, parts.rest, parts.rest_bytes);
    free(content.data);
    return called;
}

bool burin_stream_parts(burin_answer *a, const burin_stream_printer *printer) {
    const burin_request *q = a->request;
    streaming s = {a, printer};
    bool ended = a->finish != NULL;
    if (q->has_tools && q->tools.form == BURIN_TOOLS_CHANNELS)
        return ended && send_channels(&s, a->g.answer, a->g.answer_bytes);
    const burin_answer_parts parts =
        burin_split_answer(a->g.answer, a->g.answer_bytes, q->thinking, ended);
    send_more(a, printer, BURIN_STREAM_REASONING, parts.reasoning, parts.reasoning_bytes);
    if (q->has_tools) return send_content_and_calls(&s, parts.rest, parts.rest_bytes, ended);
    send_more(a, printer, BURIN_STREAM_CONTENT, parts.rest, parts.rest_bytes);
    return false;
}
