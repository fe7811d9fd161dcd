# frozen_string_literal: true

# Reads, decodes and keeps bulk binary data at native speed, behind the interfaces Ruby programs
# already use.
module Bytewright
  # Loaded when they are first named: few programs need them beside the rest. By their whole paths, because
  # RubyGems looks for others in all gems, which takes as long as loading them. Only
  # `require "bytewright/thrift"` makes the gem thrift itself faster.
  autoload :ADB, File.join(__dir__, "bytewright/adb")
  autoload :PStore, File.join(__dir__, "bytewright/pstore")
  autoload :Thrift, File.join(__dir__, "bytewright/thrift/functions")
end

require_relative "bytewright/errors"
require_relative "bytewright/bytewright.so"
require_relative "bytewright/packet"
require_relative "bytewright/columns"
require_relative "bytewright/flow"
require_relative "bytewright/capture"
require_relative "bytewright/entries"
require_relative "bytewright/table"
require_relative "bytewright/snapshot"
require_relative "bytewright/tree_table"

Bytewright.private_constant :PStoreFile, :ThriftCodec, :ThriftColumns
Bytewright.singleton_class.send(:private, :run_command)
