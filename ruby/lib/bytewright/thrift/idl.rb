# frozen_string_literal: true

require "thrift"
require_relative "constant_names"
require_relative "service"

module Bytewright
  module Thrift
    # Makes the classes of IDL files, of the shape that the compiler gives them: the same names, constants and
    # methods, so that programs and the gem use them alike.
    class Definitions
      # The number of the type binary in a description.
      BINARY = Layouts::BINARY

      # @param path [String] a file in IDL
      # @param into [Module] where namespaces begin
      # @param folders [Array<String>] where included files are looked for, beside the file's own folder
      def initialize(path, into, folders)
        @into = into
        @folders = folders
        path = File.expand_path(path)
        @programs, @enums, @structs, @services = ThriftCodec.read_idl(path, File.binread(path), method(:find).to_proc)
        @names = {}.compare_by_identity
        @places = @programs.map { |file, _, namespace, line| place_of(namespace, file, line) }
        @places.uniq.each { |place| @names[place] = ConstantNames.new(written_in(place), @names[place] || []) }
      end

      # @return [Module] that the definitions of the file are in
      def make
        @enum_modules = @enums.map { |program, name, values, line| enum(program, name, values, line) }
        @classes = declare
        @structs.zip(@classes) { |struct, klass| fields(klass, struct) if klass }
        @structs.zip(@classes) { |struct, klass| finish(klass, struct) if klass }
        services
        constants
        @places.last
      end

      private

      def find(name, from)
        folders = [File.dirname(from), *@folders]
        path = folders.map { |folder| File.expand_path(name, folder) }.find { |each| File.file?(each) }
        raise Errno::ENOENT, "#{Bytewright.send(:excerpt, name)}, which #{Bytewright.send(:excerpt, from)} includes" unless path

        [path, File.binread(path)]
      end

      # The module of a namespace, `a.b_c` as A::B_c. What definitions beside it may not be called is remembered.
      def place_of(namespace, path, line)
        namespace.to_s.split(".").reduce(@into) do |place, part|
          name = ConstantNames.capital(part)
          (@names[place] ||= []) << name
          found = place.const_defined?(name, false) ? place.const_get(name, false) : place.const_set(name, Module.new)
          next found if found.is_a?(Module)

          names = [path, name, namespace].map { |text| Bytewright.send(:excerpt, text) }
          raise ArgumentError, format("%s: line #{line}: expected a module %s for the namespace %s, found %s", *names, Bytewright.send(:shown, found))
        end
      end

      # Returns the names that all files give to what goes into a module.
      def written_in(place)
        numbers = @places.each_index.select { |number| @places[number].equal?(place) }
        definitions = @enums + @services + @structs.select { |struct| struct[3] }
        definitions.select { |program, _| numbers.include?(program) }.map { |_, name| name } +
          numbers.flat_map { |number| @programs[number][5].map(&:first) }
      end

      # Names what a file defines, which must be new there.
      def name(program, name, made, line)
        define(@places[program], name, made, program, line)
      end

      def define(place, name, made, program, line)
        name = @names[place].give(name)
        return place.const_set(name, made) unless place.const_defined?(name, false)

        path, name, place = [@programs[program][0], name, place].map { |text| Bytewright.send(:excerpt, text.to_s) }
        raise ArgumentError, "#{path}: line #{line}: expected no #{name} in #{place} yet, found one"
      end

      def enum(program, name, values, line)
        own = ConstantNames.new(values.map(&:first), %w[VALUE_MAP VALID_VALUES])
        numbers = values.to_h { |value, number| [own.give(value), number] }
        name(program, name, Module.new do
          numbers.each { |value, number| const_set(value, number) }
          const_set(:VALUE_MAP, numbers.to_h { |value, number| [number, value] }.freeze)
          const_set(:VALID_VALUES, Set.new(numbers.values).freeze)
        end, line)
      end

      # The classes of structs, with nothing in them yet: they name each other. Those of functions get their
      # names with the service.
      def declare
        @structs.map do |program, name, kind, is_declared, _, line|
          superclass = { union: ::Thrift::Union, exception: ::Thrift::Exception }.fetch(kind, Object)
          klass = Class.new(superclass)
          is_declared ? name(program, name, klass, line) : klass
        end
      end

      def fields(klass, struct)
        _, _, kind, _, described = struct
        klass.include(::Thrift::Struct) unless kind == :union
        klass.include(::Thrift::Struct_Union)
        described.each do |id, name, _, _, _|
          constant = name.upcase
          next if constant == "FIELDS" # it has all of them

          klass.const_set(constant, id) if constant.match?(/\A[A-Z]\w*\z/) && !klass.const_defined?(constant, false)
        end
        klass.const_set(:FIELDS, described.to_h { |field| [field[0], field(field, kind)] })
        fields = klass::FIELDS
        klass.define_method(:struct_fields) { fields }
      end

      def field(described, kind)
        _, name, type, requiredness, = described
        field = type(type).merge(name: name)
        field[:optional] = true if requiredness == :optional || kind == :union
        field
      end

      # Defaults may be structs, so they are set when all structs have their fields.
      def finish(klass, struct)
        _, _, kind, _, described = struct
        described.each { |id, _, type, _, default| klass::FIELDS[id][:default] = value(type, default) unless default.nil? }
        validate(klass, kind, described)
        kind == :union ? union(klass, described) : ::Thrift::Struct.generate_accessors(klass)
        message_first(klass, described) if kind == :exception
      end

      # As text, so that one without anything to check is seen to be empty.
      def validate(klass, kind, described)
        lines = kind == :union ? [UNION_CHECK] : checks(described)
        klass.class_eval("def validate\n#{lines.join("\n")}\nend", __FILE__, __LINE__)
      end

      # With the exception of the newest compilers, which is a StandardError as that of the others is.
      UNION_CHECK = "raise ::Thrift::ProtocolException.new(::Thrift::ProtocolException::INVALID_DATA, 'Union fields are not set.') " \
                    "if get_set_field.nil? || get_value.nil?"

      def checks(described)
        required = described.select { |field| field[3] == :required }.map do |_, name, type|
          test = type[0] == 2 ? "if @#{name}.nil?" : "unless @#{name}"
          refusal("Required field #{name} is unset!", test)
        end
        required + described.select { |field| enum?(field[2]) }.map do |id, name, _|
          known = "self.class::FIELDS[#{id}][:enum_class]::VALID_VALUES.include?(@#{name})"
          refusal("Invalid value of field #{name}!", "unless @#{name}.nil? || #{known}")
        end
      end

      def refusal(message, test)
        "raise ::Thrift::ProtocolException.new(::Thrift::ProtocolException::UNKNOWN, '#{message}') #{test}"
      end

      def enum?(type)
        type[0] == 8 && type.size > 1
      end

      def union(klass, described)
        described.each { |_, name, _| klass.define_singleton_method(name) { |value| new(name.to_sym, value) } }
        ::Thrift::Union.generate_accessors(klass)
      end

      # An exception with one field, a string, is made of it, as Ruby's are, and has it as its message.
      def message_first(klass, described)
        return unless described.size == 1 && [Layouts::STRING, BINARY].include?(described[0][2][0])

        name = described[0][1]
        klass.class_eval do
          define_method(:initialize) do |message = nil|
            super()
            public_send(:"#{name}=", message)
          end
          define_method(:message) { public_send(name) } unless name == "message"
        end
      end

      # A type as generated classes say it.
      def type(described)
        number, inside, more = described
        case number
        when BINARY then { type: Layouts::STRING, binary: true }
        when Layouts::STRUCT then { type: number, class: @classes[inside] }
        when Layouts::LIST, Layouts::SET then { type: number, element: type(inside) }
        when Layouts::MAP then { type: number, key: type(inside), value: type(more) }
        else inside ? { type: number, enum_class: @enum_modules[inside] } : { type: number }
        end
      end

      # A constant or a default, of what native code says of it.
      def value(type, described)
        number, inside, more = type
        case number
        when Layouts::LIST then described.map { |element| value(inside, element) }
        when Layouts::SET then Set.new(described.map { |element| value(inside, element) })
        when Layouts::MAP then described.to_h { |key, element| [value(inside, key), value(more, element)] }
        when Layouts::STRUCT then struct_value(@classes[inside], @structs[inside][4], described)
        else described
        end
      end

      def struct_value(klass, fields, described)
        values = described.map { |number, element| [fields[number][1], value(fields[number][2], element)] }
        klass <= ::Thrift::Union ? klass.new(*values.first.then { |name, element| [name.to_sym, element] }) : klass.new(values.to_h)
      end

      def constants
        @programs.each_with_index do |(_, _, _, _, _, consts), program|
          consts.each { |name, type, described, line| name(program, name, value(type, described), line) }
        end
      end

      def services
        modules = []
        @services.each do |program, name, extends, functions, line|
          service = name(program, name, Module.new, line)
          modules << service
          structs = functions.flat_map { |function, _, _, *numbers| %w[args result].map { |part| "#{function}_#{part}" }.zip(numbers) }
          @names[service] = ConstantNames.new(structs.map(&:first))
          structs.each { |struct, number| define(service, struct, @classes[number], program, @structs[number][5]) }
          Service.new(service, extends && modules[extends], functions, @classes).make
        end
      end
    end
  end
end
