/* Safetensors files of the C worker: a little-endian length, a JSON header, the bytes.
 * Include after fib_json.h and fib_tensor.h. */

enum { MAX_HEADER = 100 << 20 }; /* the limit of the format's own reader */

/* The header of an open file, which the caller frees; NULL if there is none. */
static char *read_header(FILE *f, uint64_t *length) {
    unsigned char n[8];
    if (fread(n, 1, 8, f) != 8) return NULL;
    *length = 0;
    for (int i = 7; i >= 0; i--) *length = *length << 8 | n[i];
    if (*length > MAX_HEADER) return NULL;
    char *text = calloc(1, (size_t)*length + 1);
    if (text && fread(text, 1, (size_t)*length, f) == *length) return text;
    free(text);
    return NULL;
}

/* Whether an entry of a header says that it holds t. */
static int describes(const json *entry, const tensor *t) {
    const json *dim = json_items(json_get(entry, "shape"));
    int packed = t->type->bits == 4;
    if (strcmp(json_text(json_get(entry, "dtype")), t->type->tag)) return 0;
    for (int i = 0; i < t->rank; i++, dim = dim->next) {
        int64_t axis = packed && i == t->rank - 1 ? t->shape[i] / 2 : t->shape[i];
        if (!dim || json_int(dim) != axis) return 0;
    }
    return !dim;
}

/* Reads t's bytes; returns what is wrong, or NULL. */
static const char *read_entry(FILE *f, const char *header, uint64_t length, const char *key, tensor *t, arena *a) {
    const json *root = json_read(header, a), *entry = json_get(root, key);
    if (!root) return "its header is no JSON";
    if (!entry) return "it has no such tensor";
    if (!describes(entry, t)) return "the tensor has another dtype or shape: correct the workload";
    const json *offset = json_items(json_get(entry, "data_offsets"));
    uint64_t begin = json_uint(offset), end = offset ? json_uint(offset->next) : 0;
    if (end < begin || end - begin != t->bytes || end > INT64_MAX - 8 - length) return "its offsets are wrong";
    if (fseeko(f, (off_t)(8 + length + begin), SEEK_SET) || fread(t->data, 1, t->bytes, f) != t->bytes) return "it ends too early";
    return NULL;
}

static const char *read_tensor(const char *path, const char *key, tensor *t, arena *a) {
    FILE *f = fopen(path, "rb");
    if (!f) return "it cannot be opened";
    uint64_t length = 0;
    char *header = read_header(f, &length);
    const char *wrong = header ? read_entry(f, header, length, key, t, a) : "it is no safetensors file";
    free(header);
    fclose(f);
    return wrong;
}

/* What is saved of one name: the bytes of one or more calls. */
typedef struct {
    tensor *t;
    unsigned char *data;
    size_t repeat; /* 0: once, and no axis for it */
} saved;

static void put_shape(buffer *b, const saved *s) {
    const char *comma = "";
    put(b, "[", 1);
    if (s->repeat) putf(b, "%zu", s->repeat), comma = ",";
    for (int i = 0; i < s->t->rank; i++, comma = ",") {
        int packed = s->t->type->bits == 4 && i == s->t->rank - 1;
        putf(b, "%s%lld", comma, (long long)(packed ? s->t->shape[i] / 2 : s->t->shape[i]));
    }
    put(b, "]", 1);
}

static size_t saved_bytes(const saved *s) { return s->t->bytes * (s->repeat ? s->repeat : 1); }

static void put_header(buffer *b, const saved *all, size_t n) {
    unsigned long long offset = 0;
    put(b, "{", 1);
    for (size_t i = 0; i < n; i++) {
        if (i) put(b, ",", 1);
        put_string(b, all[i].t->name, 0);
        putf(b, ":{\"dtype\":\"%s\",\"shape\":", all[i].t->type->tag);
        put_shape(b, &all[i]);
        putf(b, ",\"data_offsets\":[%llu,%llu]}", offset, offset + saved_bytes(&all[i]));
        offset += saved_bytes(&all[i]);
    }
    put(b, "}", 1);
    while (b->len % 8) put(b, " ", 1);
}

/* Writes a file that must not exist; 0 if that fails. */
static int write_tensors(const char *path, const saved *all, size_t n) {
    buffer header = {0};
    unsigned char length[8];
    FILE *f = fopen(path, "wbx");
    if (!f) return 0;
    put_header(&header, all, n);
    for (int i = 0; i < 8; i++) length[i] = (unsigned char)((uint64_t)header.len >> 8 * i);
    int good = fwrite(length, 1, 8, f) == 8 && fwrite(header.text, 1, header.len, f) == header.len;
    for (size_t i = 0; i < n; i++) good &= fwrite(all[i].data, 1, saved_bytes(&all[i]), f) == saved_bytes(&all[i]);
    free(header.text);
    return fclose(f) == 0 && good;
}
