// Peers: tkrzw, the successor of Tokyo Cabinet and Kyoto Cabinet by the same author.
//
//   tables memory|times tiny|baby RECORDS
//
// `tiny` is its hash in memory, `baby` its B+ tree. The crate table-workload has the same tasks.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <tkrzw_dbm_baby.h>
#include <tkrzw_dbm_tiny.h>
#include <zlib.h>

namespace {

constexpr size_t kCheckedCountMax = 20000;

// The file that record-generator writes.
struct Records {
  explicit Records(const char* path) : file(path, std::ios::binary) {
    if (!(file >> count >> key_len >> value_len)) {
      throw std::runtime_error("expected a file by record-generator");
    }
    file.get();
    header_len = file.tellg();
  }

  size_t record_len() const { return key_len + value_len; }
  size_t payload_bytes() const { return count * record_len(); }

  void seek(size_t offset) { file.seekg(header_len + static_cast<std::streamoff>(offset)); }

  void read(std::string& bytes) {
    if (!file.read(bytes.data(), bytes.size())) throw std::runtime_error("the records end too early");
  }

  std::vector<uint32_t> order(size_t count_max) {
    std::string bytes(4 * std::min(count, count_max), '\0');
    seek(payload_bytes());
    read(bytes);
    std::vector<uint32_t> numbers(bytes.size() / 4);
    for (size_t i = 0; i < bytes.size(); i++) {
      numbers[i / 4] |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[i])) << (8 * (i % 4));
    }
    return numbers;
  }

  std::ifstream file;
  std::streamoff header_len = 0;
  size_t count = 0, key_len = 0, value_len = 0;
};

std::map<std::string, double> resident_bytes() {
  std::ifstream rollup("/proc/self/smaps_rollup");
  std::map<std::string, double> bytes;
  std::string line;
  std::getline(rollup, line);
  std::string name, unit;
  for (double kilobytes; rollup >> name >> kilobytes >> unit;) bytes[name] = kilobytes * 1024;
  return bytes;
}

double processor_s() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

std::unique_ptr<tkrzw::DBM> create(const std::string& engine) {
  if (engine == "tiny") return std::make_unique<tkrzw::TinyDBM>();
  return std::make_unique<tkrzw::BabyDBM>();
}

void put(tkrzw::DBM& table, std::string_view key, std::string_view value) {
  if (table.Set(key, value) != tkrzw::Status::SUCCESS) throw std::runtime_error("a put failed");
}

// `value` is there between calls so that not every get allocates one.
void get(tkrzw::DBM& table, std::string_view key, std::string* value) {
  if (table.Get(key, value) != tkrzw::Status::SUCCESS) throw std::runtime_error("a record is missing");
}

void print_answer(Records& records, tkrzw::DBM& table) {
  uLong crc = crc32(0, nullptr, 0);
  std::string key(records.key_len, '\0'), value;
  for (uint32_t number : records.order(kCheckedCountMax)) {
    records.seek(number * records.record_len());
    records.read(key);
    get(table, key, &value);
    crc = crc32(crc, reinterpret_cast<const Bytef*>(value.data()), value.size());
  }
  std::printf("{\"records\":%lld,\"crc\":%lu,", static_cast<long long>(table.CountSimple()), crc);
}

void memory(Records& records, const std::string& engine) {
  std::string record(records.record_len(), '\0');
  records.seek(0);
  records.read(record);
  records.seek(0);
  auto before = resident_bytes();
  auto table = create(engine);
  for (size_t number = 0; number < records.count; number++) {
    records.read(record);
    std::string_view view(record);
    put(*table, view.substr(0, records.key_len), view.substr(records.key_len));
  }
  auto after = resident_bytes();
  print_answer(records, *table);
  std::printf("\"figures\":{\"grown_bytes\":%.0f,\"anonymous_bytes\":%.0f,\"payload_bytes\":%zu}}\n",
              after["Rss:"] - before["Rss:"], after["Anonymous:"] - before["Anonymous:"],
              records.payload_bytes());
}

void times(Records& records, const std::string& engine) {
  std::string bytes(records.payload_bytes(), '\0');
  records.seek(0);
  records.read(bytes);
  std::string_view all(bytes);
  auto order = records.order(records.count);
  auto table = create(engine);
  double start_s = processor_s();
  for (size_t offset = 0; offset < all.size(); offset += records.record_len()) {
    put(*table, all.substr(offset, records.key_len),
        all.substr(offset + records.key_len, records.value_len));
  }
  double stored_s = processor_s();
  size_t value_bytes = 0;
  std::string value;
  for (uint32_t number : order) {
    get(*table, all.substr(number * records.record_len(), records.key_len), &value);
    value_bytes += value.size();
  }
  double got_s = processor_s();
  print_answer(records, *table);
  std::printf("\"value_bytes\":%zu,\"figures\":{\"put_s\":%.9f,\"get_s\":%.9f}}\n", value_bytes,
              stored_s - start_s, got_s - stored_s);
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments, arguments + count);
  if (count != 4 || (words[1] != "memory" && words[1] != "times") ||
      (words[2] != "tiny" && words[2] != "baby")) {
    std::cerr << "usage: tables memory|times tiny|baby RECORDS\n";
    return 2;
  }
  try {
    Records records(arguments[3]);
    (words[1] == "memory" ? memory : times)(records, words[2]);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << arguments[3] << ": " << error.what() << "\n";
    return 1;
  }
}
