/* forwarded.c -- who the client is behind trusted proxies.
 *
 * Each proxy appends the address it got the request from, so only the right end of a header is known to come
 * from a proxy of ours; everything left of the first address that isn't one may be the client's invention.
 * Elements are therefore cut off from the right, quoted strings included: a quote that the client left open
 * can't swallow what the proxy wrote behind it. Nothing is allocated, and the time is linear in the header.
 * Threads: any. */
#include "server/forwarded.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>

#define ADDRESS_BYTES 48 /* the longest IPv6 text has 45 characters */

struct span {
    const char *at;
    size_t len;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct span trimmed(struct span s)
{
    while (s.len && is_blank(s.at[0]))
        s.at++, s.len--;
    while (s.len && is_blank(s.at[s.len - 1]))
        s.len--;
    return s;
}

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* IPv4 or IPv6 without brackets, zone or port. */
static bool address_read(struct span s, unsigned char ret_bytes[16])
{
    char text[ADDRESS_BYTES];
    struct in_addr v4;
    if (s.len == 0 || s.len >= sizeof(text) || memchr(s.at, '\0', s.len))
        return false;
    memcpy(text, s.at, s.len);
    text[s.len] = '\0';
    if (inet_pton(AF_INET, text, &v4) == 1) {
        memset(ret_bytes, 0, 10);
        memset(ret_bytes + 10, 0xff, 2);
        memcpy(ret_bytes + 12, &v4, 4);
        return true;
    }
    return inet_pton(AF_INET6, text, ret_bytes) == 1;
}

/* ---- Trusted proxies ---- */

static bool network_read(struct span s, struct forwarded_network *ret_network)
{
    const char *slash = memchr(s.at, '/', s.len);
    struct span address = {s.at, slash ? (size_t)(slash - s.at) : s.len};
    struct forwarded_network n;
    if (!address_read(address, n.bytes))
        return false;
    int most = memchr(address.at, ':', address.len) ? 128 : 32, bits = most;
    if (slash) {
        size_t digits = s.len - address.len - 1;
        if (digits < 1 || digits > 3 || (digits > 1 && slash[1] == '0'))
            return false;
        bits = 0;
        for (size_t i = 1; i <= digits; i++) {
            if (slash[i] < '0' || slash[i] > '9')
                return false;
            bits = bits * 10 + (slash[i] - '0');
        }
        if (bits > most)
            return false;
    }
    n.bits = bits + 128 - most;
    *ret_network = n;
    return true;
}

bool forwarded_proxies_parse(const char *text, struct forwarded_proxies *proxies)
{
    struct forwarded_proxies p = *proxies;
    if (text[strspn(text, " \t")] == '\0')
        return true;
    for (;; text++) {
        size_t len = strcspn(text, ",");
        struct span s = trimmed((struct span){text, len});
        if (s.len == 4 && strncasecmp(s.at, "unix", 4) == 0)
            p.unix_socket = true;
        else if (p.count == FORWARDED_PROXIES_MAX || !network_read(s, &p.networks[p.count]))
            return false;
        else
            p.count++;
        text += len;
        if (*text == '\0')
            break;
    }
    *proxies = p;
    return true;
}

static bool network_has(const struct forwarded_network *n, const unsigned char bytes[16])
{
    int whole = n->bits / 8, rest = n->bits % 8;
    if (memcmp(n->bytes, bytes, (size_t)whole) != 0)
        return false;
    return rest == 0 || ((n->bytes[whole] ^ bytes[whole]) >> (8 - rest)) == 0;
}

bool forwarded_trusted(const struct forwarded_proxies *proxies, const unsigned char *socket_address)
{
    if (!socket_address)
        return proxies->unix_socket;
    for (int i = 0; i < proxies->count; i++)
        if (network_has(&proxies->networks[i], socket_address))
            return true;
    return false;
}

/* ---- Elements of the headers ---- */

/* Cuts the last element off *rest, `quotes` = commas in quoted strings are none. False when a quoted string
 * has no beginning. */
static bool last_cut(struct span *rest, bool quotes, struct span *ret_element)
{
    bool quoted = false;
    size_t i = rest->len;
    while (i > 0) {
        char c = rest->at[i - 1];
        if (c == ',' && !quoted)
            break;
        i--;
        if (c != '"' || !quotes)
            continue;
        size_t escapes = 0;
        while (escapes < i && rest->at[i - 1 - escapes] == '\\')
            escapes++;
        if (escapes % 2 == 0)
            quoted = !quoted;
        else if (!quoted)
            return false;
    }
    if (quoted)
        return false;
    *ret_element = trimmed((struct span){rest->at + i, rest->len - i});
    rest->len = i ? i - 1 : 0;
    return true;
}

static bool port_valid(struct span s)
{
    unsigned number = 0;
    if (s.len > 1 && s.at[0] == '_') { /* a made-up name for a port */
        for (size_t i = 1; i < s.len; i++)
            if (!is_alnum(s.at[i]) && !strchr("._-", s.at[i]))
                return false;
        return true;
    }
    for (size_t i = 0; i < s.len; i++) {
        if (i == 5 || s.at[i] < '0' || s.at[i] > '9')
            return false;
        number = number * 10 + (unsigned)(s.at[i] - '0');
    }
    return s.len > 0 && number <= 65535;
}

/* An address with or without a port; IPv6 in brackets, or `bare` when there is no port. */
static bool node_read(struct span s, bool bare, unsigned char ret_bytes[16])
{
    struct span host = s, port = {NULL, 0};
    const char *colon = memchr(s.at, ':', s.len);
    if (s.len && s.at[0] == '[') {
        const char *end = memchr(s.at, ']', s.len);
        if (!end)
            return false;
        host = (struct span){s.at + 1, (size_t)(end - s.at) - 1};
        if (!memchr(host.at, ':', host.len))
            return false;
        size_t behind = s.len - host.len - 2;
        if (behind) {
            if (end[1] != ':')
                return false;
            port = (struct span){end + 2, behind - 1};
        }
    } else if (colon && !memchr(colon + 1, ':', s.len - (size_t)(colon + 1 - s.at))) {
        host.len = (size_t)(colon - s.at);
        port = (struct span){colon + 1, s.len - host.len - 1};
    } else if (colon && !bare) {
        return false;
    }
    return (!port.at || port_valid(port)) && address_read(host, ret_bytes);
}

/* The end of a token at the beginning of `s`. ':' and the brackets belong into quotes, but proxies forget
 * them, and nothing else can be meant. */
static size_t token_len(struct span s, const char *also)
{
    size_t n = 0;
    while (n < s.len && s.at[n] &&
           (is_alnum(s.at[n]) || strchr("!#$%&'*+-.^_`|~", s.at[n]) || strchr(also, s.at[n])))
        n++;
    return n;
}

/* The length of the quoted string at the beginning of `s`, quotes included; 0 when it is broken. */
static size_t quoted_len(struct span s)
{
    for (size_t i = 1; i < s.len; i++) {
        unsigned char c = (unsigned char)s.at[i];
        if (c == '"')
            return i + 1;
        if (c == '\\' && ++i >= s.len)
            return 0;
        if ((c < ' ' && c != '\t') || c == 127)
            return 0;
    }
    return 0;
}

static struct span skipped(struct span s, size_t n)
{
    s.at += n;
    s.len -= n;
    while (s.len && is_blank(s.at[0]))
        s.at++, s.len--;
    return s;
}

/* Finds the value of `for` in one element: name=value pairs with ';' between. False: malformed, twice or not
 * there. */
static bool for_find(struct span s, struct span *ret_value)
{
    bool found = false;
    while (s.len) {
        if (s.at[0] == ';') { /* pairs may be empty */
            s = skipped(s, 1);
            continue;
        }
        size_t name = token_len(s, "");
        if (name == 0 || name >= s.len || s.at[name] != '=')
            return false;
        bool is_for = name == 3 && strncasecmp(s.at, "for", 3) == 0;
        s.at += name + 1;
        s.len -= name + 1;
        bool quoted = s.len && s.at[0] == '"';
        size_t len = quoted ? quoted_len(s) : token_len(s, ":[]/");
        if (len == 0 || (is_for && found))
            return false;
        if (is_for)
            *ret_value = quoted ? (struct span){s.at + 1, len - 2} : (struct span){s.at, len};
        found = found || is_for;
        s = skipped(s, len);
        if (s.len && s.at[0] != ';')
            return false;
    }
    return found;
}

enum header { FORWARDED, X_FORWARDED_FOR };

/* Cuts the last element off *rest and reads its address. False: there is none that can be believed. */
static bool hop_read(enum header header, struct span *rest, unsigned char ret_bytes[16])
{
    struct span element, node;
    do { /* RFC 9110, 5.6.1: an empty element of a list is none; the older header knows no such rule */
        if (!rest->len || !last_cut(rest, header == FORWARDED, &element))
            return false;
    } while (element.len == 0 && header == FORWARDED);
    if (header == X_FORWARDED_FOR)
        return node_read(element, true, ret_bytes);
    return for_find(element, &node) && node_read(node, false, ret_bytes);
}

/* ---- The walk ---- */

/* Writes the client's address to `bytes`, where the socket's is; *named = it has one. */
static void walk(const struct forwarded_proxies *p, enum header header, const char *text,
                 unsigned char bytes[16], bool *named)
{
    struct span rest = {text, strlen(text)};
    unsigned char next[16];
    for (int hops = 0; hops < FORWARDED_HOPS_MAX; hops++) {
        if (!forwarded_trusted(p, *named ? bytes : NULL) || !hop_read(header, &rest, next))
            return;
        memcpy(bytes, next, 16);
        *named = true;
    }
}

static void peer_make(const unsigned char bytes[16], bool named, struct http_peer *ret_peer)
{
    struct sockaddr_in6 address = {.sin6_family = AF_INET6};
    memcpy(&address.sin6_addr, bytes, 16);
    http_peer_from(named ? (const struct sockaddr *)(const void *)&address : NULL, ret_peer);
}

void forwarded_client(const struct forwarded_proxies *proxies, const unsigned char *socket_address,
                      const char *forwarded, const char *x_forwarded_for, struct http_peer *ret_client)
{
    const char *texts[] = {[FORWARDED] = forwarded, [X_FORWARDED_FOR] = x_forwarded_for};
    unsigned char socket_bytes[16] = {0};
    struct http_peer own, told[2];
    int count = 0;
    if (socket_address)
        memcpy(socket_bytes, socket_address, 16);
    peer_make(socket_bytes, socket_address != NULL, &own);
    *ret_client = own;
    if (!forwarded_trusted(proxies, socket_address))
        return;
    for (int header = FORWARDED; header <= X_FORWARDED_FOR; header++) {
        unsigned char bytes[16];
        bool named = socket_address != NULL;
        if (!texts[header])
            continue;
        memcpy(bytes, socket_bytes, 16);
        walk(proxies, (enum header)header, texts[header], bytes, &named);
        peer_make(bytes, named, &told[count++]);
    }
    if (count == 1 || (count == 2 && memcmp(&told[0], &told[1], sizeof(told[0])) == 0))
        *ret_client = told[0];
}
