include "parts/shapes.thrift"
enum Color { RED = 1, GREEN = 5 }
typedef Color Paint
const Color NAMED = Color.GREEN
const Color NUMBERED = 5
const Paint BY_TYPEDEF = Color.RED
const Paint BY_NUMBER = 1
const Color BY_ANY_NAME = Whatever.RED
const i32 AS_NUMBER = Color.GREEN
const i64 AS_LONG = Color.GREEN
const double AS_DOUBLE = Color.GREEN
const shapes.Color FAR = shapes.Color.BLUE
const shapes.Color FAR_BY_FILE = shapes.BLUE
const shapes.Color FAR_BY_ENUM = Color.RED
const i32 FAR_AS_NUMBER = shapes.Color.BLUE
const shapes.Paint FAR_TYPEDEF = shapes.Color.RED
const map<Color, list<Color>> MANY = {Color.GREEN: [Color.RED, 5], Color.RED: []}
const set<shapes.Color> PALETTE = [3, shapes.Color.GREEN]
