# frozen_string_literal: true

# `ruby stores.rb PROFILE COUNT OUT`: stores for the benches of PStore, as PStore itself would write
# them; the same bytes on every machine with one version of Marshal.

Place = Struct.new(:town, :distance)

def records(count, &tag)
  Array.new(count) do |n|
    ["key#{n}", { "name" => "record #{n}", "state" => format("%08d", n),
                  "tags" => %w[red green blue].rotate(n).map(&tag), "score" => n / 7.0,
                  "place" => Place.new("town #{n % 50}", n * 3) }]
  end.to_h
end

PROFILES = {
  # One root of 4 bytes for each count: the store of the benchmark of 2011.
  "text" => ->(count) { { "hoge" => "hoge" * count } },
  # A small value by each key.
  "values" => ->(count) { Array.new(count) { |n| ["key#{n}", format("value-%08d", n)] }.to_h },
  # A value of a thousand bytes by each key.
  "kilobytes" => ->(count) { Array.new(count) { |n| ["key#{n}", format("%08d", n) * 125] }.to_h },
  # Records as programs keep them.
  "records" => ->(count) { records(count, &:dup) },
  # Records of a program whose literals are frozen, so that all records have the same three Strings.
  "sharing" => ->(count) { records(count, &:itself) }
}.freeze

profile, count, path = ARGV
abort "usage: #{$PROGRAM_NAME} #{PROFILES.keys.join('|')}|empty COUNT OUT" unless path

File.binwrite(path, profile == "empty" ? "" : Marshal.dump(PROFILES.fetch(profile).call(Integer(count, 10))))
