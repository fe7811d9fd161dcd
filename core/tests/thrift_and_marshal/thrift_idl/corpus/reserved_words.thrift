struct Node { 1: i32 class, 2: optional Node next, 3: i32 end, 4: i32 from, 5: i32 def }
service Verbs { void delete(1: i32 in) }
enum Logic { and, or, not }
