include "parts/shapes.thrift"
exception First { 1: string why }
exception Second { 1: i32 code }
typedef Second Another
service Throwing {
  void nothing() throws ()
  void one() throws (1: First first)
  i32 two(1: i32 a) throws (1: First first, 2: Second second)
  i32 unnumbered() throws (First first, Second second)
  void renamed() throws (1: Another another) (note)
  void far() throws (5: shapes.NotAShape not_a_shape; 7: First first)
  oneway void never() throws ()
}
