include "parts/shapes.thrift"
struct Point { 1: i32 x, 2: i32 y, 3: optional list<Point> others }
typedef Point Place
union Either { 1: i32 number, 2: string word }
exception Failed { 1: string why, 2: i32 code }
const Point ORIGIN = {"x": 0, "y": 0}
const Point REVERSED = {"y": 2, "x": 1}
const Point NOTHING = {}
const Place TYPED = {"x": 7}
const Point NESTED = {"others": [{"x": 1}, {"others": [{"y": 2}]}]}
const list<Point> LIST = [{"x": 1}, {}]
const map<string, Point> MAP = {"b": {"x": 1}, "a": {"y": 2}}
const Either CHOSEN = {"word": "w"}
const Failed FAILURE = {"code": 4, "why": "because"}
const shapes.Point FAR = {"x": 1, "y": 2, "away": 1.5}
const shapes.Path PATH = [{"x": 1, "y": 1}, {"y": 2, "x": 2}]
