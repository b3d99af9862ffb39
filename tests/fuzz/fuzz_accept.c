/* fuzz_accept.c -- an Accept header. Capitals and empty members mean nothing in it. */
#include "api/request.h"
#include "tests/fuzz/fuzz.h"

/* What comes of a text: a format, or -1. */
static int outcome(const char *text)
{
    enum format format = FORMAT_COUNT;
    enum err err = request_accept(text, &format);
    CHECK(err == ERR_NONE || err == ERR_NOT_ACCEPTABLE);
    CHECK((format < FORMAT_COUNT) == (err == ERR_NONE));
    return err ? -1 : (int)format;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    int result = outcome(text);
    if (text[strspn(text, " \t,")] != '\0') { /* else there is no member: as if there were no header */
        char *longer = fuzz_joined(", ", text);
        CHECK(outcome(longer) == result);
        free(longer);
    }
    for (char *c = text; *c; c++)
        if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
    CHECK(outcome(text) == result);
    free(text);
    return 0;
}
