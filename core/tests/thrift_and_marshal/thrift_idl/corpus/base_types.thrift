struct Plain {
  1: bool truth
  2: byte small
  3: i8 also_small
  4: i16 short
  5: i32 usual
  6: i64 long
  7: double real
  8: string text
  9: binary bytes
}
