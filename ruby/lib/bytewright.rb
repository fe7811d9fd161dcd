# frozen_string_literal: true

# Reads, decodes and keeps bulk binary data at native speed, behind the interfaces Ruby programs
# already use.
#
# ADB, Cache, PStore and Thrift are loaded when they are first named, all else at once. A Ractor cannot load: for the use in
# others than the main one, require <tt>bytewright/adb</tt>, <tt>bytewright/cache</tt> or <tt>bytewright/pstore</tt> before. To load one
# capability alone, require its own file.
# <tt>require "bytewright/thrift"</tt> does more: it makes the gem thrift itself faster.
module Bytewright; end

require_relative "bytewright/extension"
require_relative "bytewright/capture"
require_relative "bytewright/table"
require_relative "bytewright/string_set"
require_relative "bytewright/reader"
require_relative "bytewright/writer"
