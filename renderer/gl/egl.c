/* egl.c -- finds a device and makes a context on it that needs no window and no display server.
 *
 * The device platform comes first: it names each GPU and each software renderer, and it works where nobody is
 * logged in. The surfaceless platform and the default display are for EGLs without it. A process has one
 * display for each device, however often it is asked for, and eglTerminate ends all contexts of a display; so
 * users are counted here, and the last one to leave ends it (and with it the driver's threads and files).
 *
 * Threads: the table of displays has a lock; a struct egl belongs to the thread that opened it. */
#include "renderer/gl/egl.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <EGL/eglext.h>
#include <GLES3/gl32.h>

#define DEVICES_MAX  32 /* more GPUs than any host has */
#define DISPLAYS_MAX 64 /* one for each device, and those of the other platforms */

/* ---- Text ---------------------------------------------------------------------------------------------- */

/* Adds to a text of EGL_REASON_BYTES; what does not fit is cut. */
PRINTF_LIKE(2, 3) static void tell(char *reason, const char *format, ...)
{
    size_t len = strlen(reason);
    if (len && len + 2 < EGL_REASON_BYTES) {
        memcpy(reason + len, "; ", 3);
        len += 2;
    }
    va_list args;
    va_start(args, format);
    vsnprintf(reason + len, EGL_REASON_BYTES - len, format, args);
    va_end(args);
}

static const char *egl_error_words(EGLint error)
{
    switch (error) {
    case EGL_NOT_INITIALIZED:
        return "its driver can't start";
    case EGL_BAD_ACCESS:
        return "access is denied";
    case EGL_BAD_ALLOC:
        return "out of memory";
    case EGL_BAD_MATCH:
    case EGL_BAD_CONFIG:
    case EGL_BAD_ATTRIBUTE:
        return "no such context";
    case EGL_CONTEXT_LOST:
        return "context lost";
    default:
        return "EGL refuses";
    }
}

/* Is `name` one of the words of `list` (may be NULL)? */
static bool has_word(const char *list, const char *name)
{
    size_t len = strlen(name);
    for (const char *at = list; at && (at = strstr(at, name)); at += len)
        if ((at == list || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0'))
            return true;
    return false;
}

/* ---- Displays ------------------------------------------------------------------------------------------ */

static pthread_mutex_t displays_lock = PTHREAD_MUTEX_INITIALIZER;
static struct display_slot {
    EGLDisplay display;
    int users; /* 0: the slot is free */
} displays[DISPLAYS_MAX];

static struct display_slot *display_slot(EGLDisplay display)
{
    struct display_slot *free_slot = NULL;
    for (size_t i = 0; i < ARRAY_LEN(displays); i++) {
        if (displays[i].users > 0 && displays[i].display == display)
            return &displays[i];
        if (displays[i].users == 0 && !free_slot)
            free_slot = &displays[i];
    }
    return free_slot;
}

/* On success the caller gives it back with display_release(). */
static bool display_acquire(EGLDisplay display)
{
    pthread_mutex_lock(&displays_lock);
    struct display_slot *slot = display_slot(display);
    bool ready = slot && (slot->users > 0 || eglInitialize(display, NULL, NULL));
    if (ready) {
        slot->display = display;
        slot->users++;
    }
    pthread_mutex_unlock(&displays_lock);
    return ready;
}

static void display_release(EGLDisplay display)
{
    pthread_mutex_lock(&displays_lock);
    struct display_slot *slot = display_slot(display);
    if (slot && slot->users > 0 && --slot->users == 0)
        eglTerminate(display);
    pthread_mutex_unlock(&displays_lock);
}

/* ---- Context ------------------------------------------------------------------------------------------- */

static const struct api {
    EGLenum api;
    EGLint major, minor;
} apis[] = {
    {EGL_OPENGL_ES_API, 3, 2},
    {EGL_OPENGL_ES_API, 3, 1},
    {EGL_OPENGL_API, 4, 5},
    {EGL_OPENGL_API, 4, 3},
};

/* A config for drivers that insist on one. */
static bool choose_config(EGLDisplay display, const struct api *api, EGLConfig *ret_config)
{
    EGLint kind = api->api == EGL_OPENGL_API ? EGL_OPENGL_BIT : EGL_OPENGL_ES3_BIT;
    const EGLint wanted[] = {EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, kind, EGL_NONE};
    EGLint count = 0;
    return eglChooseConfig(display, wanted, ret_config, 1, &count) && count > 0;
}

/* `robust`: a context that reports a reset of the GPU and is then lost, instead of going on with garbage. */
static EGLContext try_context(EGLDisplay display, const char *extensions, const struct api *api, bool robust)
{
    EGLConfig config = EGL_NO_CONFIG_KHR;
    if (!has_word(extensions, "EGL_KHR_no_config_context") && !choose_config(display, api, &config))
        return EGL_NO_CONTEXT;
    EGLint attributes[12] = {EGL_CONTEXT_MAJOR_VERSION, api->major, EGL_CONTEXT_MINOR_VERSION, api->minor};
    int n = 4;
    if (api->api == EGL_OPENGL_API) {
        attributes[n++] = EGL_CONTEXT_OPENGL_PROFILE_MASK;
        attributes[n++] = EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT;
    }
    if (robust) { /* the extension's names: drivers take them for both kinds of GL */
        attributes[n++] = EGL_CONTEXT_OPENGL_ROBUST_ACCESS_EXT;
        attributes[n++] = EGL_TRUE;
        attributes[n++] = EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY_EXT;
        attributes[n++] = EGL_LOSE_CONTEXT_ON_RESET_EXT;
    }
    attributes[n] = EGL_NONE;
    return eglCreateContext(display, config, EGL_NO_CONTEXT, attributes);
}

/* The first API of the table that the display can do; bound on return. */
static EGLContext make_context(EGLDisplay display, char *ret_why)
{
    const char *extensions = eglQueryString(display, EGL_EXTENSIONS);
    const char *version = eglQueryString(display, EGL_VERSION);
    bool versioned =
        (version && strncmp(version, "1.4", 3) > 0) || has_word(extensions, "EGL_KHR_create_context");
    if (!versioned || !has_word(extensions, "EGL_KHR_surfaceless_context")) {
        tell(ret_why, "its EGL has no contexts without a window");
        return EGL_NO_CONTEXT;
    }
    bool can_be_robust = has_word(extensions, "EGL_EXT_create_context_robustness");
    for (size_t i = 0; i < ARRAY_LEN(apis); i++) {
        EGLContext context = EGL_NO_CONTEXT;
        if (!eglBindAPI(apis[i].api))
            continue;
        if (can_be_robust)
            context = try_context(display, extensions, &apis[i], true);
        if (context == EGL_NO_CONTEXT)
            context = try_context(display, extensions, &apis[i], false);
        if (context != EGL_NO_CONTEXT)
            return context;
    }
    tell(ret_why, "no OpenGL ES 3.1 and no GL 4.3");
    return EGL_NO_CONTEXT;
}

static bool names_software(const char *renderer)
{
    static const char *const words[] = {"llvmpipe",    "softpipe", "swrast",
                                        "swiftshader", "software", "basic render"};
    for (const char *at = renderer; *at; at++)
        for (size_t i = 0; i < ARRAY_LEN(words); i++)
            if (strncasecmp(at, words[i], strlen(words[i])) == 0)
                return true;
    return false;
}

static void describe(struct egl *egl)
{
    const char *renderer = (const char *)glGetString(GL_RENDERER);
    const char *version = (const char *)glGetString(GL_VERSION);
    GLint major = 0, minor = 0;
    glGetIntegerv(GL_MAJOR_VERSION, &major);
    glGetIntegerv(GL_MINOR_VERSION, &minor);
    egl->version = 10 * major + minor;
    egl->es = version && strncmp(version, "OpenGL ES", 9) == 0;
    egl->hardware = renderer && !names_software(renderer);
    snprintf(egl->device, sizeof egl->device, "%s, %s", renderer ? renderer : "?", version ? version : "?");
}

/* Makes a context on the display and keeps it if it is of the wanted kind; `name` is the display's for
 * people. */
static bool take_display(EGLDisplay display, const char *name, bool software, struct egl *ret_egl,
                         char *reason)
{
    char why[EGL_REASON_BYTES] = "";
    if (display == EGL_NO_DISPLAY || !display_acquire(display)) {
        tell(reason, "%s: %s", name, egl_error_words(eglGetError()));
        return false;
    }
    struct egl egl = {.display = display, .context = make_context(display, why)};
    if (egl.context == EGL_NO_CONTEXT) {
        tell(reason, "%s: %s", name, why);
        display_release(display);
        return false;
    }
    if (eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, egl.context)) {
        describe(&egl);
        if (egl.hardware != software) {
            *ret_egl = egl;
            return true;
        }
        tell(reason, "%s: %s is %s", name, egl.device, egl.hardware ? "hardware" : "software");
    } else {
        tell(reason, "%s: %s", name, egl_error_words(eglGetError()));
    }
    egl_close(&egl);
    return false;
}

/* ---- Platforms ----------------------------------------------------------------------------------------- */

/* What EGL can do before there is a display; NULL functions are missing. */
struct platforms {
    const char *extensions;
    PFNEGLGETPLATFORMDISPLAYEXTPROC get_display;
    PFNEGLQUERYDEVICESEXTPROC query_devices;
    PFNEGLQUERYDEVICESTRINGEXTPROC query_device_string;
};

/* eglGetProcAddress answers for names that no driver knows, so extensions are asked first. */
static struct platforms platforms_load(void)
{
    struct platforms p = {.extensions = eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS)};
    if (has_word(p.extensions, "EGL_EXT_platform_base"))
        p.get_display = (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
    bool base = has_word(p.extensions, "EGL_EXT_device_base");
    if (base || has_word(p.extensions, "EGL_EXT_device_enumeration"))
        p.query_devices = (PFNEGLQUERYDEVICESEXTPROC)eglGetProcAddress("eglQueryDevicesEXT");
    if (base || has_word(p.extensions, "EGL_EXT_device_query"))
        p.query_device_string = (PFNEGLQUERYDEVICESTRINGEXTPROC)eglGetProcAddress("eglQueryDeviceStringEXT");
    return p;
}

/* Devices of all drivers; 0 if there are none or EGL can't tell. */
static int list_devices(const struct platforms *p, EGLDeviceEXT *devices)
{
    EGLint count = 0;
    bool usable = p->get_display && p->query_devices && has_word(p->extensions, "EGL_EXT_platform_device");
    return usable && p->query_devices(DEVICES_MAX, devices, &count) ? count : 0;
}

static bool take_device(const struct platforms *p, EGLDeviceEXT device, int number, bool software,
                        struct egl *ret_egl, char *reason)
{
    const char *extensions = NULL, *file = NULL;
    if (p->query_device_string) {
        extensions = p->query_device_string(device, EGL_EXTENSIONS);
        if (has_word(extensions, "EGL_EXT_device_drm"))
            file = p->query_device_string(device, EGL_DRM_DEVICE_FILE_EXT);
    }
    char name[64];
    snprintf(name, sizeof name, file ? "device %d (%s)" : "device %d", number, file);
    if (!software &&
        has_word(extensions, "EGL_MESA_device_software")) { /* known without starting its driver */
        tell(reason, "%s: a software renderer", name);
        return false;
    }
    return take_display(p->get_display(EGL_PLATFORM_DEVICE_EXT, device, NULL), name, software, ret_egl,
                        reason);
}

/* Render nodes that this process may not open, with the group that may: the usual cause of a GPU that isn't
 * found. */
static void tell_denied_nodes(char *reason)
{
    glob_t nodes;
    if (glob("/dev/dri/renderD*", 0, NULL, &nodes) != 0)
        return;
    for (size_t i = 0; i < nodes.gl_pathc; i++) {
        const char *path = nodes.gl_pathv[i];
        struct stat st;
        if (faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0 || errno != EACCES ||
            stat(path, &st) != 0)
            continue;
        struct group group, *found = NULL;
        char names[1024];
        if (getgrgid_r(st.st_gid, &group, names, sizeof names, &found) == 0 && found)
            tell(reason, "no right to open %s (group %s)", path, group.gr_name);
        else
            tell(reason, "no right to open %s (group %u)", path, (unsigned)st.st_gid);
    }
    globfree(&nodes);
}

enum err egl_open(bool software, struct egl *ret_egl, char *ret_reason)
{
    EGLDeviceEXT devices[DEVICES_MAX];
    struct platforms p = platforms_load();
    int count = list_devices(&p, devices);
    ret_reason[0] = '\0';
    if (!software)
        tell_denied_nodes(ret_reason);
    for (int i = 0; i < count; i++)
        if (take_device(&p, devices[i], i, software, ret_egl, ret_reason))
            return ERR_NONE;
    if (p.get_display && has_word(p.extensions, "EGL_MESA_platform_surfaceless")) {
        EGLDisplay display = p.get_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
        if (take_display(display, "surfaceless", software, ret_egl, ret_reason))
            return ERR_NONE;
    }
    /* It may wait for a display server, so only where nothing else told of a device. */
    if (count == 0 &&
        take_display(eglGetDisplay(EGL_DEFAULT_DISPLAY), "default display", software, ret_egl, ret_reason))
        return ERR_NONE;
    if (count == 0)
        tell(ret_reason, "no EGL device");
    return ERR_NO_DEVICE;
}

void egl_close(struct egl *egl)
{
    if (egl->context) {
        eglMakeCurrent(egl->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
        eglDestroyContext(egl->display, egl->context);
        display_release(egl->display);
    }
    *egl = (struct egl){0};
}

bool egl_has_gl_extension(const char *name)
{
    GLint count = 0;
    glGetIntegerv(GL_NUM_EXTENSIONS, &count);
    for (GLint i = 0; i < count; i++) {
        const char *extension = (const char *)glGetStringi(GL_EXTENSIONS, (GLuint)i);
        if (extension && strcmp(extension, name) == 0)
            return true;
    }
    return false;
}
