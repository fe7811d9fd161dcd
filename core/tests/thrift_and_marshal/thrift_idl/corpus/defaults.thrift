include "parts/shapes.thrift"
enum Level { LOW = 1, HIGH = 9 }
struct Small { 1: i32 a = 4, 2: i32 b }
struct Defaults {
  1: bool truth = true
  2: i8 small = -1
  3: i64 long = 1234567890123
  4: double real = 2.5
  5: double whole = 2
  6: string text = "text"
  7: binary bytes = 'bytes'
  8: list<i32> numbers = [1, 2, 3]
  9: map<string, list<i32>> lists = {"b": [1], "a": []}
  10: set<string> words = ["x"]
  11: Level level = Level.HIGH
  12: Level by_number = 1
  13: i32 number_of_level = Level.HIGH
  14: Small small_struct = {"a": 1}
  15: list<Small> small_structs = [{}, {"b": 2}]
  16: optional i32 optional_one = 7
  17: required i32 required_one = 8
  18: shapes.Color color = shapes.Color.RED
  19: shapes.Path path = [{"x": 1, "y": 2}]
  20: map<Level, string> names = {Level.HIGH: "high", Level.LOW: "low"}
  21: i32 corners = shapes.CORNERS;
}
union Either { 1: i32 number = 3, 2: string word }
exception Wrong { 1: string why = "who knows" }
service Defaulted { void f(1: i32 a = 5, 2: list<string> b = ["x"]) }
