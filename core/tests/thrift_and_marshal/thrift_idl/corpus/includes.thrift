include "parts/shapes.thrift"
include 'parts/chain.thrift'
include "parts/two.dots.thrift"
struct Here {
  1: shapes.Point point
  2: chain.Link link
  3: chain.Renamed renamed
  4: two.dots.Dotted dotted
  5: map<shapes.Color, chain.Links> all
}
const i32 CORNERS = shapes.CORNERS
const i32 LENGTH = chain.CHAINS
const i32 DOTS = two.dots.COUNT
const i32 DOTTED_VALUE = two.dots.Dots.TWO
service Here2 extends chain.Chained { chain.Link link() throws (1: shapes.NotAShape e) }
