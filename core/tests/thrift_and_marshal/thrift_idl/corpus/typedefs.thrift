include "parts/shapes.thrift"
typedef i32 Number
typedef Number Count,
typedef list<Count> Counts;
typedef map<Number, Counts> Table (note = "of counts")
typedef Later Sooner
typedef Sooner Soonest
typedef string (encoding = "none") Text
typedef shapes.Path Path
typedef shapes.Paint Paint
typedef map<string, list<Later>> (of = "later") Latest
typedef set<shapes.Point> Points
struct Later { 1: i32 value }
struct Typed {
  1: Number number
  2: Counts counts
  3: Table table
  4: Sooner sooner
  5: Soonest soonest
  6: list<Soonest> all
  7: Path path
  8: Paint paint
  9: Latest latest
  10: Text text = "typed"
  11: Points points
  12: Counts with_default = [1, 2]
}
