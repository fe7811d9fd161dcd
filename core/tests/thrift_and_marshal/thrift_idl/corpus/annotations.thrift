namespace rb Noted (why = "to test", again, again = "more")
struct Noted {
  1: i32 (of_type = "yes") a (of_field = "a")
  2: list<i32 (inner)> (outer = 'x') b (empty = "")
  3: string c (one, two; three = "3" four, dotted.name = "d")
  4: i32 d ()
} (cpp.type = "Other", final)
enum Level { LOW (color = "blue"), HIGH = 4 (color = "red"; loud) } (scale = "linear")
typedef i64 (js.type = "Long") Time (unit = "ms")
exception Error { 1: string why (shown) } (log = "true")
union Choice { 1: i32 a (x) } (y)
service Service {
  void f(1: i32 (t) a (u)) throws (1: Error e (v)) (deprecated = "use g", since = "2"),
  i32 (w) g() (x)
} (owner = "us",)
