# frozen_string_literal: true

require "digest"
require "fileutils"
require "json"

require_relative "paths"
require_relative "shell"

module Bench
  # The generated captures. They are made when first asked for and kept, as long as the stamp beside
  # them says that the same generator made them from the same seed and size.
  class Inputs
    Recipe = Struct.new(:seed, :megabytes, :profile, :packets_max)

    FULL = {
      mixed: Recipe.new(1, 400, "mixed"),
      patterned: Recipe.new(3, 100, "patterned"),
      # The beginning of `mixed`, for the peers that would take minutes for all of it.
      cut: Recipe.new(1, 400, "mixed", 20_000)
    }.freeze

    CHECK = {
      mixed: Recipe.new(1, 2, "mixed"),
      patterned: Recipe.new(3, 1, "patterned"),
      cut: Recipe.new(1, 2, "mixed", 1_000),
      nanosecond: Recipe.new(5, 1, "mixed-ns"),
      pcapng: Recipe.new(6, 1, "mixed-ng"),
      pcapng_nanosecond: Recipe.new(7, 1, "mixed-ns-ng")
    }.freeze

    # The part of the set-up that compresses, by the ending of an input's key.
    PARTS = { "gz" => :gzip, "zst" => :zstd }.freeze
    COMPRESSORS = { "gz" => %w[gzip -6 -n -c], "zst" => %w[zstd -3 -q -T1 -c] }.freeze

    def self.full
      new("full", FULL)
    end

    def self.check
      new("check", CHECK)
    end

    # What the set-up must bring before `path(key)` can be asked, or nil.
    def self.part(key)
      PARTS[key.to_s[/_(gz|zst)\z/, 1]]
    end

    def initialize(folder, recipes)
      @folder = File.join(Paths::DATA, folder)
      @recipes = recipes
    end

    # The path of an input by its key, `:mixed`, or `:mixed_gz` for the compressed one.
    def path(key)
      name, compression = key.to_s.match(/\A(.+?)(?:_(gz|zst))?\z/).captures
      plain = generated(name)
      compression ? compressed(plain, compression) : plain
    end

    private

    def generated(name)
      path = File.join(@folder, "#{name}.pcap")
      recipe = @recipes.fetch(name.to_sym)
      stamp = JSON.generate(recipe.to_h.merge(generator: generator_digest))
      keep(path, stamp) { |part| generate(recipe, part) }
    end

    def generate(recipe, path)
      command = [Paths.executable("capture-generator"), recipe.seed, recipe.megabytes, recipe.profile, path]
      command += ["--packets", recipe.packets_max] if recipe.packets_max
      Shell.run(*command.map(&:to_s))
    end

    def compressed(plain, compression)
      command = COMPRESSORS.fetch(compression)
      stamp = JSON.generate(command: command, input: File.read("#{plain}.stamp"))
      keep("#{plain}.#{compression}", stamp) do |part|
        system(*command, plain, out: part) || raise(Shell::Failed, "#{command.join(' ')} failed")
      end
    end

    # Makes the file anew unless its stamp is `stamp`. A run that is cut short leaves no stamp.
    def keep(path, stamp)
      stamp_path = "#{path}.stamp"
      return path if File.exist?(path) && File.exist?(stamp_path) && File.read(stamp_path) == stamp

      warn "making #{path.delete_prefix("#{Paths::ROOT}/")}"
      FileUtils.mkdir_p(@folder)
      FileUtils.rm_f(stamp_path)
      part = "#{path}.part"
      yield part
      File.rename(part, path)
      File.write(stamp_path, stamp)
      path
    end

    def generator_digest
      @generator_digest ||= begin
        sources = Dir.glob(File.join(Paths::BENCH, "generator", "src", "*.rs")).sort
        Digest::SHA256.hexdigest(sources.map { |source| File.binread(source) }.join)
      end
    end
  end
end
