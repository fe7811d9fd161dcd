# frozen_string_literal: true

require_relative "errors"
require_relative "bytewright.so"

# What all of Bytewright stands on: the errors, the extension, and where each class is to be found.
module Bytewright
  # By their whole paths, because RubyGems looks for others in all gems, which takes as long as loading them.
  {
    "capture" => %i[Capture Packet Columns Flow FlowStore Call],
    "table" => %i[Table HashTable TreeTable Snapshot TreeSnapshot View Cursor Entries OrderedEntries],
    "adb" => %i[ADB],
    "pstore" => %i[PStore],
    "reader" => %i[Reader],
    "writer" => %i[Writer],
    "thrift/functions" => %i[Thrift]
  }.each do |file, names|
    names.each { |name| autoload name, File.join(__dir__, file) }
  end
  singleton_class.send(:private, *singleton_methods(false))
end
