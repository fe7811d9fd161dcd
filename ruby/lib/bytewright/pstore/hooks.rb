# frozen_string_literal: true

module Bytewright
  class PStore
    # The bodies of the steps that pstore.rb declares, and the session that goes through them.
    #
    # Improvements on the original with +ultra_safe+: whoever waited for a file that another one took the place
    # of meanwhile takes the new one, so that no update is lost; the mode and a symbolic link stay; and what was
    # written is on the disk before it takes the place.
    # @api private
    module Hooks
      # Writes what the file has gathered, and leaves it to others.
      def self.unlock(file)
        return if file.closed?

        file.flush
        file.flock(File::LOCK_UN)
      end

      # A method that has another name is redefined without a warning.
      STEPS.each_key { |name| alias_method name, name }

      private

      # Targets of a path that are no regular files: a device would lose what is written, a FIFO would wait.
      REFUSED = { "characterSpecial" => "a device", "blockSpecial" => "a device", "fifo" => "a FIFO", "socket" => "a socket" }.freeze
      private_constant :REFUSED

      # The file, with a lock on it; nil where there is none and it is only to be read.
      def open_and_lock_file(filename, read_only)
        found = REFUSED[File.stat(filename).ftype] if File.exist?(filename)
        raise FormatError, "expected a regular file, found #{found} (#{filename})" if found

        loop do
          file = Bytewright.send(:with_harmless_names) { File.new(filename, **(read_only ? RD_ACCESS : RDWR_ACCESS)) }
          begin
            # Before it has the lock: an interrupt may come where this returns.
            @bytewright.note(file) if HookedSession === @bytewright
            file.flock(read_only ? File::LOCK_SH : File::LOCK_EX)
            is_current = File.identical?(file, filename)
            return file if is_current
          ensure
            file.close unless is_current
          end
        end
      rescue Errno::ENOENT
        raise unless read_only
      end

      # The table; where it may be changed, the checksum and the size of what it was read from, too.
      def load_data(file, read_only)
        return load_to_read(file) if read_only

        data = file.read
        return [{}, empty_marshal_checksum, empty_marshal_data.bytesize] if data.empty?

        table = load(data)
        checksum = CHECKSUM_ALGO.digest(data)
        size = data.bytesize
        data.clear
        [expect_table(table), checksum, size]
      end

      def load_to_read(file)
        expect_table(load(file))
      rescue EOFError
        {}
      end

      def expect_table(table)
        return table if table.is_a?(Hash)

        raise Error, "PStore file seems to be corrupted."
      end

      # Writes the table if it is another than the one with this checksum and size.
      def save_data(original_checksum, original_file_size, file)
        data = dump(@table)
        return if data.bytesize == original_file_size && CHECKSUM_ALGO.digest(data) == original_checksum

        if @ultra_safe
          save_data_with_atomic_file_rename_strategy(data, file)
        else
          save_data_with_fast_strategy(data, file)
        end
      end

      def save_data_with_atomic_file_rename_strategy(data, file)
        path = File.realpath(@filename)
        # A name that nobody can guess, and nothing that has it is followed.
        temporary = "#{path}.tmp.#{Random.urandom(8).unpack1("H*")}"
        new_file = File.new(temporary, **WR_ACCESS, mode: WR_ACCESS[:mode] | IO::EXCL, perm: 0)
        begin
          new_file.flock(File::LOCK_EX)
          new_file.write(data)
          new_file.chmod(file.stat.mode & 0o7777)
          new_file.fdatasync
          File.rename(temporary, path)
        rescue Exception # rubocop:disable Lint/RescueException -- the file goes, whatever comes
          File.unlink(temporary) if File.exist?(temporary)
          raise
        ensure
          begin
            Hooks.unlock(new_file)
          ensure
            new_file.close
          end
        end
      end

      def save_data_with_fast_strategy(data, file)
        file.rewind
        file.write(data)
        file.truncate(data.bytesize)
      end

      def dump(table)
        Marshal.dump(table)
      end

      # +content+ is a String where the table may be changed, and a File where it is only read.
      def load(content)
        # A class that has a \transaction of its own may come here first.
        @bytewright = Session.of(self, @filename, @bytewright) unless Session === @bytewright
        @bytewright.marshal.load(content)
      end

      def empty_marshal_data
        EMPTY_MARSHAL_DATA
      end

      def empty_marshal_checksum
        EMPTY_MARSHAL_CHECKSUM
      end
    end

    # Goes through the steps that the store's class overrides.
    # @api private
    class HookedSession < Session
      # The file that is about to be locked, to be closed whatever comes.
      def note(file)
        @file = file
      end

      def open(store, filename, read_only)
        @file = nil
        @file = store.send(:open_and_lock_file, filename, read_only)
        return {} unless @file

        table, @checksum, @size = store.send(:load_data, @file, read_only)
        table
      end

      def save(store, _table, _ultra_safe)
        store.send(:save_data, @checksum, @size, @file) if @file
      end

      # The lock is given back first: where an interrupt comes while Ruby closes a file, the descriptor can stay open in an
      # IO that is closed.
      def close
        Hooks.unlock(@file) if @file
      ensure
        @file.close unless @file.nil? || @file.closed?
      end
    end
    private_constant :HookedSession
    Hooks::IS_LOADED = true
  end
end
