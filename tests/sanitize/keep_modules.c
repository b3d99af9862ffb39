/* keep_modules.c -- linked into sanitized programs: no library is unloaded before the process ends. GL
 * drivers are loaded and unloaded with a context, and what they keep until the end can only be told from a
 * leak of ours while their names are known (lsan.txt). */
int dlclose(void *library);

int dlclose(void *library)
{
    (void)library;
    return 0;
}
