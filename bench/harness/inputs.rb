# frozen_string_literal: true

require "digest"
require "fileutils"
require "json"

require_relative "paths"
require_relative "recipes"
require_relative "shell"

module Bench
  # The generated inputs of a suite. They are made when first asked for and kept, as long as the stamp
  # beside them says that the same generator made them from the same recipe.
  class Inputs
    # The part of the set-up that compresses, by the ending of an input's key.
    PARTS = { "gz" => :gzip, "zst" => :zstd }.freeze
    COMPRESSORS = { "gz" => %w[gzip -6 -n -c], "zst" => %w[zstd -3 -q -T1 -c] }.freeze

    # Returns the part that the set-up must bring before `path(key)` can be asked, or nil.
    def self.part(key)
      PARTS[key.to_s[/_(gz|zst)\z/, 1]]
    end

    # recipes:: key -> recipe
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
      recipe = @recipes.fetch(name.to_sym)
      path = File.join(@folder, "#{name}.#{recipe.ending}")
      stamp = JSON.generate(recipe.to_h.merge(generator: digest(recipe.sources)))
      keep(path, stamp) { |part| Shell.run(*recipe.generator_command(part)) }
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

    def digest(sources)
      @digests ||= Hash.new do |digests, paths|
        digests[paths] = Digest::SHA256.hexdigest(paths.map { |path| File.binread(path) }.join)
      end
      @digests[sources]
    end
  end
end
