// Schema of the messages of thrift.json.

enum Kind { SMALL = 1, LARGE = 3 }

struct Inner {
  1: i32 id,
  2: string name,
}

struct Everything {
  1: bool flag,
  2: i8 tiny,
  3: i16 small,
  4: i32 medium,
  5: i64 large,
  6: double real,
  7: string text,
  8: binary blob,
  9: Kind kind,
  10: Inner inner,
  11: list<i32> ints,
  12: set<i32> numbers,
  13: map<string, i32> counts,
  14: list<Inner> inners,
}

struct Node {
  1: Node next,
}
