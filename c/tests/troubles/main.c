/* Goal: each operation survives each trouble: nothing that was committed is lost, nothing is half there, and the next run is right.
 *
 * Method: the table of conformance/troubles.json. An operation is a function that does it in a folder, from opening to closing, and
 * answers the same each time; one driver for each trouble works for all of them. Every function of the header is of an operation, or
 * plain: one that does no input or output, calls nobody and waits for nothing. The seed is printed where something fails.
 * The files of this folder are one program, which is compiled and run as tables.c is, from the folder of the repository.
 */
#define _XOPEN_SOURCE 700
#include "drivers.h"

#include <sys/stat.h>
#include <time.h>

/* Cuts the next string in quotes out of a text, and moves behind it. */
static char *next_quoted(char **text) {
  char *begin = strchr(*text, '"'), *end = begin ? strchr(begin + 1, '"') : NULL;
  EXPECT(end);
  *end = 0;
  *text = end + 1;
  return begin + 1;
}

static void run_operation(const operation *of, char *listed, const char *folder) {
  static int count;
  char own_folder[PATH_SIZE];
  uint64_t expected = 0;
  bool is_first = true;
  while (strchr(listed, '"')) {
    const char *trouble = next_quoted(&listed);
    EXPECT(snprintf(own_folder, sizeof own_folder, "%s/%d", folder, ++count) < PATH_SIZE && mkdir(own_folder, 0777) == 0);
    if (is_first) expected = of->run(own_folder);
    is_first = false;
    run_trouble(of, trouble, own_folder, expected);
  }
}

/* A line of the table's list of operations is `{ "name": "...", "troubles": ["...", ...] },`. */
static void run_table(const char *folder) {
  char *text = text_of("conformance/troubles.json"), *line = strstr(text, "\"operations\"");
  size_t count = 0;
  EXPECT(line);
  while ((line = strstr(line, "{ \"name\": ")) != NULL) {
    char *end = strchr(line, '\n'), *name;
    const operation *of;
    EXPECT(end);
    *end = 0;
    line += strlen("{ \"name\": ");
    name = next_quoted(&line);
    line = strstr(line, "\"troubles\": [");
    EXPECT(line);
    of = operation_named(name);
    if (of) run_operation(of, line + strlen("\"troubles\": ["), folder);
    line = end + 1;
    count++;
  }
  EXPECT(count == count_of_operations());
  free(text);
}

int main(int count, char **arguments) {
  static char made[32];
  EXPECT(count == 2);
  seed_text = getenv("BYTEWRIGHT_SEED");
  if (!seed_text) {
    snprintf(made, sizeof made, "%ld", (long)time(NULL));
    seed_text = made;
  }
  srand((unsigned)strtoul(seed_text, NULL, 10));
  take_signals();
  expect_every_function_placed();
  run_table(arguments[1]);
  return 0;
}
