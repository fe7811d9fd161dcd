# frozen_string_literal: true

require_relative "paths"

module Bench
  # Values from which a generator makes one input. The same values give the same bytes.
  #
  # generator_command(path):: writes the input to `path`
  # ending:: of its file name
  # sources:: the generator's own files, whose change makes the input anew
  CaptureRecipe = Struct.new(:seed, :megabytes, :profile, :packets_max) do
    def generator_command(path)
      command = [Paths.executable("capture-generator"), seed, megabytes, profile, path]
      command += ["--packets", packets_max] if packets_max
      command.map(&:to_s)
    end

    def ending
      "pcap"
    end

    def sources
      Paths.generator_sources
    end
  end

  # Recipe of a folder of captures, compressed by gzip, each of the next seed.
  CaptureFolderRecipe = Struct.new(:count, :megabytes, :profile) do
    def generator_command(path)
      script = 'generator=$0 folder=$1 count=$2 megabytes=$3 profile=$4; mkdir -p "$folder" && ' \
               'for seed in $(seq "$count"); do file="$folder/$seed.pcap"; ' \
               '"$generator" "$seed" "$megabytes" "$profile" "$file" && gzip -6 -n -f "$file" || exit; done'
      ["sh", "-ec", script, Paths.executable("capture-generator"), path, count.to_s, megabytes.to_s, profile]
    end

    def ending
      "captures"
    end

    def sources
      Paths.generator_sources
    end
  end

  # Recipe of entries of a table.
  RecordsRecipe = Struct.new(:seed, :count, :profile) do
    def generator_command(path)
      [Paths.executable("record-generator"), seed, count, profile, path].map(&:to_s)
    end

    def ending
      "records"
    end

    def sources
      Paths.generator_sources
    end
  end

  # Recipe of messages of Thrift, each in a frame.
  MessagesRecipe = Struct.new(:struct, :protocol, :count) do
    def generator_command(path)
      [Paths::RUBY, Paths::MESSAGE_GENERATOR, struct, protocol, count, path].map(&:to_s)
    end

    def ending
      "messages"
    end

    def sources
      [Paths::MESSAGE_GENERATOR]
    end
  end

  # Recipe of a file of bytes or lines, which is read as it is.
  FileRecipe = Struct.new(:profile, :count) do
    def generator_command(path)
      [Paths::RUBY, Paths::FILE_GENERATOR, profile, count, path].map(&:to_s)
    end

    def ending
      profile
    end

    def sources
      [Paths::FILE_GENERATOR]
    end
  end

  # A file with a number in it, for programs that read no other: how much they are to do.
  NumberRecipe = Struct.new(:number) do
    def generator_command(path)
      [Paths::RUBY, "-e", "File.write(ARGV[1], ARGV[0])", number.to_s, path]
    end

    def ending
      "number"
    end

    def sources
      []
    end
  end

  # Recipe of a store of Ruby objects.
  StoreRecipe = Struct.new(:profile, :count) do
    def generator_command(path)
      [Paths::RUBY, Paths::STORE_GENERATOR, profile, count, path].map(&:to_s)
    end

    def ending
      "pstore"
    end

    def sources
      [Paths::STORE_GENERATOR]
    end
  end
end
