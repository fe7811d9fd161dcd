struct All xsd_all { 1: i32 a xsd_optional, 2: i32 b xsd_nillable, 3: i32 c xsd_optional xsd_nillable }
union Any xsd_all { 1: i32 a }
struct Attributes {
  i32 a xsd_attrs { i32 z, i32 y }
  i32 b = 5 xsd_optional xsd_nillable xsd_attrs { 1: string q = "x" xsd_attrs { i32 deeper } } (note)
  3: i32 c
  i32 d
}
