# frozen_string_literal: true

# Reads, decodes and keeps bulk binary data at native speed, behind the interfaces Ruby programs
# already use.
module Bytewright
  # Loaded when it is first named: few programs need it beside the rest.
  autoload :PStore, "bytewright/pstore"
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
require_relative "bytewright/adb"

Bytewright.private_constant :PStoreFile
Bytewright.singleton_class.send(:private, :run_command)
