struct i32x { 1: i32 truex, 2: i32 _under, 3: i32 under_, 4: i32 structs, 5: i32 CamelCase, 6: i32 i }
struct same { 1: i32 same, 2: same2 other }
struct same2 { 1: string string_ }
const i32 lower = 5
enum constants { const_ = 1 }
service listing { i32 list_() }
struct uuid { 1: i32 uuid, 2: list<uuid> more }
typedef uuid identity
