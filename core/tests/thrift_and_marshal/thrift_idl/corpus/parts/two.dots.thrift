enum Dots { ONE = 1, TWO = 2 }
struct Dotted { 1: Dots dots = Dots.ONE }
const i32 COUNT = 2
