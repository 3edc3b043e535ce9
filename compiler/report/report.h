// burin's knowledge of a model as one JSON object (README.md lists its fields): `burin report`
// writes it, alone or inside a page, and `burin explain` puts parts of it into words. All figures
// come from here, so the three agree.
#ifndef BURIN_REPORT_H
#define BURIN_REPORT_H
#include <jansson.h>

#include "build/build.h"
#include "codegen/cost.h"

int report_model(Build *);   // burin report: exit status
int explain_model(Build *);  // burin explain: the same for a part

// The whole object, of a model that is loaded, compiled and, where the options ask for it, run.
// Released with the arena.
json_t *report_collect(Build *);

// --------------------------------------------------------------------------------- json.c: writing
// A string; bytes that are no UTF-8 are spelled as in messages. NULL gives null.
json_t *json_of_text(const char *);
void json_put(json_t *object, const char *key,
              json_t *value);  // takes the value over; ends the run when memory does
void json_put_text(json_t *object, const char *key, const char *);
void json_put_count(json_t *object, const char *key, uint64_t);
void json_add(json_t *array, json_t *value);
// Text that is safe inside a <script>: ASCII alone, without <, > and &.
char *json_for_page(const json_t *);  // malloc'd
// Where a value comes from: {"text", "line", "column", "scope"}; absent parts are left out.
json_t *json_of_loc(Loc);

// ----------------------------------------------------------------------------- the parts, in order
typedef struct PassLog PassLog;
PassLog *pass_log_new(Build *);      // before the passes: watches them
json_t *pass_log_passes(PassLog *);  // after them
const char *advice_for(
    const char *why);  // what to change in the model where a fusion missed for this reason; or NULL
json_t *pass_log_sites(PassLog *);  // every fusion site, with the pass that saw it
// The number of a path that tells layers apart: "model.layers.3.mlp" is layer 3 of "model.layers",
// whose length is written. False without one.
bool layer_of_scope(const char *scope, int *stack_length, int *layer);
json_t *graph_of_program(const Program *);
json_t *sources_of_programs(
    const Program *);  // texts of the descriptions that locations point into
json_t *kernels_of_program(const Program *);
json_t *memory_of_program(const Program *);
json_t *functions_of_program(const Program *);
json_t *summary_of(const Build *, const Program *);
json_t *costs_of(const Build *, const Program *);

StepSizes step_of_one_row(const Build *);
StepSizes step_of_prompt(const Build *, const Program *);

// report --run: the limits of this machine, and runs of the program with the time of each call
// (measure.c).
json_t *measure(Build *);
// [{"layer": "model.layers.3", "ms"}], in the order of the calls in a trace that the program wrote;
// "": outside of layers.
json_t *layers_of_trace(const Program *, const char *path);
double measure_reading(
    Build *);  // bytes a second that all threads together read from memory; 0: unknown
// burin plan: prints the table (plan_ranks.c); of a config.json alone, the Build has no program.
int plan_ranks(Build *, bool of_shape);
// report --text: the attention weights of every head over the text, by the interpreter (attend.c).
json_t *attend(Build *);
#endif
