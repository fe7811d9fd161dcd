# A shell's kind of comment,
// one as in C++,
/* and one
 * as in C. */
/**/ /***/ /* * / ** // # */ /** of a definition **/ /* no
nesting /* here */

struct /* between words */ Comment { // behind a brace
  1: i32/**/number, # "not a string
  2: /* " */ string text /* ' */ = "// no comment, /* nor this, # nor this", // the end
  /** Of a field. */
  3: list<// inside of a type
     i32> numbers
}
// the last line has no end
