include "parts/units.thrift"
include "more/units.thrift"
struct Both { 1: units.Reading reading, 2: units.Weight weight }
