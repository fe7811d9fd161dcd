# frozen_string_literal: true

module Bytewright
  class ADB
    # What {ADB#misc} can do, by name. A function gives an Array, or nil where it fails.
    module Functions
      # What +error+ says, in Tokyo Cabinet's words.
      MESSAGES = {
        NilClass => "0: success", ClosedError => "2: invalid operation", Errno::ENOENT => "3: file not found",
        Errno::EACCES => "4: no permission", FormatError => "5: invalid meta data",
        CorruptError => "5: invalid meta data", TruncatedError => "5: invalid meta data", LockError => "16: lock error"
      }.freeze
      WITH_VALUE = %w[put putkeep putcat].freeze
      SIMPLE = %w[sync vanish].freeze
      OF_FILES = %w[error cacheclear defrag].freeze
      private_constant :MESSAGES, :WITH_VALUE, :SIMPLE, :OF_FILES

      private

      def call_function(name, args)
        case name
        when *WITH_VALUE then args.size > 1 && send(name, *args.first(2)) ? [] : nil
        when *SIMPLE then send(name) ? [] : nil
        when *OF_FILES then function_of_file(name)
        when "optimize" then optimize(args.first) ? [] : nil
        when "get" then args.empty? ? nil : [get(args.first)].compact.then { |found| found unless found.empty? }
        when "out" then !args.empty? && out(args.first) ? [] : nil
        when "putlist", "outlist", "getlist", "getpart", "iterinit", "iternext", "regex" then send(:"call_#{name}", args)
        when "range" then ordered? ? call_range(args) : nil
        end
      end

      def function_of_file(name)
        return if in_memory?

        name == "error" ? [MESSAGES.fetch(error.class, "9999: miscellaneous error")] : []
      end

      def call_putlist(args)
        @table.update(args.each_slice(2).select { |pair| pair.size == 2 }.to_h)
        @capacity&.keep
        []
      end

      def call_outlist(args)
        @table.transaction { args.each { |key| @table.delete(key) } }
        []
      end

      def call_getlist(args)
        args.zip(@table.values_at(*args)).select(&:last).flatten
      end

      # A part of a value: its key, the offset, and the length, which is negative for all of the rest.
      def call_getpart(args)
        key, offset, length = args
        value = key && @table[key]
        return unless value

        offset = [offset.to_i, 0].max
        length = length ? length.to_i : -1
        return unless offset < value.bytesize

        [length.negative? ? value.byteslice(offset..) : value.byteslice(offset, length)]
      end

      def call_iterinit(args)
        start(args.first) ? [] : nil
      end

      def call_iternext(_args)
        key = iternext
        key && [key, @table[key]].compact
      end

      # Entries whose keys a pattern fits; a star before it ignores case. And how many, 0 for all.
      def call_regex(args)
        pattern, max = args
        return unless pattern

        options = pattern.start_with?("*") ? Regexp::IGNORECASE : 0
        regexp = Regexp.new(pattern.b.delete_prefix("*"), options | Regexp::NOENCODING)
        listed(@table.each.lazy.select { |key, _| regexp.match?(key) }, max)
      rescue RegexpError
        nil
      end

      # Entries from a key, as many as the second says (0 for all), to before the third.
      def call_range(args)
        from, max, to = args
        to &&= to.b
        entries = from ? @table.each(from: from) : @table.each
        listed(entries.lazy.take_while { |key, _| to.nil? || (key <=> to).negative? }, max)
      end

      def listed(entries, max)
        max = max.to_i
        (max < 1 ? entries : entries.first(max)).to_a.flatten
      end
    end

    private_constant :Functions
  end
end
