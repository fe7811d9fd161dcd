# frozen_string_literal: true

# A guestbook in a PStore, which programs with Ruby's own PStore may use, too: ruby guestbook.rb STORE NAME MESSAGE

require "bytewright/pstore"

abort "usage: ruby guestbook.rb STORE NAME MESSAGE" unless ARGV.size == 3
path, name, message = ARGV

store = Bytewright::PStore.new(path)
store.transaction do
  entries = store.fetch(name, [])
  store[name] = entries + [message]
end
store.transaction(true) do
  store.keys.sort.each { |guest| puts "#{guest}: #{store[guest].join(", ")}" }
end
