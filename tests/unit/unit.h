// Unit tests with CUnit: tests/unit/NAME.c holds its tests and
//
//     SUITE(NAME) { TEST(adds_constants); TEST(keeps_order); }
//
// and is found by its name. Prints one `ok - suite: test` or `not ok - suite: test` line a test.
#ifndef BURIN_UNIT_H
#define BURIN_UNIT_H
#include <CUnit/CUnit.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

void unit_add(const char *suite, const char *name, void (*run)(void));
#define SUITE(name)                                   \
    static const char *const unit_suite_name = #name; \
    void suite_##name(void);                          \
    void suite_##name(void)
#define TEST(f)                   unit_add(unit_suite_name, #f, f)
#define CHECK(condition)          CU_ASSERT(condition)
#define CHECK_TEXT(got, expected) unit_check_text(got, expected, __FILE__, __LINE__)
void unit_check_text(const char *got, const char *expected, const char *file,
                     int line);  // prints both when they differ

#ifdef UNIT_MAIN
#include <stdio.h>
#include <stdlib.h>

void unit_suites(void);

void unit_check_text(const char *got, const char *expected, const char *file, int line) {
    bool same = got && !strcmp(got, expected);
    if (!same)
        printf("# %s:%d: expected\n%s\n# got\n%s\n", file, line, expected, got ? got : "(null)");
    CU_assertImplementation(same, (unsigned)line, "texts differ", file, "", CU_FALSE);
}

void unit_add(const char *suite, const char *name, void (*run)(void)) {
    CU_pSuite s = CU_get_suite(suite);
    if (!s) s = CU_add_suite(suite, NULL, NULL);
    CU_add_test(s, name, run);
}

static void test_done(const CU_pTest test, const CU_pSuite suite, const CU_pFailureRecord failure) {
    printf("%s - %s: %s\n", failure ? "not ok" : "ok", suite->pName, test->pName);
    for (CU_pFailureRecord f = failure; f; f = f->pNext)
        printf("# %s:%u: %s\n", f->strFileName, f->uiLineNumber, f->strCondition);
    fflush(stdout);
}

static void run_suite(const char *name) {
    CU_pSuite suite = CU_get_suite(name);
    if (suite)
        CU_run_suite(suite);
    else
        printf("not ok - there is no suite %s\n", name), exit(2);
}

// All suites, or those that are named.
int main(int argc, char **argv) {
    CU_initialize_registry();
    unit_suites();
    CU_set_test_complete_handler(test_done);
    for (int i = 1; i < argc; i++) run_suite(argv[i]);
    if (argc == 1) CU_run_all_tests();
    int failed = (int)CU_get_number_of_tests_failed();
    CU_cleanup_registry();
    return failed ? 1 : 0;
}
#endif
#endif
