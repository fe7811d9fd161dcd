include "parts/shapes.thrift"
service Base { i32 base(1: i32 a) }
service Middle extends Base { i32 middle() }
service Top extends Middle { i32 top() } (note)
service Far extends shapes.Plotter { void other() }
service Alone { i32 base() }
