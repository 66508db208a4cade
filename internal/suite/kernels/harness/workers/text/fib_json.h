/* JSON for the C worker: a reader that makes a tree, and a buffer to write to.
 * Numbers stay text, because a seed has 64 bits. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct json json;
struct json {
    char type;   /* one of { [ " 0 t f n */
    char *text;  /* of a string or a number, ended by NUL */
    char *key;   /* in an object */
    json *child; /* first of an object or array */
    json *next;
};

/* Everything of one request, freed together. */
typedef struct block block;
struct block {
    block *next;
    max_align_t data[];
};

typedef struct {
    block *first;
} arena;

static void *arena_get(arena *a, size_t size) {
    block *b = calloc(1, sizeof *b + size);
    if (!b) return NULL;
    b->next = a->first;
    a->first = b;
    return b->data;
}

static void arena_clear(arena *a) {
    while (a->first) {
        block *b = a->first;
        a->first = b->next;
        free(b);
    }
}

typedef struct {
    const char *at;
    arena *memory;
    int depth;
} reader;

static void skip_space(reader *r) {
    while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r') r->at++;
}

static char *put_utf8(char *out, uint32_t c) {
    if (c < 0x80) {
        *out++ = (char)c;
    } else if (c < 0x800) {
        *out++ = (char)(0xC0 | c >> 6);
        *out++ = (char)(0x80 | (c & 63));
    } else if (c < 0x10000) {
        *out++ = (char)(0xE0 | c >> 12);
        *out++ = (char)(0x80 | (c >> 6 & 63));
        *out++ = (char)(0x80 | (c & 63));
    } else {
        *out++ = (char)(0xF0 | c >> 18);
        *out++ = (char)(0x80 | (c >> 12 & 63));
        *out++ = (char)(0x80 | (c >> 6 & 63));
        *out++ = (char)(0x80 | (c & 63));
    }
    return out;
}

static int read_hex(reader *r, uint32_t *c) {
    *c = 0;
    for (int i = 0; i < 4; i++) {
        char d = *r->at, lower = (char)(d | 32);
        if (d >= '0' && d <= '9') *c = *c << 4 | (uint32_t)(d - '0');
        else if (lower >= 'a' && lower <= 'f') *c = *c << 4 | (uint32_t)(lower - 'a' + 10);
        else return 0;
        r->at++;
    }
    return 1;
}

static char *read_escape(reader *r, char *out) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *found = *r->at ? strchr(from, *r->at) : NULL;
    uint32_t c, low;
    if (found) {
        r->at++;
        *out++ = to[found - from];
        return out;
    }
    if (*r->at++ != 'u' || !read_hex(r, &c)) return NULL;
    if (c >> 10 == 0xD800 >> 10) {
        if (*r->at++ != '\\' || *r->at++ != 'u' || !read_hex(r, &low) || low >> 10 != 0xDC00 >> 10) return NULL;
        c = 0x10000 + ((c & 0x3FF) << 10 | (low & 0x3FF));
    }
    return c ? put_utf8(out, c) : NULL; /* no name holds a NUL */
}

static char *read_string(reader *r) {
    const char *end = ++r->at;
    while (*end && *end != '"') end += *end == '\\' && end[1] ? 2 : 1;
    if (!*end) return NULL;
    char *text = arena_get(r->memory, (size_t)(end - r->at) + 1), *out = text;
    if (!text) return NULL;
    while (out && *r->at != '"') {
        if ((unsigned char)*r->at < 0x20) return NULL;
        if (*r->at == '\\') {
            r->at++;
            out = read_escape(r, out);
        } else {
            *out++ = *r->at++;
        }
    }
    if (!out) return NULL;
    r->at++;
    return text;
}

static json *read_value(reader *r);

static json *read_list(reader *r, json *list, char close) {
    json **last = &list->child;
    r->at++;
    skip_space(r);
    if (*r->at == close) return r->at++, list;
    for (;;) {
        char *key = NULL;
        skip_space(r);
        if (close == '}') {
            if (*r->at != '"' || !(key = read_string(r))) return NULL;
            skip_space(r);
            if (*r->at++ != ':') return NULL;
        }
        json *v = read_value(r);
        if (!v) return NULL;
        v->key = key;
        *last = v;
        last = &v->next;
        skip_space(r);
        char c = *r->at++;
        if (c == close) return list;
        if (c != ',') return NULL;
    }
}

static json *read_value(reader *r) {
    skip_space(r);
    json *v = arena_get(r->memory, sizeof *v);
    if (!v || r->depth > 32) return NULL;
    v->type = *r->at;
    if (v->type == '{' || v->type == '[') {
        r->depth++;
        v = read_list(r, v, v->type == '{' ? '}' : ']');
        r->depth--;
        return v;
    }
    if (v->type == '"') return (v->text = read_string(r)) ? v : NULL;
    size_t n = strspn(r->at, "+-.0123456789eEtrufalsn");
    if (!n || !(v->text = arena_get(r->memory, n + 1))) return NULL;
    memcpy(v->text, r->at, n);
    r->at += n;
    if (!strchr("tfn", v->type)) v->type = '0';
    return v;
}

/* Reads a value; NULL if the text is no JSON. */
static json *json_read(const char *text, arena *memory) {
    reader r = {text, memory, 0};
    json *v = read_value(&r);
    skip_space(&r);
    return v && !*r.at ? v : NULL;
}

static const json *json_get(const json *object, const char *key) {
    if (!object || object->type != '{') return NULL;
    for (const json *v = object->child; v; v = v->next)
        if (!strcmp(v->key, key)) return v->type == 'n' ? NULL : v;
    return NULL;
}

static const char *json_text(const json *v) { return v && v->type == '"' ? v->text : ""; }
static int64_t json_int(const json *v) { return v && v->type == '0' ? strtoll(v->text, NULL, 10) : 0; }
static uint64_t json_uint(const json *v) { return v && v->type == '0' ? strtoull(v->text, NULL, 10) : 0; }
static int json_true(const json *v) { return v && v->type == 't'; }
static const json *json_items(const json *v) { return v && v->type == '[' ? v->child : NULL; }

static size_t json_count(const json *v) {
    size_t n = 0;
    for (const json *i = json_items(v); i; i = i->next) n++;
    return n;
}

/* A text that grows. */
typedef struct {
    char *text;
    size_t len, cap;
} buffer;

static void put(buffer *b, const char *data, size_t n) {
    if (b->len + n + 1 > b->cap) {
        size_t cap = 2 * (b->len + n + 1);
        char *text = realloc(b->text, cap);
        if (!text) abort(); /* there is nothing left to say it with */
        b->text = text;
        b->cap = cap;
    }
    memcpy(b->text + b->len, data, n);
    b->text[b->len += n] = 0;
}

static void putf(buffer *b, const char *format, ...) {
    char line[512];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (n > 0) put(b, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
}

/* Bytes of foreign programs may be no UTF-8: only ASCII is passed on. */
static void put_string(buffer *b, const char *text, int ascii) {
    put(b, "\"", 1);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') putf(b, "\\%c", c);
        else if (c < 0x20) putf(b, "\\u%04x", c);
        else if (c < 0x7F || !ascii) put(b, text, 1);
        else put(b, "?", 1);
    }
    put(b, "\"", 1);
}
