# frozen_string_literal: true

require "mkmf"

$CFLAGS << " -O2" # rubocop:disable Style/GlobalVars -- as mkmf has it
create_makefile("thrift_floor")
