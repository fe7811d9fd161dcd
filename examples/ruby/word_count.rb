# frozen_string_literal: true

# Counts the words of a text in a table file that grows from run to run, and prints those that begin with a prefix:
# ruby word_count.rb TABLE TEXT PREFIX

require "bytewright"

abort "usage: ruby word_count.rb TABLE TEXT PREFIX" unless ARGV.size == 3
path, text, prefix = ARGV

Bytewright::TreeTable.open(path, values: :integer) do |counts|
  counts.transaction do
    File.foreach(text, encoding: "UTF-8") do |line|
      line.downcase.scan(/[a-z]+/) { |word| counts.increment(word) }
    end
  end
  counts.each(prefix: prefix) { |word, count| puts "#{word} #{count}" }
end
