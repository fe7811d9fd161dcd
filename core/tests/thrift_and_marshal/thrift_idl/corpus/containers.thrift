struct Inner { 1: list<set<map<string, list<Inner>>>> nest }
struct Containers {
  1: list<i32> numbers
  2: set<string> words
  3: map<string, i64> counts
  4: map<i32, map<i32, map<i32, binary>>> deep
  5: list<list<list<list<bool>>>> grid
  6: set<Inner> inners
  7: map<Kind, list<Kind>> kinds
  8: map<list<i32>, set<i16>> keyed
  9: list< i32 (unit = "m") > (note) noted
  10: map<string (a), i32 (b = "c")> (d = "e", f) both (g)
  11: list<i32> cpp_type "std::deque<int>" deque
  12: map cpp_type "boost::flat_map<int, int>" <i32, i32> flat
  13: set cpp_type 'Bits' <i8> bits
}
enum Kind { ONE, TWO }
