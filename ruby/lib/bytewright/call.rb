# frozen_string_literal: true

require_relative "record"

module Bytewright
  # A call of a Thrift method, and its answer. Its source is the caller.
  #
  # Its getters are the fields of {Call::FIELDS}, but for the method, which is {#method_name}: every Ruby object has
  # a method +method+. docs/names.md says what each means. Marshal dumps and loads a call without structs of an IDL file.
  class Call
    include Record

    private_class_method :_load

    # @return [Boolean] whether it answered an exception, or failed
    def error?
      %w[exception failure].include?(outcome)
    end
  end
end
