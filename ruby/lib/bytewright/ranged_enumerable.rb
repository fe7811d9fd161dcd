# frozen_string_literal: true

module Bytewright
  # Enumerable whose methods take a range of keys, as +each+ of {Entries} does. One that is given a range
  # asks the enumerator of that range.
  #
  # The methods are those of Ruby's Enumerable. A method that a program or a library adds to Enumerable is left
  # as it is.
  module RangedEnumerable
    include Enumerable

    METHODS = %i[
      all? any? chain chunk chunk_while collect collect_concat compact count cycle detect drop drop_while each_cons
      each_entry each_slice each_with_index each_with_object filter_map find find_all find_index first flat_map grep grep_v
      group_by inject lazy map max max_by min min_by minmax minmax_by none? one? partition reduce reverse_each slice_after
      slice_before slice_when sort sort_by sum take take_while tally to_set uniq zip
    ].freeze
    private_constant :METHODS

    # A method that a block makes could be called by the main Ractor only.
    METHODS.each do |name|
      module_eval(<<~RUBY, __FILE__, __LINE__ + 1)
        def #{name}(*arguments, **range, &block)
          range.empty? ? super(*arguments, &block) : each(**range).#{name}(*arguments, &block)
        end
      RUBY
    end
  end

  private_constant :RangedEnumerable
end
