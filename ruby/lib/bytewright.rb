# frozen_string_literal: true

# Reads, decodes and keeps bulk binary data at native speed, behind the interfaces Ruby programs
# already use.
#
# Captures and tables are loaded at once, other classes when they are first named: a Ractor cannot load. To
# load one capability alone, require its own file, such as <tt>bytewright/pstore</tt>.
# <tt>require "bytewright/thrift"</tt> does more: it makes the gem thrift itself faster.
module Bytewright; end

require_relative "bytewright/extension"
require_relative "bytewright/capture"
require_relative "bytewright/table"
