/* area.c -- see area.h. Threads: any, all pure. */
#include "renderer/encode/area.h"

#include <stddef.h>
#include <string.h>

struct area area_changed(const uint16_t *shown, const uint16_t *frame, int side)
{
    int left = side, right = -1, top = side, bottom = -1;
    for (int y = 0; y < side; y++, shown += side, frame += side) {
        if (memcmp(shown, frame, (size_t)side * sizeof(*frame)) == 0)
            continue;
        int first = 0, last = side - 1;
        while (shown[first] == frame[first])
            first++;
        while (shown[last] == frame[last])
            last--;
        left = first < left ? first : left;
        right = last > right ? last : right;
        top = y < top ? y : top;
        bottom = y;
    }
    if (right < 0)
        return (struct area){0, 0, 1, 1};
    return (struct area){left, top, right - left + 1, bottom - top + 1};
}
