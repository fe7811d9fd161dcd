include "shapes.thrift"
include "units.thrift"
typedef shapes.Point Renamed
struct Link { 1: shapes.Point at, 2: units.Length long }
typedef list<Link> Links
const i32 CHAINS = shapes.CORNERS
service Chained extends shapes.Plotter { void pull(1: Link link) }
