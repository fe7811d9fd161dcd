enum Empty {}
enum Counted { A, B, C }
enum Mixed { A = 5, B, C = -3, D, E = 0x7F F G = +2; H, }
enum Same { X = 1, Y = 1, Z }
enum Far { LEAST = -2147483648, MOST = 2147483647 }
enum Noted {
  A (first), B = 2 (second = "yes", last); C (third = 'x')
} (of_all = "values")
enum lower { red, green }
enum Truth { NO = false, YES = true, MAYBE }
