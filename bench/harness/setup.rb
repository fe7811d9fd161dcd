# frozen_string_literal: true

require "fileutils"

require_relative "paths"
require_relative "shell"

module Bench
  # Brings what the sides of a bench need. Each part is tried once; what cannot be had becomes the
  # reason that the table prints for the rows that would need it.
  class Setup
    # A peer from the distribution: how one sees that it is there, and the packages that bring it.
    Packaged = Struct.new(:probe, :packages)

    PACKAGED = {
      pcaprub: Packaged.new([Paths::RUBY, "-e", "require 'pcaprub'"], %w[ruby-pcaprub]),
      packetfu: Packaged.new([Paths::RUBY, "-e", "require 'packetfu'"], %w[ruby-packetfu]),
      tshark: Packaged.new(%w[tshark --version], %w[tshark]),
      tcpdump: Packaged.new(%w[tcpdump --version], %w[tcpdump]),
      tokyo: Packaged.new([Paths::RUBY, "-e", "require 'tokyocabinet'"], %w[ruby-tokyocabinet]),
      kyoto: Packaged.new([Paths::RUBY, "-e", "require 'kyotocabinet'"], %w[ruby-kyotocabinet]),
      perl: Packaged.new(%w[perl -MCompress::Raw::Zlib -MTime::HiRes -e 1], %w[perl]),
      perl_tokyo: Packaged.new(%w[perl -MTokyoCabinet -MCompress::Raw::Zlib -e 1],
                               %w[perl libtokyocabinet-perl]),
      perl_db_file: Packaged.new(%w[perl -MDB_File -MCompress::Raw::Zlib -e 1], %w[perl]),
      perl_lmdb: Packaged.new(%w[perl -MLMDB_File -MCompress::Raw::Zlib -e 1], %w[perl liblmdb-file-perl]),
      active_support: Packaged.new([Paths::RUBY, "-e", "require 'active_support'"], %w[ruby-activesupport]),
      net_pcap: Packaged.new(%w[perl -MNet::Pcap -e 1], %w[perl libnet-pcap-perl]),
      thrift_ruby: Packaged.new([Paths::RUBY, "-e", "require 'thrift'; Thrift::BinaryProtocolAccelerated"],
                                %w[ruby-thrift]),
      thrift_compiler: Packaged.new(%w[thrift --version], %w[thrift-compiler]),
      python_thrift: Packaged.new([Paths::SYSTEM_PYTHON, "-c", "import thrift.protocol.fastbinary"],
                                  %w[python3-thrift]),
      python_gdbm: Packaged.new([Paths::SYSTEM_PYTHON, "-c", "import dbm.gnu"], %w[python3-gdbm]),
      python: Packaged.new(%w[python3 --version], %w[python3]),
      pypy: Packaged.new(%w[pypy3 --version], %w[pypy3]),
      gzip: Packaged.new(%w[gzip --version], %w[gzip]),
      zstd: Packaged.new(%w[zstd --version], %w[zstd])
    }.freeze

    # Libraries of PyPI: what is imported of them, and which release.
    PYTHON_LIBRARIES = {
      dpkt: ["dpkt", "dpkt==1.9.8"], thriftpy2: ["thriftpy2.protocol.cybin", "thriftpy2==0.7.1"],
      scapy: ["scapy.layers.inet6", "scapy==2.8.0"], polars: ["polars", "polars==2.1.0"], lmdb: ["lmdb", "lmdb==3.0.0"],
      duckdb: ["duckdb", "duckdb==2.0.0"], diskcache: ["diskcache", "diskcache==5.6.3"], pyarrow: ["pyarrow.parquet", "pyarrow==26.0.1"],
      nfstream: ["nfstream", "nfstream==6.6.0"]
    }.freeze

    # Classes of the gem that sides need, by the part of that name.
    GEM_CLASSES = {
      gem: "Bytewright::Capture", hash_table: "Bytewright::HashTable", tree_table: "Bytewright::TreeTable",
      pstore: "Bytewright::PStore", thrift: "Bytewright::Thrift", reader: "Bytewright::Reader"
    }.freeze

    # The parts that this repository makes.
    PRODUCT = [*GEM_CLASSES.keys, :c_library, :perl_module, :wheel, :spark].freeze

    def initialize
      @reasons = {}
      @packages_updated = false
    end

    # Returns the reason why `part` cannot be used, as one line, or nil if it is there.
    def missing(part)
      return @reasons[part] if @reasons.key?(part)

      @reasons[part] = prepare(part)
    end

    # Builds ours with the core in it, the runner, the generators and the Rust peers.
    def build_tools
      Shell.run("cargo", "build", "--release", "--quiet", "--locked",
                environment: { "CARGO_TARGET_DIR" => Paths::CARGO_TARGET })
    end

    private

    def prepare(part)
      case part
      when :c_library then build_c_tables
      when :c_ext then prepare_extension("c_ext", Paths::C_EXTENSION, "libpcap-dev")
      when :perl_module then missing(:perl) || prepare_perl_module
      when :cache_store then missing(:hash_table) || missing(:active_support)
      when :wheel then prepare_wheel
      when :wheel_polars then missing(:wheel) || missing(:polars)
      when :wheel_thrift then missing(:wheel) || missing(:thrift_python)
      when :wheel_thriftpy2 then missing(:wheel) || missing(:thriftpy2)
      when :command then build_command
      when :spark then prepare_spark
      when :spark_dpkt then missing(:spark) || install_dpkt_beside_spark
      when :spark_command then missing(:spark) || missing(:command)
      when :command_duckdb then missing(:command) || missing(:duckdb)
      when *PRODUCT then prepare_gem(GEM_CLASSES.fetch(part))
      when :io_floor then prepare_io_floor
      when :isa_l then prepare_isa_l
      when :thrift_gem then missing(:thrift_ruby) || missing(:thrift_compiler) || prepare_thrift_classes
      when :thrift_floor then missing(:thrift_gem) || prepare_extension("thrift_floor", Paths::THRIFT_FLOOR)
      when :thrift_python then missing(:thrift_gem) || missing(:python_thrift)
      when :thriftpy2 then missing(:thrift_gem) || prepare_python_library(*PYTHON_LIBRARIES.fetch(part))
      when *PYTHON_LIBRARIES.keys then prepare_python_library(*PYTHON_LIBRARIES.fetch(part))
      when :python_environment then prepare_environment
      when :reader_nowait then missing(:reader) || prepare_nowait
      when :tkrzw then prepare_tkrzw
      else prepare_packaged(PACKAGED.fetch(part))
      end
    rescue Shell::Failed => error
      warn error.message
      error.message.lines.map(&:strip).reject(&:empty?).values_at(0, -1).uniq.join(" ")
    end

    def prepare_packaged(packaged)
      return if Shell.succeeds?(*packaged.probe)

      reason = install(packaged.packages)
      reason || (Shell.succeeds?(*packaged.probe) ? nil : "#{packaged.probe.join(' ')} fails")
    end

    # nil, or the line that tells what to install.
    def install(packages)
      advice = "install: apt-get install #{packages.join(' ')}"
      return advice unless Shell.command?("apt-get") && (apt = administrator)

      update_packages(apt)
      Shell.run(*apt, "apt-get", "install", "-y", "--no-install-recommends", *packages,
                environment: { "DEBIAN_FRONTEND" => "noninteractive" })
      nil
    rescue Shell::Failed
      advice
    end

    # Returns the words to put before a command so that it may install packages, or nil.
    def administrator
      return [] if Process.uid.zero?

      %w[sudo -n] if Shell.succeeds?("sudo", "-n", "true")
    end

    def update_packages(administrator)
      return if @packages_updated

      Shell.run(*administrator, "apt-get", "update")
      @packages_updated = true
    end

    # An extension for Ruby in C, out of a folder of the peers.
    def prepare_extension(name, folder, *packages)
      FileUtils.mkdir_p(folder)
      build_extension(name, folder)
    rescue Shell::Failed => error
      reason = install([*packages, "ruby-dev", "gcc", "make"])
      return reason if reason

      warn error.message
      build_extension(name, folder)
    end

    def build_extension(name, folder)
      Shell.run(Paths::RUBY, Paths.peer("#{name}/extconf.rb"), folder: folder)
      Shell.run("make", folder: folder)
      nil
    end

    # The classes that Thrift's compiler makes for Ruby and for Python.
    def prepare_thrift_classes
      FileUtils.mkdir_p(Paths::THRIFT_CLASSES)
      %w[rb py].each do |language|
        Shell.run("thrift", "--gen", language, "-out", Paths::THRIFT_CLASSES, Paths::THRIFT_IDL)
      end
      nil
    end

    def prepare_python_library(name, package)
      reason = missing(:python_environment)
      return reason if reason || imports?(Paths::VENV_PYTHON, name)

      pip("--timeout", "10", "--retries", "1", package)
    end

    # Java, PySpark and the wheel, as for the tests of Spark.
    def prepare_spark
      Shell.run("./setup.sh", "spark", folder: Paths::ROOT)
      Shell.run("python/environment.sh", "python3", Paths::SPARK, "python/tests/spark/requirements.txt", folder: Paths::ROOT)
      install_wheel(Paths::SPARK_PYTHON)
    end

    def install_dpkt_beside_spark
      name, package = PYTHON_LIBRARIES.fetch(:dpkt)
      pip(package, python: Paths::SPARK_PYTHON) unless imports?(Paths::SPARK_PYTHON, name)
    end

    # Returns true if `python` has that library. Apart (-I), because a folder of this one, as `duckdb`, would be taken for it.
    def imports?(python, name)
      Shell.succeeds?(python, "-I", "-c", "import #{name}")
    end

    def prepare_environment
      return if Shell.succeeds?(Paths::VENV_PYTHON, "-m", "pip", "--version")

      create_environment
    rescue Shell::Failed
      install(%w[python3 python3-venv]) || create_environment
    end

    def create_environment
      Shell.run(Paths::SYSTEM_PYTHON, "-m", "venv", "--clear", "--system-site-packages", Paths::VENV)
      nil
    end

    def pip(*arguments, python: Paths::VENV_PYTHON)
      Shell.run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments)
      nil
    end

    # In the environment of the peers.
    def prepare_wheel
      missing(:python_environment) || install_wheel(Paths::VENV_PYTHON)
    end

    # The wheel as `make wheel` builds it, in the environment of this Python. nil, or why it cannot be had.
    def install_wheel(python)
      Shell.run("make", "--silent", "wheel", folder: Paths::ROOT) unless ENV["BYTEWRIGHT_WHEELS"]
      wheel = Paths.wheel
      return "#{Paths::WHEELS} has no wheel of bytewright" unless wheel

      pip("--no-index", "--no-deps", "--force-reinstall", wheel, python: python)
    end

    def build_command
      Shell.run("cargo", "build", "--release", "--quiet", "--locked", "-p", "bytewright-cli",
                folder: Paths::ROOT, environment: { "CARGO_TARGET_DIR" => Paths::CARGO_TARGET })
      nil
    end

    # The core loads isa-l at run time, so that it is enough to have the library installed.
    def prepare_isa_l
      return if isa_l_served?

      reason = install(%w[libisal2])
      reason || (isa_l_served? ? nil : "libisal2 is installed, but the core does not load it")
    end

    def isa_l_served?
      Shell.run(Paths.executable("columns"), "backends").include?("isa-l")
    end

    def prepare_io_floor
      build_io_floor
    rescue Shell::Failed => error
      reason = install(%w[gcc libc6-dev])
      return reason if reason

      warn error.message
      build_io_floor
    end

    def build_io_floor
      source = Paths.peer("io_floor/floor.c")
      return if FileUtils.uptodate?(Paths::IO_FLOOR, [source])

      FileUtils.mkdir_p(File.dirname(Paths::IO_FLOOR))
      Shell.run("cc", "-std=gnu11", "-O2", "-o", Paths::IO_FLOOR, source)
      nil
    end

    # Checks that inputs are on a file system that can be asked for what it has in memory.
    def prepare_nowait
      reason = missing(:io_floor)
      return reason if reason || Shell.succeeds?(Paths::IO_FLOOR, "nowait", Paths::IO_FLOOR)

      "bench/data is on a file system without RWF_NOWAIT, which ext4 and others have"
    end

    # The library as `make install-c` installs it, and a program that uses it.
    def build_c_tables
      Shell.run("c/build.sh", Paths::C_LIBRARY, folder: Paths::ROOT, environment: { "CARGO_TARGET_DIR" => Paths::CARGO_TARGET })
      Shell.run("cc", "-std=c99", "-O2", "-I#{Paths::ROOT}/c/include", "-o", Paths::C_TABLES, Paths.ours("c_tables.c"),
                "-L#{Paths::C_LIBRARY}", "-Wl,-rpath,#{Paths::C_LIBRARY}", "-lbytewright")
      nil
    end

    def prepare_tkrzw
      build_tkrzw
    rescue Shell::Failed => error
      reason = install(%w[g++ libtkrzw-dev zlib1g-dev])
      return reason if reason

      warn error.message
      build_tkrzw
    end

    def build_tkrzw
      source = Paths.peer("tkrzw/tables.cc")
      return if FileUtils.uptodate?(Paths::TKRZW, [source])

      FileUtils.mkdir_p(File.dirname(Paths::TKRZW))
      Shell.run("g++", "-std=c++17", "-O2", "-o", Paths::TKRZW, source, "-ltkrzw", "-lz")
      nil
    end

    def prepare_perl_module
      stamp = File.join(Paths::PERL_HOME, "stamp")
      Shell.run("make", "--silent", stamp, folder: Paths::ROOT) unless ENV["BYTEWRIGHT_PERL_HOME"]
      return if Shell.succeeds?(Paths::PERL_ENVIRONMENT, "perl", "-MBytewright", "-e", "1")

      "#{Paths::PERL_HOME} has no module Bytewright"
    end

    def prepare_gem(class_name)
      # The stamp's name is a target of the Makefile, which builds the gem as a user would.
      stamp = File.join(Paths::GEM_HOME, "installed")
      Shell.run("make", "--silent", stamp, folder: Paths::ROOT) unless ENV["BYTEWRIGHT_GEM_HOME"]
      script = "require 'bytewright'; #{class_name}"
      return if Shell.succeeds?(Paths::GEM_ENVIRONMENT, Paths::RUBY, "-e", script)

      "#{Paths::GEM_HOME} has no bytewright gem with #{class_name}"
    end
  end
end
