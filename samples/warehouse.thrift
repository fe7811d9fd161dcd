/* What the server and the clients of warehouse.pcap.zst speak. */

namespace rb Warehouse

enum Unit { PIECE = 1, KILOGRAM = 2 }

struct Item {
  1: required string name,
  2: i64 price_cents,
  3: Unit unit = Unit.PIECE,
  4: optional list<string> tags,
  5: map<string, i32> stock,
}

exception NotFound { 1: string name }

exception OutOfStock { 1: string name, 2: i32 left }

service Catalog {
  Item find(1: string name) throws (1: NotFound not_found),
  list<Item> search(1: string prefix, 2: i32 limit),
}

service Store extends Catalog {
  void ping(),
  i32 reserve(1: string name, 2: i32 count) throws (1: OutOfStock out_of_stock, 2: NotFound not_found),
  binary picture(1: string name, 2: i32 size),
  double weigh(1: list<string> names),
  oneway void log(1: string line, 2: i64 at),
}

/* What a newer client asks for, and the server does not know. */
service NextStore extends Store {
  bool audit(1: set<i32> shelves),
}
