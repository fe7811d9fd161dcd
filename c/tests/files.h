/* Files of tests: their paths in a folder, their number, lengths and texts. */
#ifndef FILES_H
#define FILES_H

#include "expect.h"

#include <dirent.h>

enum { PATH_SIZE = 4096 };

static inline char *path_in(const char *folder, const char *name, char *path) {
  EXPECT(snprintf(path, PATH_SIZE, "%s/%s", folder, name) < PATH_SIZE);
  return path;
}

static inline size_t names_in(const char *folder) {
  size_t count = 0;
  const struct dirent *entry;
  DIR *names = opendir(folder);
  EXPECT(names);
  while ((entry = readdir(names)) != NULL) count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
  closedir(names);
  return count;
}

/* Bytes of a file, and -1 where there is no file. */
static inline long length_of(const char *path) {
  FILE *file = fopen(path, "rb");
  long length;
  if (!file) return -1;
  EXPECT(fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) >= 0 && fclose(file) == 0);
  return length;
}

/* The text of a file, which is not empty. */
static inline char *text_of(const char *path) {
  const long len = length_of(path);
  FILE *file = fopen(path, "rb");
  char *text;
  EXPECT(file && len > 0);
  text = (char *)calloc(1, (size_t)len + 1);
  EXPECT(text && fread(text, 1, (size_t)len, file) == (size_t)len && fclose(file) == 0);
  return text;
}

/* Copies a file but for its last bytes. */
static inline void copy_cut_short(const char *from, const char *to, size_t bytes_less) {
  static char bytes[1 << 20];
  FILE *source = fopen(from, "rb"), *copy = fopen(to, "wb");
  size_t length = fread(bytes, 1, sizeof bytes, source);
  EXPECT(length > bytes_less && fwrite(bytes, 1, length - bytes_less, copy) == length - bytes_less);
  EXPECT(fclose(source) == 0 && fclose(copy) == 0);
}

#endif
