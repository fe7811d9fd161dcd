# frozen_string_literal: true

require_relative "table"

module Bytewright
  # A set of Strings, kept as the keys of a table, in memory or in a file. It is used as a Set is.
  #
  #   seen = Bytewright::StringSet.new
  #   seen.add?("10.0.0.1")                 # => the set; nil the second time
  #   Bytewright::StringSet.open("seen.bwt") { |hosts| hosts.merge(seen) }
  #
  # Over a {HashTable} the elements are in the order in which they were added, over a {TreeTable} in the order of
  # their bytes. Methods that walk the elements of the latter take the keywords of {OrderedEntries}.
  #
  # Operators give a new set in memory. Their argument is anything with +each+.
  class StringSet
    include Undumpable
    include RangedEnumerable
    include Shown

    # Elements that {#inspect} shows.
    INSPECTED_ELEMENTS = 20
    private_constant :INSPECTED_ELEMENTS

    class << self
      # @param elements [Array<String>]
      # @return [StringSet] a set in memory
      def [](*elements)
        new(elements)
      end

      # Opens a set in a file, a table as {Table.open} opens it.
      #
      # @param path [String, #to_path]
      # @param options [Hash] those of {Table.open}
      # @yieldparam set [StringSet] closed when the block ends
      # @return [StringSet, Object] the set, or what the block returns
      # @raise (see Table.open)
      def open(path, **options)
        return new(table: Table.open(path, **options)) unless block_given?

        Table.open(path, **options) { |table| yield new(table: table) }
      end
    end

    # @return [Table] whose keys are the elements
    attr_reader :table

    # @param elements [#each, nil] Strings
    # @param table [Table] whose keys are the elements; new ones get empty values
    def initialize(elements = nil, table: HashTable.new)
      @table = table
      merge(elements) if elements
    end

    # @param element [String]
    # @return [self]
    def add(element)
      @table.create(element, "")
      self
    end
    alias << add

    # @param element [String]
    # @return [self, nil] nil where it was there already
    def add?(element)
      self if @table.create(element, "")
    end

    # @param element [String]
    # @return [self]
    def delete(element)
      @table.delete(element)
      self
    end

    # @param element [String]
    # @return [self, nil] nil where it was not there
    def delete?(element)
      self if @table.delete(element)
    end

    # @param element [Object]
    # @return [Boolean] whether it is an element, which only Strings are
    def include?(element)
      element = String.try_convert(element)
      !element.nil? && @table.key?(element)
    end
    alias member? include?
    alias === include?

    # @return [Integer] how many elements there are
    def size
      @table.size
    end
    alias length size

    # @return [Boolean] whether there is no element
    def empty?
      @table.empty?
    end

    # @param range (see Entries#each)
    # @return [Integer] how many elements there are, or are equal to the argument, or make the block true
    def count(*arguments, **range, &block)
      arguments.empty? && block.nil? ? @table.count(**range) : super
    end

    # @param range (see Entries#each)
    # @yieldparam element [String]
    # @return [self, Enumerator] self, or an enumerator with a size
    def each(**range, &block)
      return @table.each_key(**range) unless block

      @table.each_key(**range, &block)
      self
    end

    # @param range (see Entries#each)
    # @return [Array<String>] the elements
    def to_a(**range)
      @table.keys(**range)
    end

    # @return [self] without elements
    def clear
      @table.clear
      self
    end

    # Adds the elements of others, all or none.
    #
    # @param others [Array<#each>]
    # @return [self]
    def merge(*others)
      @table.transaction { others.each { |other| other.each { |element| @table.create(element, "") } } }
      self
    end

    # Takes elements out, all or none.
    #
    # @param others [Array<#each>]
    # @return [self]
    def subtract(*others)
      @table.transaction { others.each { |other| other.each { |element| @table.delete(element) } } }
      self
    end

    # @param range (see Entries#each)
    # @yieldparam element [String]
    # @return [self, Enumerator] without the elements for which the block is true
    def delete_if(**range)
      return to_enum(__method__, **range) unless block_given?

      @table.delete_if(**range) { |element, _| yield element }
      self
    end

    # @param other [#each]
    # @return [StringSet] the elements of both
    def |(other)
      new_set.merge(self, other)
    end
    alias union |
    alias + |

    # @param other [#each]
    # @return [StringSet] the elements that are in both
    def &(other)
      at_one_moment { |mine| new_set.merge(other.each.lazy.select { |element| mine.include?(element) }) }
    end
    alias intersection &

    # @param other [#each]
    # @return [StringSet] the elements that are not in the other
    def -(other)
      new_set.merge(self).subtract(other)
    end
    alias difference -

    # @param other [#each]
    # @return [StringSet] the elements that are in one of them only
    def ^(other)
      other = new_set.merge(other)
      at_one_moment { |mine| (mine - other).merge(other - mine) }
    end

    # @param other [StringSet, Set]
    # @return [Boolean] whether the other has all of these elements
    def subset?(other)
      both_at_one_moment(set(other)) do |mine, others|
        mine.size <= others.size && mine.all? { |element| others.include?(element) }
      end
    end
    alias <= subset?

    # @param other [StringSet, Set]
    # @return [Boolean] whether all elements of the other are in this
    def superset?(other)
      both_at_one_moment(set(other)) do |mine, others|
        others.size <= mine.size && others.all? { |element| mine.include?(element) }
      end
    end
    alias >= superset?

    # @param other [#each]
    # @return [Boolean] whether one element at least is in both
    def intersect?(other)
      at_one_moment { |mine| other.any? { |element| mine.include?(element) } }
    end

    # @param other [#each]
    # @return [Boolean] whether no element is in both
    def disjoint?(other)
      !intersect?(other)
    end

    # @param other [Object]
    # @return [Boolean] whether it is a StringSet or a Set with the same elements
    def ==(other)
      return true if equal?(other)

      set?(other) && both_at_one_moment(other) { |mine, others| mine.size == others.size && mine.superset?(others) }
    end

    # @param other [Object]
    # @return [Boolean] whether it is a StringSet with the same elements
    def eql?(other)
      other.is_a?(StringSet) && @table.eql?(other.table)
    end

    # @return [Integer] the same for all that are {#eql?}
    def hash
      @table.hash
    end

    # @yieldparam set [StringSet] itself
    # @return [Object] what the block returns
    # @see Table#transaction
    def transaction
      @table.transaction { yield self }
    end

    # @return [String, nil] the file, or nil where it is in memory
    def path
      @table.path
    end

    # @return [nil]
    # @see Table#close
    def close
      @table.close
    end

    # @return [Boolean]
    def closed?
      @table.closed?
    end

    # @return [self] which takes no more changes
    def freeze
      @table.freeze
      super
    end

    # Supports the json library.
    #
    # @param arguments [Array<Object>] the library's
    # @return [String] the elements as a JSON array
    def to_json(*arguments)
      to_a.to_json(*arguments)
    end

    # Supports ActiveSupport.
    #
    # @param options [Hash, nil] the library's
    # @return [Array<String>] the elements
    def as_json(options = nil)
      elements = to_a
      elements.respond_to?(:as_json) ? elements.as_json(options) : elements
    end

    # Supports the yaml library: the elements become a sequence.
    #
    # @param coder [Psych::Coder]
    # @return [void]
    def encode_with(coder)
      coder.tag, coder.implicit, coder.seq = nil, true, to_a
    end

    # @return [String] the elements, of many the beginning
    def inspect
      super
    end
    alias to_s inspect

    private

    def initialize_copy(other)
      @table = other.table.dup
    end

    # A set in memory of this kind.
    def new_set
      new_over(@table.slice)
    end

    # Shows the block these elements as they are at one moment: another process may write the file.
    def at_one_moment
      @table.send(:at_one_moment) { |entries| yield entries.equal?(@table) ? self : new_over(entries) }
    end

    # Shows the block these and others, which may be a Set, as they are at one moment.
    def both_at_one_moment(other)
      at_one_moment do |mine|
        other.is_a?(StringSet) ? other.send(:at_one_moment) { |others| yield mine, others } : yield(mine, other)
      end
    end

    def new_over(table)
      self.class.allocate.tap { |made| made.send(:initialize, table: table) }
    end

    def set?(object)
      object.is_a?(StringSet) || (defined?(::Set) && object.is_a?(::Set))
    end

    def set(object)
      return object if set?(object)

      raise ArgumentError, "expected a StringSet or a Set, found #{object.class}"
    end

    def content
      text = first(INSPECTED_ELEMENTS).map { |element| shortened(element).inspect }.join(", ")
      hidden = size - INSPECTED_ELEMENTS
      listed = hidden.positive? ? "#{text}, ... #{hidden} more" : text
      path ? "{#{listed}}" : "#<#{self.class} {#{listed}}>"
    end

    def in_use?
      @table.send(:in_use?)
    end

    def shown_path
      path
    end

    # Supports Marshal.
    def marshal_dump
      @table.path ? refuse_dump : @table
    end

    def marshal_load(table)
      @table = table
    end

    def instead_of_dump
      "its elements (to_a)"
    end
  end
end
