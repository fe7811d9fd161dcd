# frozen_string_literal: true

# From here on the gem thrift reads, writes and compares objects natively: in programs as they are.

require_relative "extension"
begin
  require "thrift"
rescue LoadError => error
  raise unless error.path == "thrift" # something that the gem needs

  raise error.class, "#{error.message}: bytewright/thrift speeds up the gem thrift, which is not there; run: gem install thrift"
end
require_relative "thrift/drop_in"

module Bytewright
  # The methods of the module itself are in thrift/functions.rb.
  module Thrift
    DropIn.install
  end
end
