namespace rb Units
typedef double Length
const Length FURLONG = 201.168
const map<string, Length> METERS = {"inch": 0.0254, "foot": 0.3048, "mile": 1609.344}
struct Reading { 1: Length value, 2: i64 at }
