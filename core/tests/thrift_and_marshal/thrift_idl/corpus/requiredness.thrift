struct Said {
  1: required i32 must
  2: optional i32 may
  3: i32 neither
  4: required list<string> all
  5: required bool truth
  6: optional Said said
  7: required Kind kind
}
enum Kind { A }
exception Broken { 1: required string why, 2: optional i32 code }
union Choice { 1: i32 a, 2: required i32 b, 3: optional i32 c }
service Asked {
  i32 ask(1: required i32 must, 2: optional i32 may, 3: i32 neither) throws (1: optional Broken broken)
}
