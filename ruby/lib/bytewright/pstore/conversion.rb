# frozen_string_literal: true

module Bytewright
  class PStore
    # Makes a store out of the roots of another one, in a file of another name that gets its own when it is whole and
    # on the disk. Where that fails, nothing is left of it.
    # @api private
    class Conversion
      # What names beside a store's may end in.
      BESIDE = [".idx", ".idx.new", ".new", ".log", ".journal"].freeze

      # @param source [PStore]
      # @param path [String] where the new store is to be
      def initialize(source, path)
        @source = source
        @path = path
        # The ending may tell the kind of the table.
        @part = File.join(File.dirname(path), ".#{Process.pid}.part.#{File.basename(path)}")
      end

      # @param format [:marshal, :roots]
      # @return [Integer] how many roots there are
      # @raise [Errno::EEXIST] if there is a file of the name
      def run(format)
        raise Errno::EEXIST, Bytewright.send(:harmless, @path) if File.exist?(@path)

        copy(format).tap { give_name }
      ensure
        ["", *BESIDE].each { |ending| remove(@part + ending) }
      end

      private

      def copy(format)
        target = @source.class.new(@part, format: format)
        target.ultra_safe = true
        @source.transaction(true) do
          target.transaction { @source.keys.each { |key| target[key] = @source[key] }.size }
        end
      ensure
        target&.close
      end

      # An index is not taken along: the first who opens the store makes one.
      def give_name
        # Refuses a name that was taken meanwhile, which renaming does not.
        File.link(@part, @path)
        File.open(File.dirname(@path), &:fsync)
      end

      def remove(path)
        File.unlink(path)
      rescue Errno::ENOENT
        nil
      end
    end
    private_constant :Conversion
  end
end
