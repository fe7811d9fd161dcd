namespace rb Shapes

include "units.thrift"

enum Color { RED = 3, GREEN, BLUE = 0x10 }

struct Point {
  1: required i32 x,
  2: required i32 y,
  3: optional units.Length away
}

typedef list<Point> Path
typedef Color Paint

const Color DEFAULT_COLOR = Color.GREEN
const i32 CORNERS = 4
const string TITLE = "shapes"
const Point ORIGIN = {"x": 0, "y": 0}
const units.Length FAR = units.FURLONG

exception NotAShape {
  1: string why
  2: Color color = Color.BLUE
}

service Plotter {
  void plot(1: Path path) throws (1: NotAShape not_a_shape)
}
