/* fault.c -- the sentences that say why a request is refused.
 * They are shown in answers and logs, so what a client sent is only ever quoted as short printable ASCII.
 * Threads: any, all pure. */
#include "api/fault.h"

#include <stdarg.h>
#include <stdio.h>

#include "api/params.h"
#include "api/text.h"

enum err fault_set(struct request_fault *fault, enum err err, const char *param, const char *format, ...)
{
    snprintf(fault->param, sizeof fault->param, "%s", param ? param : "");
    fault->item = 0;
    va_list args;
    va_start(args, format);
    vsnprintf(fault->detail, sizeof fault->detail, format, args);
    va_end(args);
    return err;
}

void fault_quote(const char *text, size_t len, const char *instead, char ret_quote[FAULT_QUOTE_BYTES])
{
    size_t shown = len < FAULT_QUOTE_SHOWN ? len : FAULT_QUOTE_SHOWN;
    if (text_is_printable(text, shown))
        snprintf(ret_quote, FAULT_QUOTE_BYTES, "\"%.*s%s\"", (int)shown, text, len > shown ? "..." : "");
    else
        snprintf(ret_quote, FAULT_QUOTE_BYTES, "%s", instead);
}

enum err fault_value(struct request_fault *fault, enum err err, int i, const char *value, size_t len)
{
    char quote[FAULT_QUOTE_BYTES], allowed[PARAM_ALLOWED_BYTES];
    fault_quote(value, len, "the value given", quote);
    param_allowed(i, allowed);
    return fault_set(fault, err, params[i].name, "%s must be %s; %s is not", params[i].name, allowed,
                     len ? quote : "an empty value");
}
