struct Known { 1: uuid id, 2: list<uuid> ids, 3: map<uuid (a = "b"), string> names, 4: uuid uuid }
typedef uuid Identity
const uuid NONE = "00000000-0000-0000-0000-000000000000"
const Identity BRACES = "{01234567-89ab-cdef-ABCD-EF0123456789}"
const uuid SAME = NONE
const list<uuid> LIST = [NONE, "11111111-2222-3333-4444-555555555555"]
struct Default { 1: uuid id = "00000000-0000-0000-0000-000000000001" }
