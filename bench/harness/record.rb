# frozen_string_literal: true

require "date"
require "etc"
require "fileutils"

require_relative "paths"
require_relative "shell"

module Bench
  # A dated page with a run's table and the kind of machine it ran on.
  class Record
    # how_measured:: how the numbers came about, as a line
    def initialize(suite_name, table, how_measured:)
      @suite_name = suite_name
      @table = table
      @how_measured = how_measured
    end

    # Returns the path written.
    def write
      FileUtils.mkdir_p(Paths::RECORDS)
      path = File.join(Paths::RECORDS, "#{Date.today.iso8601}-#{@suite_name}.md")
      File.write(path, page)
      path
    end

    private

    def page
      <<~PAGE
        # #{@suite_name}, #{Date.today.iso8601}

        #{machine.map { |name, value| "- #{name}: #{value}" }.join("\n")}
        - #{@how_measured}

        #{@table}
      PAGE
    end

    def machine
      {
        "processor" => "#{processor}, #{Etc.nprocessors} cores",
        "system" => operating_system,
        "rustc" => version("rustc", "--version"),
        "ruby" => RUBY_DESCRIPTION,
        "commit" => version("git", "-C", Paths::ROOT, "describe", "--always", "--dirty")
      }
    end

    def processor
      line = File.foreach("/proc/cpuinfo").find { |text| text.start_with?("model name") }
      line ? line.split(":", 2).last.strip : Etc.uname[:machine]
    rescue SystemCallError
      Etc.uname[:machine]
    end

    def operating_system
      name = File.foreach("/etc/os-release").find { |line| line.start_with?("PRETTY_NAME=") }
      [name && name.split("=", 2).last.strip.delete('"'), Etc.uname[:sysname]].compact.join(", ")
    rescue SystemCallError
      Etc.uname[:sysname]
    end

    def version(*command)
      Shell.run(*command).strip
    rescue Shell::Failed, Errno::ENOENT
      "unknown"
    end
  end
end
