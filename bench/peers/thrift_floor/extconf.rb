# frozen_string_literal: true

require "mkmf"

$CFLAGS << " -O2"
create_makefile("thrift_floor")
