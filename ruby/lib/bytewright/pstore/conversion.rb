# frozen_string_literal: true

module Bytewright
  class PStore
    # Makes a store out of the roots of another one, in a file of another name that gets its own when it is whole and
    # on the disk. Where that fails, nothing is left of it.
    # @api private
    class Conversion
      # @param source [PStore]
      # @param path [String] where the new store is to be
      def initialize(source, path)
        @source = source
        @path = path
        # A folder of our own, whose name nobody can guess: no link can be planted in it, and no file of the user's is there.
        @folder = File.join(File.dirname(path), ".bytewright-#{Random.urandom(8).unpack1("H*")}.tmp")
        # The ending may tell the kind of the table.
        @part = File.join(@folder, File.basename(path))
      end

      # @param format [:marshal, :roots]
      # @return [Integer] how many roots there are
      # @raise [Errno::EEXIST] if there is a file of the name
      def run(format)
        raise Errno::EEXIST, Bytewright.send(:excerpt, @path) if File.exist?(@path)

        Dir.mkdir(@folder, 0o700)
        begin
          copy(format).tap { give_name }
        ensure
          Dir.each_child(@folder) { |name| File.unlink(File.join(@folder, name)) }
          Dir.rmdir(@folder)
        end
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
    end
    private_constant :Conversion
  end
end
