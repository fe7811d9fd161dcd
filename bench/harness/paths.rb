# frozen_string_literal: true

require "rbconfig"

module Bench
  # Paths of the benches. Everything that a bench makes is below DATA or the cargo target folder.
  module Paths
    BENCH = File.realpath("..", __dir__)
    ROOT = File.dirname(BENCH)
    DATA = File.join(BENCH, "data")
    RECORDS = File.join(BENCH, "records")
    # Folder in which the Makefile builds the gem and the wheel: the crates of these, the command, the C library and the
    # tools of the benches are compiled once.
    CARGO_TARGET = File.join(ROOT, "target", "gem-build")
    TKRZW = File.join(DATA, "build", "tkrzw", "tables")
    IO_FLOOR = File.join(DATA, "build", "io_floor", "floor")
    C_LIBRARY = File.join(DATA, "build", "c_library")
    C_TABLES = File.join(C_LIBRARY, "c_tables")
    C_EXTENSION = File.join(DATA, "build", "c_ext")
    # Python that packages of the distribution are for; another may come first on the path.
    SYSTEM_PYTHON = ["/usr/bin/python3", "python3"].find { |path| !path.include?("/") || File.executable?(path) }
    # An environment of that Python, with its packages and those of PyPI.
    VENV = File.join(DATA, "python")
    VENV_PYTHON = File.join(VENV, "bin", "python")
    # An environment with Spark, which the tests of Spark also use.
    SPARK = File.join(ROOT, "target", "spark", "environment")
    SPARK_PYTHON = File.join(SPARK, "bin", "python")
    # Folder in which the Makefile builds the wheel, unless BYTEWRIGHT_WHEELS names another that has it.
    WHEELS = File.expand_path(ENV.fetch("BYTEWRIGHT_WHEELS", File.join(ROOT, "target", "python", "wheels")))
    COMMAND = File.join(CARGO_TARGET, "release", "bytewright")
    THRIFT_FLOOR = File.join(DATA, "build", "thrift_floor")
    THRIFT_CLASSES = File.join(DATA, "build", "thrift_classes")
    THRIFT_IDL = File.join(BENCH, "workload", "messages.thrift")
    # Folder in which the Makefile installs the gem, unless BYTEWRIGHT_GEM_HOME names another that has it.
    GEM_HOME = File.expand_path(ENV.fetch("BYTEWRIGHT_GEM_HOME", File.join(ROOT, "target", "gems")))
    GEM_ENVIRONMENT = { "GEM_HOME" => GEM_HOME, "GEM_PATH" => GEM_HOME }.freeze
    # With the gems of the system, for programs that compare within one of these.
    WITH_SYSTEM_GEMS = GEM_ENVIRONMENT.merge("GEM_PATH" => [GEM_HOME, *Gem.default_path].join(File::PATH_SEPARATOR)).freeze
    # Folder in which the Makefile installs the Perl module, unless BYTEWRIGHT_PERL_HOME names another that has it.
    PERL_HOME = File.expand_path(ENV.fetch("BYTEWRIGHT_PERL_HOME", File.join(ROOT, "target", "perl", "installed")))
    PERL_ENVIRONMENT = { "PERL5LIB" => File.join(PERL_HOME, "lib", "perl5") }.freeze
    RUBY = RbConfig.ruby
    FILE_GENERATOR = File.join(BENCH, "generator", "files.rb")
    STORE_GENERATOR = File.join(BENCH, "generator", "stores.rb")
    MESSAGE_GENERATOR = File.join(BENCH, "generator", "messages.rb")

    # Of the generators in Rust.
    def self.generator_sources
      Dir.glob(File.join(BENCH, "generator", "src", "*.rs")).sort
    end

    def self.peer(name)
      File.join(BENCH, "peers", name)
    end

    def self.ours(name)
      File.join(BENCH, "ours", name)
    end

    # The wheel that was built, or nil.
    def self.wheel
      Dir[File.join(WHEELS, "bytewright-*.whl")].max
    end

    def self.executable(name)
      File.join(CARGO_TARGET, "release", name)
    end
  end
end
