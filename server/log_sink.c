/* log_sink.c -- lines of the log to standard error.
 *
 * A service must not stop because nobody reads its log: a full pipe would hold every thread that has
 * something to say, and SIGTERM with them. So it is asked whether there is room (a socket is written without
 * waiting), and lines that find none are lost; log.c tells the reader how many. Standard error itself stays
 * as it is: it may be shared with other programs, whose writes would begin to fail if it were made
 * non-blocking. The lock keeps "there is room" true until it is used; other processes on the same pipe can
 * still take the room between, which then costs a short wait. Threads: any. */
#include "server/log_sink.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define REST_MS 100 /* a piece that was taken in part may wait so long for its rest: half a line misleads */
#define ROOM_MS                                                                                              \
    200 /* a reader may be so late once; from then on nobody waits for it until it reads again               \
         */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of writing, and of `late` */
static bool late;                                        /* the reader let ROOM_MS pass */

static bool room_within(int ms)
{
    struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};
    return poll(&p, 1, ms) != 0; /* what can't be asked, or is closed, fails when it is written to */
}

/* With the lock held: one piece, or nothing of it. */
static bool piece_write(const char *bytes, size_t len)
{
    bool begun = false;
    while (len > 0) {
        late = !room_within(begun ? REST_MS : late ? 0 : ROOM_MS);
        if (late)
            return false;
        ssize_t n = send(STDERR_FILENO, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == ENOTSOCK)
            n = write(STDERR_FILENO, bytes, len);
        if (n < 0 && errno != EINTR && !(begun && errno == EAGAIN))
            return false;
        if (n > 0) {
            bytes += n;
            len -= (size_t)n;
            begun = true;
        }
    }
    return true;
}

static uint64_t lines_in(const char *bytes, size_t len)
{
    uint64_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += bytes[i] == '\n';
    return n;
}

uint64_t log_sink_write(const char *lines, size_t len)
{
    uint64_t lost = 0;
    pthread_mutex_lock(&lock);
    while (len > 0) {
        size_t piece = len;
        if (len > LOG_LINE_BYTES) {
            const char *end = memrchr(lines, '\n', LOG_LINE_BYTES);
            piece = end ? (size_t)(end + 1 - lines) : LOG_LINE_BYTES;
        }
        if (!piece_write(lines, piece))
            lost += lines_in(lines, piece);
        lines += piece;
        len -= piece;
    }
    pthread_mutex_unlock(&lock);
    return lost;
}
