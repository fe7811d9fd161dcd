# frozen_string_literal: true

module Bytewright
  # Form of a table's values, as the keyword +values+ says it: a name that a file remembers, and for most names an
  # object that makes Strings of other objects.
  module Values
    # Objects as JSON: Hashes, Arrays, Strings, numbers, true and false.
    module Json
      module_function

      def dump(object)
        JSON.generate(object)
      end

      def load(string)
        JSON.parse(string)
      end
    end

    module_function

    # @param values [Symbol, Hash, #dump]
    # @return [Array(String, Object)] the name, and what has dump and load, or nil
    def named(values)
      case values
      when nil, :string then ["string", nil]
      when :integer then ["integer", nil]
      when :marshal then ["marshal", Marshal]
      when :json
        # Other Ractors than the main one cannot require.
        require "json" unless defined?(::JSON::Ext)
        ["json", Json]
      when Hash then values.size == 1 ? values.first.then { |name, object| [name.to_s, dumper(object)] } : refuse(values)
      else [name_of(dumper(values)), values]
      end
    end

    def dumper(object)
      object.respond_to?(:dump) && object.respond_to?(:load) ? object : refuse(object)
    end

    def name_of(object)
      name = object.respond_to?(:name) ? object.name : object.class.name
      name.to_s
    end

    def refuse(object)
      found = Bytewright.send(:shown, object)
      raise ArgumentError, "expected values to be :string, :integer, :json, :marshal or an object with dump and load, found #{found}"
    end
  end

  private_constant :Values
end
