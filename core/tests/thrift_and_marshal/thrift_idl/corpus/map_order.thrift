const string NAME = "name"
const string ANOTHER = "a"
const i32 NINE = 9
const map<string, i32> NAMES_LAST = {"z": 1, NAME: 2, "b": 3, ANOTHER: 4}
const map<i32, i32> NUMBERS = {3: 1, -5: 2, NINE: 3, 10: 4, 0x1: 5}
const map<double, i32> DOUBLES = {2.5: 1, 1: 2, -1.5: 3, 7: 4}
const map<i32, string> LAST_COUNTS = {1: "first", 2: "b", 1: "second", 1: "third"}
const map<string, string> TEXTS = {"b": "1", "": "2", "B": "3", "a b": "4", "é": "5", "~": "6"}
