/* problem.c -- each cause of failure in the words of HTTP (RFC 9457).
 * One switch, without a default, so that the compiler names a cause that has no status. Threads: any. */
#include "api/problem.h"

#include <jansson.h>

#include "api/json_out.h"

struct wording {
    int status;
    const char *title;
};

static struct wording wording_of(enum err err)
{
    switch (err) {
    case ERR_NONE:
        return (struct wording){200, "No error"};
    case ERR_PARAM_UNKNOWN:
        return (struct wording){400, "Unknown parameter"};
    case ERR_PARAM_REPEATED:
        return (struct wording){400, "Parameter given twice"};
    case ERR_PARAM_SYNTAX:
        return (struct wording){400, "Value of the wrong kind"};
    case ERR_PARAM_RANGE:
        return (struct wording){400, "Value out of range"};
    case ERR_PARAM_COMBINATION:
        return (struct wording){400, "Values that exclude each other"};
    case ERR_PICTURE_SIZE:
        return (struct wording){400, "Picture too large"};
    case ERR_TEXT_ENCODING:
        return (struct wording){400, "Broken text encoding"};
    case ERR_REQUEST_SYNTAX:
        return (struct wording){400, "Malformed request"};
    case ERR_BODY_SYNTAX:
        return (struct wording){400, "Malformed request body"};
    case ERR_SIGNATURE:
        return (struct wording){403, "Not signed"};
    case ERR_EXPIRED:
        return (struct wording){403, "Signed URL expired"};
    case ERR_REVISION:
        return (struct wording){404, "Another revision"};
    case ERR_NOT_FOUND:
        return (struct wording){404, "Not found"};
    case ERR_METHOD:
        return (struct wording){405, "Method not allowed"};
    case ERR_NOT_ACCEPTABLE:
        return (struct wording){406, "No acceptable format"};
    case ERR_SHARE:
        return (struct wording){429, "Too much of this client waits"};
    case ERR_BODY_SIZE:
        return (struct wording){413, "Request body too large"};
    case ERR_URL_SIZE:
        return (struct wording){414, "URL too long"};
    case ERR_BODY_TYPE:
        return (struct wording){415, "Unsupported type of request body"};
    case ERR_RECIPE:
        return (struct wording){422, "No recipe"};
    case ERR_HEADER_SIZE:
        return (struct wording){431, "Request headers too large"};
    case ERR_IO:
        return (struct wording){500, "Input or output failed"};
    case ERR_CONFIG:
        return (struct wording){500, "Wrong configuration"};
    case ERR_ENCODE:
        return (struct wording){500, "Encoding failed"};
    case ERR_OOM:
        return (struct wording){503, "Out of memory"};
    case ERR_BUSY:
        return (struct wording){503, "Too busy"};
    case ERR_DRAINING:
        return (struct wording){503, "Shutting down"};
    case ERR_CANCELLED:
        return (struct wording){503, "Cancelled"};
    case ERR_BACKEND_UNKNOWN:
    case ERR_NO_DEVICE:
        return (struct wording){503, "No device to draw with"};
    case ERR_SELF_TEST:
        return (struct wording){503, "Self-test failed"};
    case ERR_DEVICE_LOST:
        return (struct wording){503, "Device lost"};
    case ERR_COUNT:
        break;
    }
    return (struct wording){500, "Unknown error"};
}

int problem_status(enum err err)
{
    return wording_of(err).status;
}

const char *problem_title(enum err err)
{
    return wording_of(err).title;
}

enum err problem_write(enum err err, const struct request_fault *fault, const char *request_id,
                       struct blob *out)
{
    bool has_detail = fault && fault->detail[0];
    json_t *root = json_object();
    json_object_set_new(root, "type", json_sprintf("urn:planetd:problem:%s", err_name(err)));
    json_object_set_new(root, "title", json_string(problem_title(err)));
    json_object_set_new(root, "status", json_integer(problem_status(err)));
    json_object_set_new(root, "detail", json_string(has_detail ? fault->detail : err_words(err)));
    if (fault && fault->param[0])
        json_object_set_new(root, "parameter", json_string(fault->param));
    if (fault && fault->item)
        json_object_set_new(root, "index", json_integer(fault->item - 1));
    json_object_set_new(root, "instance", json_string(request_id));
    return json_out(root, out);
}
