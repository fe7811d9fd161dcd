typedef i32 A; typedef i32 B, typedef i32 C
const i32 D = 1; const i32 E = 2, const i32 F = 3
struct None { 1: i32 a 2: i32 b i32 c = 5 string d }
struct Commas { 1: i32 a, 2: i32 b, }
struct Semicolons { 1: i32 a; 2: i32 b; }
enum Tight{A,B;C D=4 E}
service Functions{void a()void b(),void c();i32 d(1:i32 a 2:i32 b;3:i32 c,)}struct Close{1:i32 a}
union Tabs	{	1	:	i32	a	}
