namespace rb Logs

// A line of a server's log, as docs/thrift.md uses it.
struct Place {
  1: string city,
}

struct Entry {
  1: i64 time,
  2: string host,
  3: optional Place place,
}
