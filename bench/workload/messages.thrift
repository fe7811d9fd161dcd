// Structs that the benches of Thrift decode: one with everything, and a line of a log.

namespace rb BenchMessages
namespace py bench_messages

enum Kind { SMALL = 1, MEDIUM = 2, LARGE = 3 }

struct Inner {
  1: i32 id,
  2: string name,
  3: bool active,
  4: i16 level,
  5: double score,
}

struct Rich {
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
  12: list<string> strings,
  13: list<Inner> inners,
  14: set<string> tags,
  15: set<i32> numbers,
  16: map<string, string> attributes,
  17: map<i32, Inner> by_id,
  18: map<string, list<i64>> series,
  19: string greeting = "hello",
}

struct Flat {
  1: i64 time,
  2: string host,
  3: i32 pid,
  4: i16 level,
  5: string path,
  6: double duration,
  7: bool ok,
  8: i64 request,
  9: i32 status,
  10: string message,
}
