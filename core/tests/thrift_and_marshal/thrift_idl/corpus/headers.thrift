namespace rb Old.Name
namespace * every.where
namespace java org.example.headers
include "parts/shapes.thrift"
cpp_include "<vector>"
namespace rb Office.papers
namespace py.twisted office.twisted (purpose = "events", plain)
cpp_include 'more.h'
namespace lowercase letters

struct Paper {
  1: shapes.Point corner
}
