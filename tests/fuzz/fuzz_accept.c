/* fuzz_accept.c -- an Accept or Accept-Encoding header. Capitals and empty members mean nothing in it. */
#include "api/request.h"
#include "tests/fuzz/fuzz.h"

/* What comes of a text: a format, or -1; and whether HTML and gzip may be sent. */
struct outcome {
    int format;
    bool html, gzip;
};

static struct outcome outcome(const char *text)
{
    enum format format = FORMAT_COUNT;
    enum err err = request_accept(text, &format);
    CHECK(err == ERR_NONE || err == ERR_NOT_ACCEPTABLE);
    CHECK((format < FORMAT_COUNT) == (err == ERR_NONE));
    return (struct outcome){err ? -1 : (int)format, request_accepts_html(text), request_accepts_gzip(text)};
}

static bool equal(struct outcome a, struct outcome b)
{
    return a.format == b.format && a.html == b.html && a.gzip == b.gzip;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct outcome result = outcome(text);
    if (text[strspn(text, " \t,")] != '\0') { /* else there is no member: as if there were no header */
        char *longer = fuzz_joined(", ", text);
        CHECK(equal(outcome(longer), result));
        free(longer);
    }
    for (char *c = text; *c; c++)
        if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
    CHECK(equal(outcome(text), result));
    free(text);
    return 0;
}
