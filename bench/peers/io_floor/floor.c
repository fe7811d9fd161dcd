/* The floor: the least that a program in C does to read a file.
 *
 *     floor records|headers|count_lines|raw:LENGTH|nowait FILE
 *
 * workload/files.rb says what the tasks are. `nowait` tells by its status whether the file's file system
 * can be asked for what it has in memory. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { HEADER_BYTES = 16, BODY_BYTES = 64, CHECKED_COUNT = 20000, PIECE_BYTES = 65536 };

static const double TIMED_S = 0.4;
static const off_t SMALL_BYTES = 1500000;
static const long RAW_READS_MAX = 400000, RAW_BYTES_MAX = 64 << 20;

struct work {
    const char *path;
    off_t size;
    long length;
    long reads;
};

/* Keeps a value, so that what made it is not left out. */
static volatile uint64_t seen;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

/* CRC-32, bit by bit: little is checked. */
static uint32_t crc32_add(uint32_t crc, const unsigned char *bytes, size_t length) {
    crc = ~crc;
    for (size_t at = 0; at < length; at++) {
        crc ^= bytes[at];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (0xedb88320u & -(crc & 1));
    }
    return ~crc;
}

static FILE *open_file(const struct work *work) {
    FILE *file = fopen(work->path, "rb");
    if (!file) fail(work->path);
    /* As much as the others ask for at a time. */
    if (setvbuf(file, NULL, _IOFBF, PIECE_BYTES)) fail("setvbuf");
    return file;
}

static int open_descriptor(const struct work *work) {
    int descriptor = open(work->path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) fail(work->path);
    return descriptor;
}

static long records(const struct work *work) {
    unsigned char header[HEADER_BYTES], body[BODY_BYTES];
    FILE *file = open_file(work);
    long count = 0;
    while (fread(header, HEADER_BYTES, 1, file) == 1 && fread(body, BODY_BYTES, 1, file) == 1) {
        seen += header[0] + body[0];
        count++;
    }
    fclose(file);
    return count;
}

static uint32_t records_crc(const struct work *work) {
    unsigned char record[HEADER_BYTES + BODY_BYTES];
    FILE *file = open_file(work);
    uint32_t crc = 0;
    for (int count = 0; count < CHECKED_COUNT && fread(record, sizeof record, 1, file) == 1; count++)
        crc = crc32_add(crc, record, sizeof record);
    fclose(file);
    return crc;
}

static uint32_t big_endian(const unsigned char *bytes) {
    return (uint32_t)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
}

/* The sum of the numbers of the first headers, of at most so many. */
static uint64_t headers(const struct work *work, long count_max) {
    unsigned char number[4], body[BODY_BYTES];
    FILE *file = open_file(work);
    uint64_t sum = 0;
    for (long at = 0; at < count_max * 4; at++) {
        if (fread(number, sizeof number, 1, file) != 1) break;
        sum += big_endian(number);
        if (at % 4 == 3 && fread(body, BODY_BYTES, 1, file) != 1) break;
    }
    fclose(file);
    return sum;
}

static long count_lines(const struct work *work) {
    static unsigned char piece[PIECE_BYTES];
    int descriptor = open_descriptor(work);
    long count = 0;
    ssize_t got;
    while ((got = read(descriptor, piece, sizeof piece)) > 0) {
        const unsigned char *at = piece, *end = piece + got;
        while ((at = memchr(at, '\n', end - at))) {
            count++;
            if (++at == end) break;
        }
    }
    if (got < 0) fail("read");
    close(descriptor);
    return count;
}

static int raw_descriptor;
static unsigned char *raw_bytes;

static long raw(const struct work *work) {
    for (long count = 0; count < work->reads; count++) {
        ssize_t got = read(raw_descriptor, raw_bytes, work->length);
        if (got < 0) fail("read");
        if (got == 0 && lseek(raw_descriptor, 0, SEEK_SET) < 0) fail("lseek");
    }
    return work->reads;
}

static long headers_pass(const struct work *work) {
    seen += headers(work, work->size);
    return 0;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

/* Seconds of processor time for one pass, after one that does not count. */
static double timed(const struct work *work, long (*pass)(const struct work *)) {
    double timed_s = work->size < SMALL_BYTES ? 0 : TIMED_S, start, elapsed;
    long passes = 0;
    seen += pass(work);
    start = now();
    do {
        seen += pass(work);
        passes++;
        elapsed = now() - start;
    } while (elapsed < timed_s);
    return elapsed / passes;
}

static void run_raw(struct work *work, const char *length) {
    work->length = strtol(length, NULL, 10);
    if (work->length < 1 || work->length > work->size) fail("length");
    work->reads = (work->size < RAW_BYTES_MAX ? work->size : RAW_BYTES_MAX) / work->length;
    if (work->reads > RAW_READS_MAX) work->reads = RAW_READS_MAX;
    raw_bytes = malloc(work->length);
    raw_descriptor = open_descriptor(work);
    if (!raw_bytes || read(raw_descriptor, raw_bytes, work->length) != work->length) fail("read");
    uint32_t first = crc32_add(0, raw_bytes, work->length);
    printf("{\"first\":%u,\"figures\":{\"read_s\":%.12f}}\n", first, timed(work, raw) / work->reads);
}

static int can_be_asked(const struct work *work) {
    unsigned char byte;
    struct iovec into = {&byte, 1};
    int descriptor = open_descriptor(work);
    /* The byte that is read first is in memory then. */
    return read(descriptor, &byte, 1) == 1 && preadv2(descriptor, &into, 1, 0, RWF_NOWAIT) == 1;
}

int main(int argument_count, char **arguments) {
    struct stat status;
    if (argument_count != 3 || stat(arguments[2], &status)) {
        fprintf(stderr, "usage: %s records|headers|count_lines|raw:LENGTH|nowait FILE\n", arguments[0]);
        return 2;
    }
    const char *task = arguments[1];
    struct work work = {arguments[2], status.st_size, 0, 0};
    if (!strcmp(task, "records")) {
        printf("{\"records\":%ld,\"crc\":%u,\"figures\":{\"pass_s\":%.12f}}\n", records(&work), records_crc(&work),
               timed(&work, records));
    } else if (!strcmp(task, "headers")) {
        printf("{\"sum\":%llu,\"figures\":{\"pass_s\":%.12f}}\n", (unsigned long long)headers(&work, CHECKED_COUNT),
               timed(&work, headers_pass));
    } else if (!strcmp(task, "count_lines")) {
        printf("{\"lines\":%ld,\"figures\":{\"pass_s\":%.12f}}\n", count_lines(&work), timed(&work, count_lines));
    } else if (!strncmp(task, "raw:", 4)) {
        run_raw(&work, task + 4);
    } else {
        return strcmp(task, "nowait") == 0 && can_be_asked(&work) ? 0 : 1;
    }
    return 0;
}
