# frozen_string_literal: true

require "digest"
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
      gzip: Packaged.new(%w[gzip --version], %w[gzip]),
      zstd: Packaged.new(%w[zstd --version], %w[zstd])
    }.freeze

    # The parts that this repository makes.
    PRODUCT = %i[gem columns].freeze

    def initialize
      @reasons = {}
      @packages_updated = false
    end

    # Why `part` cannot be used, as one line, or nil when it is there.
    def missing(part)
      return @reasons[part] if @reasons.key?(part)

      @reasons[part] = prepare(part)
    end

    def build_tools
      cargo_build(Paths::BENCH)
    end

    private

    def prepare(part)
      case part
      when :c_ext then prepare_c_extension
      when :dpkt then prepare_dpkt
      when :gem then prepare_gem
      when :columns then prepare_columns
      when :isa_l then prepare_isa_l
      else prepare_packaged(PACKAGED.fetch(part))
      end
    rescue Shell::Failed => error
      error.message.lines.first(2).map(&:strip).join(" ")
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

    # What to put before a command so that it may install packages, or nil.
    def administrator
      return [] if Process.uid.zero?

      %w[sudo -n] if Shell.succeeds?("sudo", "-n", "true")
    end

    def update_packages(administrator)
      return if @packages_updated

      Shell.run(*administrator, "apt-get", "update")
      @packages_updated = true
    end

    def prepare_c_extension
      FileUtils.mkdir_p(Paths::C_EXTENSION)
      build_c_extension
    rescue Shell::Failed => error
      reason = install(%w[libpcap-dev ruby-dev gcc make])
      return reason if reason

      warn error.message
      build_c_extension
    end

    def build_c_extension
      extconf = Paths.peer("c_ext/extconf.rb")
      Shell.run(Paths::RUBY, extconf, folder: Paths::C_EXTENSION)
      Shell.run("make", folder: Paths::C_EXTENSION)
      nil
    end

    def prepare_dpkt
      python = File.join(Paths::VENV, "bin", "python")
      return if Shell.succeeds?(python, "-c", "import dpkt")

      create_virtual_environment
      Shell.run(python, "-m", "pip", "install", "--quiet", "dpkt")
      nil
    end

    def create_virtual_environment
      Shell.run("python3", "-m", "venv", Paths::VENV)
    rescue Shell::Failed
      reason = install(%w[python3 python3-venv])
      raise Shell::Failed, reason if reason

      Shell.run("python3", "-m", "venv", Paths::VENV)
    end

    def prepare_columns
      folder = Paths.ours("columns")
      return "bench/ours/columns is not written yet" unless File.exist?(File.join(folder, "Cargo.toml"))

      cargo_build(folder)
      nil
    end

    # The core loads isa-l at run time, so that it is enough to have the library installed.
    def prepare_isa_l
      reason = missing(:columns)
      return reason if reason || isa_l_served?

      reason = install(%w[libisal2])
      reason || (isa_l_served? ? nil : "libisal2 is installed, but the core does not load it")
    end

    def isa_l_served?
      Shell.run(Paths.executable("columns"), "backends").include?("isa-l")
    end

    def cargo_build(folder)
      Shell.run("cargo", "build", "--release", "--quiet",
                environment: { "CARGO_TARGET_DIR" => Paths::CARGO_TARGET }, folder: folder)
    end

    # Builds and installs the gem as a user would, unless BYTEWRIGHT_GEM_HOME names a place that has it.
    def prepare_gem
      return if ENV["BYTEWRIGHT_GEM_HOME"]
      return "ruby/bytewright.gemspec is not there yet" unless File.exist?(gem_specification)

      stamp = File.join(Paths::GEMS, "sources.sha256")
      sources = gem_sources_digest
      return if File.exist?(stamp) && File.read(stamp) == sources

      install_gem
      File.write(stamp, sources)
      nil
    end

    def install_gem
      FileUtils.rm_rf(Paths::GEMS)
      FileUtils.mkdir_p(Paths::GEMS)
      package = File.join(Paths::GEMS, "bytewright.gem")
      Shell.run("gem", "build", gem_specification, "--output", package,
                folder: File.dirname(gem_specification))
      Shell.run("gem", "install", "--local", "--no-document", "--install-dir", Paths::GEMS, package)
    end

    def gem_specification
      File.join(Paths::ROOT, "ruby", "bytewright.gemspec")
    end

    def gem_sources_digest
      pattern = File.join(Paths::ROOT, "{core,cli,ruby}", "**", "*.{rs,rb,toml,lock,gemspec}")
      digest = Digest::SHA256.new
      Dir.glob(pattern).sort.each { |path| digest << path << File.binread(path) if File.file?(path) }
      digest.hexdigest
    end
  end
end
