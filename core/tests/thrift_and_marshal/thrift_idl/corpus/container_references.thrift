const list<i32> LIST = [1, 2]
const list<i32> SAME_LIST = LIST
const map<string, list<i32>> MAP = {"a": LIST, "b": SAME_LIST}
const map<string, list<i32>> SAME_MAP = MAP
const double WHOLE = 5
const double SAME_WHOLE = WHOLE
