# frozen_string_literal: true

module Bytewright
  class PStore
    # The roots of a store in one transaction, used like the Hash that they are. Each is loaded when it is
    # first touched, and saving writes those that were. Whatever cannot be had so is done on the whole
    # Hash, which is loaded then.
    #
    # Roots are told apart by their numbers in the file, which is not changed while there is a transaction.
    # @api private
    class Table
      include HashLike

      # Roots that are loaded one by one, and the share of all, until all are loaded at once, which takes
      # less for each. Where all are no more than so many bytes, it is so from the first on.
      LOADED_ALONE = 8
      BYTES_LOADED_AT_ONCE = 512
      SHARE_LOADED_ALONE = 8

      # @param file [PStoreFile] that has begun a transaction
      # @param marshal [#load]
      # @param root_count [Integer] how many roots the file has
      def initialize(file, marshal, root_count)
        @file = file
        @marshal = marshal
        # Values that were touched, by the number of their root. The file itself is in the place of what was deleted:
        # no program has that object.
        @values = {}
        @added = {}
        @root_count = root_count
        @loaded_count = 0
        @loads_alone = false
        @whole = nil
      end

      def [](key)
        return @whole[key] if @whole

        value = @file.get(key, @values)
        @file.equal?(value) ? look_up(key) : value
      end

      def key?(key)
        return @whole.key?(key) if @whole

        case find(key)
        when Integer then true
        when false then @added.key?(key)
        else whole.key?(key)
        end
      end

      def []=(key, value)
        case root = @whole ? nil : find(key)
        when Integer
          # Objects that it shared with others are theirs now, as they were when they shared it.
          touch(root) if !@values.key?(root) && @file.shares?(root)
          if @whole
            whole[key] = value
          else
            @values[root] = value
          end
        when false then @added[key] = value
        else whole[key] = value
        end
      end

      def delete(key)
        case root = @whole ? nil : find(key)
        when Integer
          value = @values.fetch(root) { touch(root) }
          return @whole.delete(key) if @whole

          @values[root] = @file
          value
        when false then @added.delete(key)
        else whole.delete(key)
        end
      end

      def keys
        return @whole.keys if @whole
        return whole.keys unless (all = root_keys)

        gone = @values.select { |_, value| @file.equal?(value) }
        kept = gone.empty? ? all : all.reject.with_index { |_, root| gone.key?(root) }
        kept + @added.keys
      end

      # Writes what was changed, or may have been.
      #
      # @param is_durable [Boolean] whether it must outlast a loss of power
      # @return [void]
      def save(is_durable)
        return if !@whole && save_touched(is_durable)

        @file.replace(Marshal.dump(whole), is_durable)
      end

      # All roots, as the Hash that they are.
      #
      # @return [Hash]
      def whole
        @whole ||= (knows_all? ? known_table : loaded_table).update(@added)
      end

      # Returns true if loading all roots at once would have taken less.
      def used_mostly?
        return true if @loaded_count > LOADED_ALONE && @whole

        @values.size > LOADED_ALONE && @values.size * 2 > @root_count
      end

      private

      # The value of a key that is not at hand.
      def look_up(key)
        case root = find(key)
        when Integer then @values.fetch(root) { touch(root) }
        when false then @added.fetch(key) { @file.default? ? whole[key] : nil }
        else whole[key]
        end
      end

      # The number of a root that is there still; false where there is none, nil where that takes the whole
      # table to tell.
      def find(key)
        root = @file.find(key)
        root = @file.find_dumped(Marshal.dump(key)) if root.nil? && simple?(key)
        root && @file.equal?(@values[root]) ? false : root
      end

      # Returns true if dumping a key tells all that makes it equal to others.
      def simple?(key)
        case key
        when String then key.instance_of?(String) && key.instance_variables.empty?
        when Symbol, Integer, Float, nil, true, false then true
        else false
        end
      end

      # The value of a root of the file; those that it shares objects with are touched, too.
      def touch(root)
        value = @file.scalar(root)
        return @values[root] = value unless @file.equal?(value)

        group = @file.group(root) || [root]
        return whole[key(root)] if loads_whole?(group.size) && load_whole

        # Another thread may have been here while this one loaded.
        group.zip(load(group)) { |member, each| @values[member] = each unless @values.key?(member) }
        @values[root]
      end

      # Returns true if loading all roots takes less than loading so many more.
      def loads_whole?(count)
        return false if @loads_alone

        @loaded_count + count > LOADED_ALONE + 1 + @root_count / SHARE_LOADED_ALONE ||
          @root_count <= LOADED_ALONE && @file.bytesize <= BYTES_LOADED_AT_ONCE
      end

      # Loads all roots for the sake of speed; nil where that fails, and does not try again.
      def load_whole
        table = Session.all_at_once { whole }
        @loaded_count = @root_count if table
        @loads_alone = table.nil?
        table
      end

      def load(group)
        @loaded_count += group.size
        return [@marshal.load(@file.lift(group.first))] if group.one?

        @marshal.load(@file.lift_all(group))
      end

      # The keys of all roots of the file; nil if there are some that are not simple.
      def root_keys
        @keys ||= @file.keys || begin
          keys = @marshal.load(@file.lift_keys(0, @root_count))
          keys.to_h { |key| [key, nil] }.keys if keys.all? { |key| simple?(key) }
        end
      end

      def knows_all?
        !@values.empty? && @values.size == @root_count && !@file.default? && root_keys
      end

      # The table of a file of which all was touched.
      def known_table
        table = {}
        root_keys.each_with_index { |key, root| table[key] = @values[root] unless @file.equal?(@values[root]) }
        table
      end

      # The table of the file with what was touched.
      def loaded_table
        table = @marshal.load(@file.bytes)
        keys = table.keys unless @values.empty?
        @values.each { |root, value| @file.equal?(value) ? table.delete(keys[root]) : table[keys[root]] = value }
        table
      end

      # Returns true if what was touched could be written between the roots that stay, if there was anything to
      # write.
      def save_touched(is_durable)
        changed = @file.changed(@values, @added)
        return true if changed.empty? && @added.empty?
        # Scanning what was dumped, and what it is put between, takes longer then.
        return false if changed.size > LOADED_ALONE && changed.size * 2 > @root_count && load_whole

        root = changed.first
        return true if changed.one? && @added.empty? && @file.change_scalar(root, @values[root], is_durable)

        splice(changed, is_durable)
      end

      def splice(changed, is_durable)
        deleted, replaced = changed.partition { |root| @file.equal?(@values[root]) }
        changes = replaced.to_h { |root| [key(root), @values[root]] }
        @file.change(Marshal.dump(changes.update(@added)), replaced, deleted, is_durable)
      end

      def key(root)
        key = @file.key(root)
        @file.equal?(key) ? @marshal.load(@file.lift_keys(root, 1)).first : key
      end

      IS_LOADED = true
    end
    private_constant :Table
  end
end
