exception Empty {}
exception Simple { 1: string why }
exception Message { 1: string message }
exception Rich { 1: required i32 code, 2: list<string> causes = ["none"], 3: optional Detail detail } (fatal)
struct Detail { 1: Simple as_a_field, 2: list<Rich> many }
typedef Simple Renamed
const Rich USUAL = {"code": 3}
