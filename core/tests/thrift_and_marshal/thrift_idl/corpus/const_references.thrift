include "parts/shapes.thrift"
include "parts/units.thrift"
const i32 ONE = 1
const i32 UNO = ONE
const i64 LONG = UNO
const bool TRUTH = ONE
const bool SAME_TRUTH = TRUTH
const i32 TRUTH_AS_NUMBER = SAME_TRUTH
const double FROM_INTEGER = ONE
const double HALF = 0.5
const double SAME_HALF = HALF
const string WORD = "word"
const binary WORD_AS_BYTES = WORD
const string BACK_AGAIN = WORD_AS_BYTES
const list<i32> LIST = [ONE, 2, UNO]
const map<string, i32> MAP = {WORD: ONE, "other": UNO}
const i32 FAR = shapes.CORNERS
const string FAR_TITLE = shapes.TITLE
const units.Length FURLONG = units.FURLONG
const list<units.Length> LENGTHS = [units.FURLONG, 1, 2.5]
typedef i32 Number
const Number TYPED = ONE
const list<Number> TYPED_LIST = [TYPED, ONE, 3]
struct Uses {
  1: i32 number = ONE
  2: string word = WORD
  3: list<Number> numbers = [TYPED, shapes.CORNERS]
}
