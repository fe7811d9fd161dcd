/* Texts of tests, as the bytes and the length that functions take. */
#ifndef TEXT_H
#define TEXT_H

#include <stdint.h>

#define TEXT(text) (const uint8_t *)(text), sizeof(text) - 1

#endif
