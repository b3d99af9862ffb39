/* The EXIF of our WebP files: TIFF with one directory of one entry, the image description (tag 0x010e,
 * ASCII), which is the key. The encoder writes it and api/recipe.c reads it; both name nothing else of the
 * format. Behind the head stand WEBP_EXIF_REST bytes: how many bytes the text has (u32, little-endian, with
 * its NUL), where it stands (26), and that no directory follows (0); and behind these the text and its NUL.
 */
#pragma once

#define WEBP_EXIF_HEAD                                                                                       \
    {                                                                                                        \
        'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x0e, 0x01, 2, 0                                                  \
    }
#define WEBP_EXIF_REST 12
#define WEBP_EXIF_TEXT 26 /* where the text stands */
