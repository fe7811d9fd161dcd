struct Key { 1: i32 a, 2: string b }
const map<list<i32>, i32> LISTS = {[2]: 1, [1, 2]: 2, []: 3, [1]: 4, [1, 1]: 5}
const map<set<string>, i32> SETS = {["b"]: 1, ["a", "z"]: 2}
const map<map<i32, i32>, i32> MAPS = {{1: 2}: 1, {1: 1, 2: 2}: 2, {}: 3, {1: 1}: 4}
const map<Key, i32> STRUCTS = {{"b": "x", "a": 2}: 1, {"a": 1}: 2}
