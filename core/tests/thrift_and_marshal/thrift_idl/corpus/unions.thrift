union Empty {}
union Choice { 1: bool truth, 2: string text; 3: list<Choice> choices 4: Point point }
struct Point { 1: i32 x }
struct Holder { 1: Choice choice, 2: map<string, Choice> choices }
union Noted { 1: i32 a (note = "a") } (note = "all")
