include "parts/shapes.thrift"
struct Request { 1: string what }
struct Answer { 1: string text }
enum Status { GOOD, BAD }
service Empty {}
service Simple {
  void ping()
  oneway void forget(1: i32 what);
  async void forget_too(),
  Answer ask(1: Request request)
  list<map<string, Answer>> many(1: list<Request> requests, 2: set<Status> states)
  Status status()
  binary bytes(1: binary bytes)
  shapes.Path path(1: shapes.Color color)
  oneway i32 odd()
  bool isGood(1: Later later)
}
struct Later { 1: i32 a }
