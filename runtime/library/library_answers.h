// The end of the interface of a shared library of texts, pasted into library.h.

// ---- chat templates and forms of answers: of shared libraries alone ----
// These functions allocate. They end the process where the system has no memory.

// The prompt that the chat template makes of messages in JSON: a list as OpenAI's API has it, or an
// object with messages, tools, documents, add_generation_prompt and kwargs.
typedef struct NAME_prompt {
    const char *text;      // terminated; NULL: `error` has the reason
    const uint8_t *marks;  // [bytes], 1: from the messages, where special tokens are text
    size_t bytes;
    int32_t end;  // the template's own token that ends an answer, or -1
    void *memory;
    char error[1024];
} NAME_prompt;
bool NAME_has_template(void);
int NAME_prompt_open(NAME_prompt *, const char *messages, size_t bytes);  // or NAME_BAD_TEXT
void NAME_prompt_close(NAME_prompt *);

// The form of an answer: a grammar in llama.cpp's notation, a JSON schema, or any object of JSON.
enum { NAME_GRAMMAR, NAME_JSON_SCHEMA, NAME_JSON_OBJECT };
typedef struct NAME_form {
    void *form;
    int32_t end;      // as of a prompt: a further token that ends an answer, or -1
    char error[512];  // the reason of NAME_BAD_TEXT
} NAME_form;
int NAME_form_open(NAME_form *, int kind, const char *text, size_t bytes);
// An answer begins. `first`: no token precedes it whose text ends in a word.
int NAME_form_start(NAME_form *, bool first);
// As NAME_sample, among the tokens that the form allows. Takes the token, or returns
// NAME_TEXT_ENDS; NAME_BAD_TEXT: `error` has the limit that the form has passed.
int32_t NAME_form_sample(NAME_form *, NAME_sampler *, float *logits, const int32_t *tokens, int n);
void NAME_form_close(NAME_form *);

// The generator of a sampler as bytes, to continue from: that of session files.
enum { NAME_SAMPLER_SAVED_BYTES = 48 };
int NAME_sampler_save(const NAME_sampler *, void *bytes);
int NAME_sampler_load(NAME_sampler *, const void *bytes);
uint64_t NAME_checksum(const void *memory, size_t bytes);  // of session files
