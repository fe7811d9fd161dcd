enum Color { RED = 1, GREEN = 5, NONE = 0 }
const bool FIVE = 5
const bool LESS = -1
const bool GREEN = Color.GREEN
const bool NONE = Color.NONE
const i32 THREE = 3
const bool OF_ANOTHER = THREE
