# frozen_string_literal: true

# `ruby files.rb PROFILE COUNT OUT`: files for the benches of reading, the same bytes on every machine.

# Records of so many bytes, which is what the loops over records and headers read.
RECORD_BYTES = 80
# Number of records or lines made at a time.
PIECE_COUNT = 10_000

METHODS = %w[GET GET GET POST PUT DELETE].freeze
PAGES = %w[articles users search orders assets].freeze

# A line of a server's log, of about 86 bytes.
def log_line(number, random)
  format("%<time>.3f 10.%<net>d.%<host>d.%<node>d %<method>s /%<page>s/%<item>d %<status>d %<bytes>d %<ms>d ms id %<id>08x\n",
         time: 1_700_000_000 + number * 0.037, net: random.rand(256), host: random.rand(256), node: random.rand(256),
         method: METHODS.sample(random: random), page: PAGES.sample(random: random), item: random.rand(1 << 40),
         status: [200, 200, 200, 304, 404, 500].sample(random: random), bytes: random.rand(1 << 24),
         ms: random.rand(2000), id: random.rand(1 << 32))
end

PROFILES = {
  # Random bytes.
  "records" => ->(_first, count, random) { random.bytes(count * RECORD_BYTES) },
  # Lines of text.
  "log" => ->(first, count, random) { Array.new(count) { |at| log_line(first + at, random) }.join }
}.freeze

profile, count, path = ARGV
abort "usage: #{$PROGRAM_NAME} #{PROFILES.keys.join('|')} COUNT OUT" unless path && PROFILES.key?(profile)

count = Integer(count, 10)
random = Random.new(61)
File.open(path, "wb") do |file|
  (0...count).step(PIECE_COUNT) do |first|
    file << PROFILES.fetch(profile).call(first, [PIECE_COUNT, count - first].min, random)
  end
end
