/* Goal: fields of Thrift messages become columns through the C interface, from memory and from files, as rows and as a
 * stream of Arrow's.
 *
 * Method: messages of samples/log.thrift, written by hand in the binary protocol, in frames and without, and shown in pieces
 * of every length, which must give the same rows as the whole; lists, structs and maps, whose arrays of Arrow's are read as its
 * layout says; one that is cut; a pipe into which nothing comes, for interrupts.
 * Compiled and run as tables.c is, from the folder of the repository.
 */
#define _POSIX_C_SOURCE 200809L
#include "expect.h"
#include "files.h"
#include "interrupts.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Entry { 1: i64 time = 7, 2: string host = "a" } */
static const uint8_t MESSAGE[] = "\x0a\0\x01\0\0\0\0\0\0\0\x07\x0b\0\x02\0\0\0\x01" "a";
enum { MESSAGE_LEN = sizeof MESSAGE, COUNT = 5 };

static bw_thrift *fields_of(const char *const *names, size_t count) {
  bw_error error = BW_ERROR_INIT;
  bw_idl idl = BW_IDL_INIT;
  bw_names paths;
  bw_thrift *fields = NULL;
  paths.names = names, paths.count = count;
  idl.path = "samples/log.thrift";
  EXPECT_STATUS(BW_STATUS_OK, bw_thrift_new(&idl, "Entry", &paths, BW_PROTOCOL_BINARY, &fields, &error));
  return fields;
}

/* Writes COUNT messages, in frames or one behind the other, the time of each 1 above that of the one before. */
static size_t written(uint8_t *into, bool is_framed) {
  size_t len = 0, count;
  for (count = 0; count < COUNT; count++) {
    if (is_framed) {
      memset(into + len, 0, 3);
      into[len + 3] = MESSAGE_LEN;
      len += 4;
    }
    memcpy(into + len, MESSAGE, MESSAGE_LEN);
    into[len + 10] = (uint8_t)(7 + count);
    len += MESSAGE_LEN;
  }
  return len;
}

/* Expects that a batch has the rows of the messages of `written`, from the first on. */
static void expect_rows(const bw_batch *batch, size_t count) {
  bw_error error = BW_ERROR_INIT;
  bw_column times, texts, cities;
  size_t row;
  EXPECT(bw_batch_rows(batch) == count);
  EXPECT_STATUS(BW_STATUS_OK, bw_batch_column(batch, 0, &times, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_batch_column(batch, 1, &texts, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_batch_column(batch, 2, &cities, &error));
  EXPECT(times.value_type == BW_TYPE_I64 && cities.null_count == count);
  for (row = 0; row < count; row++) {
    EXPECT(((const int64_t *)times.values)[row] == (int64_t)(7 + row));
    EXPECT(texts.offsets[row + 1] == (int64_t)(row + 1) && ((const char *)texts.values)[row] == 'a');
  }
}

static const char *const PATHS[] = {"time", "host", "place.city"};

static void pieces_of_any_length_give_the_rows_of_the_whole(bool is_framed) {
  bw_error error = BW_ERROR_INIT;
  bw_thrift *fields = fields_of(PATHS, 3);
  bw_batch *batch = NULL;
  uint8_t bytes[256];
  size_t len = written(bytes, is_framed), piece, used;
  EXPECT(bw_schema_len(bw_thrift_schema(fields)) == 3);
  for (piece = 1; piece <= len; piece++) {
    size_t begin = 0, end = 0;
    while (begin < len) {
      end = end + piece < len ? end + piece : len;
      EXPECT_STATUS(BW_STATUS_OK, bw_thrift_add_many(fields, bytes + begin, end - begin, is_framed, end == len, &used, &error));
      begin += used;
    }
    EXPECT_STATUS(BW_STATUS_OK, bw_thrift_take(fields, &batch, &error));
    expect_rows(batch, COUNT);
    bw_batch_free(batch);
  }
  EXPECT_STATUS(BW_STATUS_NONE, bw_thrift_take(fields, &batch, &error));
  EXPECT_STATUS(BW_STATUS_TRUNCATED, bw_thrift_add_many(fields, bytes, len - 1, is_framed, true, &used, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_thrift_take(fields, &batch, &error));
  expect_rows(batch, COUNT - 1);
  bw_batch_free(batch);
  bw_thrift_free(fields);
  bw_error_clear(&error);
}

static void one_message_is_a_row_or_an_error(void) {
  bw_error error = BW_ERROR_INIT;
  bw_thrift *fields = fields_of(PATHS, 3);
  bw_batch *batch = NULL;
  EXPECT_STATUS(BW_STATUS_OK, bw_thrift_add(fields, MESSAGE, MESSAGE_LEN, &error));
  EXPECT_STATUS(BW_STATUS_TRUNCATED, bw_thrift_add(fields, MESSAGE, 9, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_thrift_take(fields, &batch, &error));
  expect_rows(batch, 1);
  bw_batch_free(batch);
  bw_thrift_free(fields);
  bw_error_clear(&error);
}

static void a_file_gives_rows_and_what_is_wrong_behind_them(const char *folder, bool is_framed) {
  bw_error error = BW_ERROR_INIT;
  bw_thrift *fields = fields_of(PATHS, 3);
  struct ArrowArrayStream stream;
  struct ArrowArray array;
  bw_rows *rows = NULL;
  bw_batch *batch = NULL;
  char path[PATH_SIZE];
  uint8_t bytes[256];
  size_t len = written(bytes, is_framed);
  FILE *file;
  snprintf(path, sizeof path, "%s/entries%d", folder, (int)is_framed);
  file = fopen(path, "wb");
  EXPECT(fwrite(bytes, 1, len - 1, file) == len - 1 && fclose(file) == 0);
  EXPECT_STATUS(BW_STATUS_OK, bw_thrift_rows(fields, path, is_framed, 0, &rows, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_rows_next(rows, &batch, &error));
  expect_rows(batch, COUNT - 1);
  bw_batch_free(batch);
  EXPECT_STATUS(BW_STATUS_TRUNCATED, bw_rows_next(rows, &batch, &error));
  EXPECT_STATUS(BW_STATUS_TRUNCATED, bw_rows_next(rows, &batch, &error));
  EXPECT(strcmp(error.file, path) == 0);
  bw_rows_free(rows);
  file = fopen(path, "wb");
  EXPECT(fwrite(bytes, 1, len, file) == len && fclose(file) == 0);
  EXPECT_STATUS(BW_STATUS_OK, bw_thrift_rows(fields, path, is_framed, 2, &rows, &error));
  bw_thrift_free(fields);
  EXPECT_STATUS(BW_STATUS_OK, bw_rows_stream(rows, &stream, &error));
  for (len = 0; stream.get_next(&stream, &array) == 0 && array.release != NULL; len += (size_t)array.length) {
    EXPECT(array.n_children == 3 && array.length <= 2);
    EXPECT(((const int64_t *)array.children[0]->buffers[1])[0] == (int64_t)(7 + len));
    array.release(&array);
  }
  EXPECT(len == COUNT);
  stream.release(&stream);
  bw_error_clear(&error);
}

static const char NESTED[] =
  "struct Tag { 1: string name, 2: i32 size }\n"
  "struct Log { 1: i64 time, 2: list<Tag> tags, 3: map<string, i32> counts, 4: list<list<i16>> grid }\n";

/* time = 7, tags = [{name = "a", size = 1}, {name = "bc"}], counts = {"k" = 5} */
static const uint8_t FULL[] =
  "\x0a\0\x01\0\0\0\0\0\0\0\x07"
  "\x0f\0\x02\x0c\0\0\0\x02" "\x0b\0\x01\0\0\0\x01" "a" "\x08\0\x02\0\0\0\x01\0" "\x0b\0\x01\0\0\0\x02" "bc\0"
  "\x0d\0\x03\x0b\x08\0\0\0\x01\0\0\0\x01" "k" "\0\0\0\x05";
/* tags = [], grid = [[1, 2], []] */
static const uint8_t LISTS[] = "\x0f\0\x02\x0c\0\0\0\0" "\x0f\0\x04\x0f\0\0\0\x02" "\x06\0\0\0\x02\0\x01\0\x02" "\x06\0\0\0\0";
/* tags = a list that has 2^31 - 1 structs, as it says */
static const uint8_t BOMB[] = "\x0f\0\x02\x0c\x7f\xff\xff\xff";

static bw_thrift *nested_fields_in(uint32_t protocol, const char *folder, const char *const *names, size_t count) {
  bw_error error = BW_ERROR_INIT;
  bw_idl idl = BW_IDL_INIT;
  bw_names paths;
  bw_thrift *fields = NULL;
  char path[PATH_SIZE];
  FILE *file;
  path_in(folder, "nested.thrift", path);
  file = fopen(path, "wb");
  EXPECT(fwrite(NESTED, 1, sizeof NESTED - 1, file) == sizeof NESTED - 1 && fclose(file) == 0);
  paths.names = names, paths.count = count;
  idl.path = path;
  EXPECT_STATUS(BW_STATUS_OK, bw_thrift_new(&idl, "Log", &paths, protocol, &fields, &error));
  return fields;
}

static bw_thrift *nested_fields(const char *folder, const char *const *names, size_t count) {
  return nested_fields_in(BW_PROTOCOL_BINARY, folder, names, count);
}

/* The rows of FULL, of LISTS, and of a message without a field. */
static bw_batch *nested_rows(bw_thrift *fields) {
  bw_error error = BW_ERROR_INIT;
  bw_batch *batch = NULL;
  EXPECT_STATUS(BW_STATUS_OK, bw_thrift_add(fields, FULL, sizeof FULL, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_thrift_add(fields, LISTS, sizeof LISTS, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_thrift_add(fields, (const uint8_t *)"", 1, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_thrift_take(fields, &batch, &error));
  return batch;
}

static bool is_valid(const struct ArrowArray *array, int64_t row) {
  const uint8_t *bits = (const uint8_t *)array->buffers[0];
  row += array->offset;
  return bits == NULL || (bits[row / 8] >> (row % 8) & 1) != 0;
}

static void expect_offsets(const struct ArrowArray *list, const int32_t *expected, size_t count) {
  const int32_t *offsets = (const int32_t *)list->buffers[1] + list->offset;
  size_t place;
  for (place = 0; place < count; place++) EXPECT(offsets[place] == expected[place]);
}

static void lists_structs_and_maps_leave_as_those_of_arrow(const char *folder) {
  static const int32_t tag_ends[] = {0, 2, 2, 2}, count_ends[] = {0, 1, 1, 1}, grid_ends[] = {0, 0, 2, 2}, row_ends[] = {0, 2, 2};
  bw_error error = BW_ERROR_INIT;
  bw_thrift *fields = nested_fields(folder, NULL, 0);
  bw_batch *batch = nested_rows(fields);
  struct ArrowSchema schema, *tag, *entry;
  struct ArrowArray array, tags, *inside;
  EXPECT_STATUS(BW_STATUS_OK, bw_batch_arrow(batch, &schema, &array, &error));
  bw_batch_free(batch);
  bw_thrift_free(fields);
  EXPECT(strcmp(schema.format, "+s") == 0 && schema.n_children == 4 && array.length == 3);
  EXPECT(strcmp(schema.children[1]->format, "+l") == 0 && strcmp(schema.children[1]->name, "tags") == 0);
  tag = schema.children[1]->children[0];
  EXPECT(strcmp(tag->format, "+s") == 0 && strcmp(tag->children[0]->name, "name") == 0 && strcmp(tag->children[1]->format, "i") == 0);
  EXPECT(strcmp(schema.children[2]->format, "+m") == 0);
  entry = schema.children[2]->children[0];
  EXPECT((entry->children[0]->flags & ARROW_FLAG_NULLABLE) == 0 && (entry->children[1]->flags & ARROW_FLAG_NULLABLE) != 0);
  EXPECT(strcmp(schema.children[3]->children[0]->format, "+l") == 0 && strcmp(schema.children[3]->children[0]->children[0]->format, "s") == 0);
  schema.release(&schema);
  EXPECT(is_valid(array.children[0], 0) && !is_valid(array.children[0], 1) && array.children[0]->null_count == 2);
  expect_offsets(array.children[2], count_ends, 4);
  inside = array.children[2]->children[0];
  EXPECT(is_valid(array.children[2], 0) && !is_valid(array.children[2], 1));
  EXPECT(((const char *)inside->children[0]->buffers[2])[0] == 'k' && ((const int32_t *)inside->children[1]->buffers[1])[0] == 5);
  expect_offsets(array.children[3], grid_ends, 4);
  inside = array.children[3]->children[0];
  expect_offsets(inside, row_ends, 3);
  EXPECT(((const int16_t *)inside->children[0]->buffers[1])[1] == 2 && !is_valid(array.children[3], 0));
  /* A child that is moved out stays when the others are gone. */
  tags = *array.children[1];
  array.children[1]->release = NULL;
  array.release(&array);
  expect_offsets(&tags, tag_ends, 4);
  EXPECT(is_valid(&tags, 1) && !is_valid(&tags, 2) && tags.null_count == 1);
  inside = tags.children[0];
  EXPECT(inside->length == 2 && is_valid(inside->children[1], 0) && !is_valid(inside->children[1], 1));
  EXPECT(memcmp(inside->children[0]->buffers[2], "abc", 3) == 0 && ((const int32_t *)inside->children[1]->buffers[1])[0] == 1);
  tags.release(&tags);
  EXPECT(tags.release == NULL);
}

static void elements_are_rows_with_their_parents(const char *folder) {
  const char *names[] = {"time", "tags[].size"};
  bw_error error = BW_ERROR_INIT;
  bw_thrift *fields = nested_fields(folder, names, 2);
  bw_batch *batch = nested_rows(fields);
  bw_column times, sizes;
  EXPECT(bw_batch_rows(batch) == 2);
  EXPECT_STATUS(BW_STATUS_OK, bw_batch_column(batch, 0, &times, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_batch_column(batch, 1, &sizes, &error));
  EXPECT(((const int64_t *)times.values)[1] == 7 && times.null_count == 0);
  EXPECT(((const int32_t *)sizes.values)[0] == 1 && sizes.null_count == 1);
  bw_batch_free(batch);
  bw_thrift_free(fields);
}

static void a_list_that_claims_more_than_there_is_is_refused_by_its_path(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_thrift *fields = nested_fields(folder, NULL, 0);
  bw_batch *batch = NULL;
  size_t used;
  EXPECT_STATUS(BW_STATUS_TRUNCATED, bw_thrift_add(fields, BOMB, sizeof BOMB, &error));
  EXPECT(strstr(error.message, ", in tags") != NULL);
  EXPECT_STATUS(BW_STATUS_LIMIT, bw_thrift_add_many(fields, BOMB, sizeof BOMB, false, true, &used, &error));
  EXPECT(strstr(error.message, ", in tags") != NULL);
  EXPECT_STATUS(BW_STATUS_NONE, bw_thrift_take(fields, &batch, &error));
  bw_thrift_free(fields);
  bw_error_clear(&error);
}

/* The program's answer stays the same until the call has ended, as a flag that a signal set does. */
static void a_wait_for_a_pipe_ends_when_the_program_says_so_and_loses_nothing(const char *folder) {
  bw_error error = BW_ERROR_INIT;
  bw_thrift *fields = fields_of(PATHS, 3);
  bw_rows *rows = NULL;
  bw_batch *batch = NULL;
  char path[PATH_SIZE];
  int questions = 0, writer;
  path_in(folder, "pipe", path);
  EXPECT(mkfifo(path, 0600) == 0);
  writer = open(path, O_RDWR);
  EXPECT(writer >= 0);
  EXPECT_STATUS(BW_STATUS_OK, bw_thrift_set_interrupted(fields, from_the_third_question_on, &questions, &error));
  EXPECT_STATUS(BW_STATUS_OK, bw_thrift_rows(fields, path, false, 1, &rows, &error));
  bw_thrift_free(fields);
  EXPECT_STATUS(BW_STATUS_IO, bw_rows_next(rows, &batch, &error));
  EXPECT(error.os_error == 4 && questions >= 3);
  EXPECT(write(writer, MESSAGE, 9) == 9);
  questions = 0;
  EXPECT_STATUS(BW_STATUS_IO, bw_rows_next(rows, &batch, &error)); /* within a message */
  EXPECT(error.os_error == 4);
  EXPECT(write(writer, MESSAGE + 9, MESSAGE_LEN - 9) == (ssize_t)(MESSAGE_LEN - 9));
  questions = -1000;
  EXPECT_STATUS(BW_STATUS_OK, bw_rows_next(rows, &batch, &error));
  expect_rows(batch, 1);
  bw_batch_free(batch);
  close(writer);
  EXPECT_STATUS(BW_STATUS_NONE, bw_rows_next(rows, &batch, &error));
  bw_rows_free(rows);
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_thrift_set_interrupted(NULL, from_the_third_question_on, &questions, &error));
  bw_error_clear(&error);
}

static void what_is_not_in_the_idl_is_refused(void) {
  bw_error error = BW_ERROR_INIT;
  bw_idl idl = BW_IDL_INIT;
  bw_names paths;
  bw_thrift *fields = NULL;
  const char *nothing[] = {"place.nothing"};
  paths.names = PATHS, paths.count = 3;
  idl.path = "samples/log.thrift";
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_thrift_new(&idl, "Entri", &paths, 0, &fields, &error));
  EXPECT(strstr(error.message, "Entry") != NULL);
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_thrift_new(&idl, "Entry", &paths, 7, &fields, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_thrift_new(NULL, "Entry", &paths, 0, &fields, &error));
  paths.names = nothing, paths.count = 1;
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_thrift_new(&idl, "Entry", &paths, 0, &fields, &error));
  idl.path = "samples/missing.thrift";
  EXPECT_STATUS(BW_STATUS_IO, bw_thrift_new(&idl, "Entry", &paths, 0, &fields, &error));
  EXPECT_STATUS(BW_STATUS_ARGUMENT, bw_thrift_add(NULL, MESSAGE, MESSAGE_LEN, &error));
  EXPECT(bw_thrift_schema(NULL) == NULL && fields == NULL);
  bw_thrift_free(NULL);
  bw_error_clear(&error);
}

static void texts_in_json_are_rows_a_line_each_or_one_by_one(const char *folder) {
  static const char *const names[] = {"time", "tags[].name"};
  static const char LINES[] = "{\"1\":{\"i64\":7},\"2\":{\"lst\":[\"rec\",2,{\"1\":{\"str\":\"a\"}},{}]}}\n{\"2\":";
  static const char BAD[] = "{\"1\":{\"i64\":x}}";
  bw_error error = BW_ERROR_INIT;
  bw_thrift *fields = nested_fields_in(BW_PROTOCOL_JSON, folder, names, 2);
  bw_batch *batch = NULL;
  size_t used = 0;
  EXPECT_STATUS(BW_STATUS_OK, bw_thrift_add_many(fields, (const uint8_t *)LINES, sizeof LINES - 1, false, false, &used, &error));
  EXPECT(used == strlen(LINES) - strlen("{\"2\":"));
  EXPECT_STATUS(BW_STATUS_OK, bw_thrift_add(fields, (const uint8_t *)LINES, used, &error));
  EXPECT_STATUS(BW_STATUS_FORMAT, bw_thrift_add(fields, (const uint8_t *)BAD, sizeof BAD - 1, &error));
  EXPECT(error.offset == 12 && strstr(error.message, "expected an i64, found x") != NULL);
  EXPECT_STATUS(BW_STATUS_OK, bw_thrift_take(fields, &batch, &error));
  EXPECT(bw_batch_rows(batch) == 4);
  bw_batch_free(batch);
  bw_thrift_free(fields);
  bw_error_clear(&error);
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  pieces_of_any_length_give_the_rows_of_the_whole(false);
  pieces_of_any_length_give_the_rows_of_the_whole(true);
  one_message_is_a_row_or_an_error();
  a_file_gives_rows_and_what_is_wrong_behind_them(argv[1], false);
  a_file_gives_rows_and_what_is_wrong_behind_them(argv[1], true);
  a_wait_for_a_pipe_ends_when_the_program_says_so_and_loses_nothing(argv[1]);
  what_is_not_in_the_idl_is_refused();
  lists_structs_and_maps_leave_as_those_of_arrow(argv[1]);
  elements_are_rows_with_their_parents(argv[1]);
  a_list_that_claims_more_than_there_is_is_refused_by_its_path(argv[1]);
  texts_in_json_are_rows_a_line_each_or_one_by_one(argv[1]);
  return 0;
}
