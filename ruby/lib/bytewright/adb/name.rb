# frozen_string_literal: true

module Bytewright
  class ADB
    # What {ADB#open} is told: +"*"+, +"+"+ or a path, and behind it tuning, each parameter as +#key=value+.
    class Name
      IN_MEMORY = { "*" => HashTable, "+" => TreeTable }.freeze
      IN_FILES = { ".bwh" => HashTable, ".bwt" => TreeTable }.freeze
      # The files of Tokyo Cabinet that can be converted, and into what.
      CONVERTIBLE = { ".tch" => ".bwh", ".hdb" => ".bwh", ".tcb" => ".bwt", ".bdb" => ".bwt" }.freeze
      SYNC_MODES = %w[commit interval never].freeze

      # @return [String] the name without its tuning
      attr_reader :path
      # @return [Class, nil] of its table
      attr_reader :table

      # @param name [String]
      def initialize(name)
        @path, *tuning = name.split("#", -1)
        @path ||= ""
        @path = @path.dup.freeze
        @tuning = tuning.to_h { |parameter| parameter.split("=", 2).values_at(0, 1) }.transform_keys { |key| key.to_s.downcase }
        @table = IN_MEMORY[@path] || IN_FILES[suffix]
      end

      def in_memory?
        IN_MEMORY.key?(path)
      end

      # @return [Exception, nil] why nothing of this name can be opened
      def refusal
        return if table && !path.include?("\0") && SYNC_MODES.include?(sync)
        return ArgumentError.new("expected sync to be commit, interval or never, found #{sync}") if table && !path.include?("\0")

        ours = CONVERTIBLE[suffix]
        return ArgumentError.new("expected *, +, a .bwh or a .bwt file, found #{path.inspect}") unless ours

        converted = path.delete_suffix(path[-suffix.length..]) + ours
        FormatError.new("expected a .bwh or .bwt file, found the name of one of Tokyo Cabinet, #{path}; " \
                        "convert it with: bytewright table convert #{path} #{converted}", file: path)
      end

      # Whether a letter is in the parameter "mode": w to write, r to read, c to create, t to truncate,
      # e for no lock, f not to wait for another process.
      def mode?(letter)
        @tuning.fetch("mode", "wc").to_s.downcase.include?(letter)
      end

      # @return [String] when changes are made to survive a power cut: a parameter of our own
      def sync
        @tuning.fetch("sync", "interval").to_s
      end

      # @return [Integer] entries that are kept in memory, or 0 for all
      def capnum
        @tuning["capnum"].to_i
      end

      # @return [Integer] bytes of entries that are kept in memory, or 0 for all
      def capsiz
        @tuning["capsiz"].to_i
      end

      private

      def suffix
        File.extname("name#{File.basename(path)}").downcase
      end
    end

    private_constant :Name
  end
end
