// burin report: the data, alone or in its page.
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/output.h"
#include "report_page.h"
#include "util/text.h"

// The page is one file: placeholders for its style, its data and its script are replaced.
static void write_page(Text *t, const json_t *data) {
    char *json = json_for_page(data);
    const struct {
        const char *mark, *text;
    } parts[] = {{"@css@", page_css}, {"@data@", json}, {"@js@", page_js}};
    const char *html = page_html;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const char *mark = strstr(html, parts[i].mark);
        text_append(t, html, (size_t)(mark - html));
        text_append(t, parts[i].text, strlen(parts[i].text));
        html = mark + strlen(parts[i].mark);
    }
    text_append(t, html, strlen(html));
    free(json);
}

static void write_json(Text *t, const json_t *data) {
    char *json = json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(9));
    if (!json) diag_fatal(NO_LOC, "out of memory (the report)");
    text_append(t, json, strlen(json));
    text_append(t, "\n", 1);
    free(json);
}

// Refuses names of other formats and unwritable paths before the work.
static void check_page(const char *path, bool json) {
    static const char *const others[] = {".pdf", ".md", ".txt", ".png", ".svg", ".json"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (text_ends_with(path, others[i]) && !(json && i + 1 == sizeof others / sizeof *others))
            usage_error("-o %s: the page is HTML\n  hint: -o report.html, or --json -o report.json",
                        path);
    const char *why = burin_cannot_create(path);
    if (why) diag_fatal(NO_LOC, "cannot write %s: %s", path, why);
}

int report_model(Build *b) {
    const Options *o = b->options;
    const char *output = o->page   ? o->page
                         : o->json ? NULL
                                   : arena_printf(b->arena, "%s.html", b->name);
    Text t = {0};
    if (output) check_page(output, o->json);
    const json_t *data = report_collect(b);
    o->json ? write_json(&t, data) : write_page(&t, data);
    if (output) {
        write_file(output, t.data, t.length);
        print_spelled("%s: a page about %s, %zu KB\n", output, b->name, (t.length + 1023) / 1024);
    } else {
        fwrite(t.data, 1, t.length, stdout);
    }
    text_free(&t);
    return 0;
}
