struct Words {
  1: i32 list, 2: i32 struct, 3: i32 namespace, 4: i32 i8, 5: i32 async, 6: i32 required
  7: optional i32 optional = 5, 8: required string required2, 9: i32 void; 10: binary binary
}
union Choice { 1: list<i32> list, 2: map<string, string> map, 3: bool bool }
service Calls { void call(1: i32 service, 2: i32 throws) }
