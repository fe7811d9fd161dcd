exception Failed { i32 code }
struct Explicit { 5: i32 five, 1: i32 one, 32767: i32 most, 3: i32 three }
struct Implicit { i32 a, i32 b; i32 c }
struct Mixed { 1: i32 one, i32 less, 2: i32 two, string more }
struct NotAbove { -5: i32 a, 0: i32 b, i32 c, 7: i32 d, -1: i32 e }
struct Truth { true: i32 one }
struct Hex { 0x10: i32 sixteen, +4: i32 four }
struct Nothing {}
service Ids {
  i32 implicit(i32 a, i32 b) throws (Failed f, 4: Failed g),
  void explicit(3: i32 a, 1: i32 b)
}
