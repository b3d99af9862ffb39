/* fuzz_accept.c -- an Accept header. Capitals and empty members mean nothing in it. */
#include <ctype.h>

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
    size_t len = strlen(text);
    int result = outcome(text);
    if (text[strspn(text, " \t,")] != '\0') { /* else there is no member: as if there were no header */
        char *longer = malloc(len + 3);
        CHECK(longer);
        memcpy(longer, ", ", 2);
        memcpy(longer + 2, text, len + 1);
        CHECK(outcome(longer) == result);
        free(longer);
    }
    for (size_t i = 0; i < len; i++)
        text[i] = (char)toupper((unsigned char)text[i]);
    CHECK(outcome(text) == result);
    free(text);
    return 0;
}
