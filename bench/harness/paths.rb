# frozen_string_literal: true

require "rbconfig"

module Bench
  # Where things are. Everything that a bench makes is below DATA or the cargo target folder.
  module Paths
    BENCH = File.expand_path("..", __dir__)
    ROOT = File.dirname(BENCH)
    DATA = File.join(BENCH, "data")
    RECORDS = File.join(BENCH, "records")
    CARGO_TARGET = ENV.fetch("CARGO_TARGET_DIR", File.join(BENCH, "target"))
    C_EXTENSION = File.join(DATA, "build", "c_ext")
    VENV = File.join(DATA, "venv")
    GEMS = File.join(DATA, "gems")
    RUBY = RbConfig.ruby

    def self.peer(name)
      File.join(BENCH, "peers", name)
    end

    def self.ours(name)
      File.join(BENCH, "ours", name)
    end

    def self.executable(name)
      File.join(CARGO_TARGET, "release", name)
    end
  end
end
