// A mark of UTF-8 before all.
struct Windows {
  1: i32 a,
	2: string b = "x"
}
