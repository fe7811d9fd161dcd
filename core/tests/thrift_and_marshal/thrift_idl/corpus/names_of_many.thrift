struct Same { 1: i32 same, 2: i32 Same, 3: Same SAME }
const i32 Same = 4
const i32 same = Same
enum Other { Same, same }
service Same2 { void same(1: Same same), void Same() }
