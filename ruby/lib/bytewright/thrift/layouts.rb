# frozen_string_literal: true

module Bytewright
  module Thrift
    # Describes generated classes to the codec: what their messages hold, and what of the gem's behaviour
    # they have changed.
    #
    # A codec goes over a class and all that it holds at once. So a class inside that reads, writes or
    # compares in a way of its own keeps the codec from doing that for the classes around it.
    module Layouts
      # As the gem numbers types; binary has a number of our own.
      STRING, STRUCT, MAP, SET, LIST, UUID, BINARY = 11, 12, 13, 14, 15, 16, 111
      SCALARS = [2, 3, 4, 6, 8, 10, STRING, UUID].freeze
      # The gem's own methods that reading and writing are made of.
      PARTS = %i[read_field handle_message field_info each_field sorted_field_ids].freeze
      WRITE_PARTS = %i[write_data write_container is_container? each_field sorted_field_ids name_to_id].freeze
      # Methods that Ruby code runs by, where keys of maps and elements of sets are put into a Hash.
      COMPLEX = [STRUCT, MAP, SET, LIST].freeze
      # Bound (Thrift): structs that one class of Thrift contains, in Ruby = 10,000, itself counted.
      STRUCTS_MAX = 10_000

      # Options of a codec for a class that is none of Thrift's, or has what is not known.
      NOTHING = %i[runs_ruby reads writes compares hashes root_reads root_writes].to_h { |name| [name, false] }.freeze

      # A class that no codec can be made for.
      class Unfit < StandardError
      end

      module_function

      # The codec of a class; nil where the gem has to do everything. It is kept until a method of a class
      # is changed.
      def codec_of(klass)
        generation = ThriftCodec.generation
        codec = begin
          build(klass, generation)
        rescue Unfit
          ThriftCodec.build([], NOTHING.merge(generation: generation, compat: GemCompat.to_h))
        end
        ThriftCodec.keep(klass, codec) unless klass.frozen?
        codec
      end

      # Builds a codec for those who do not call the class's own methods.
      #
      # @raise [ArgumentError] for a class that is none of Thrift's
      def codec_in_any_case(klass)
        build(klass, ThriftCodec.generation)
      rescue Unfit => error
        raise ArgumentError, error.message
      end

      def build(klass, generation)
        survey = Survey.new(klass)
        ThriftCodec.build(survey.structs, survey.options.merge(generation: generation))
      end

      # Content of a class, found by walking over its fields.
      class Survey
        attr_reader :structs

        def initialize(klass)
          raise Unfit, "expected a class of Thrift's, found #{shown(klass)}" unless Layouts.thrift?(klass)

          @numbers = {}
          @structs = []
          @runs_ruby = false
          number_of(klass)
          @structs.each { |struct| struct[5] = fields_of(struct[0]) }
          @shapes = @structs.map { |struct| Shape.new(struct[0]) }
          @structs.each_with_index { |struct, at| complete(struct, @shapes[at]) }
        end

        def options
          inner = inside
          { runs_ruby: @runs_ruby, compat: GemCompat.to_h,
            reads: inner.all?(&:reads?) && @shapes[0].reads_parts?, writes: inner.all?(&:writes?) && @shapes[0].writes_parts?,
            compares: inner.all?(&:compares?) && @shapes[0].plain_accessors?,
            hashes: inner.all?(&:hashes?) && @shapes[0].plain_accessors? && @shapes[0].plain_name?,
            root_reads: @shapes[0].reads?, root_writes: @shapes[0].writes? }
        end

        private

        def shown(object)
          Bytewright.send(:shown, object)
        end

        # The shapes of the classes that are inside of others: all, if the first is in one too.
        def inside
          @in_others ? @shapes : @shapes.drop(1)
        end

        def number_of(klass)
          @in_others = true if @numbers[klass] == 0
          @numbers[klass] ||= begin
            raise Unfit, "expected a class of Thrift's, found #{shown(klass)}" unless Layouts.thrift?(klass)
            raise Unfit, "expected at most #{STRUCTS_MAX} structs in #{Bytewright.send(:excerpt, @structs[0][1])}" if @structs.size >= STRUCTS_MAX

            kind = klass <= ::Thrift::Union ? 1 : (klass <= ::Exception ? 2 : 0)
            @structs << [klass, klass.name.to_s, kind, false, false, nil]
            @structs.size - 1
          end
        end

        def fields_of(klass)
          klass::FIELDS.map do |id, field|
            raise Unfit, "expected an id of 16 bits in #{shown(klass)}, found #{shown(id)}" unless id.is_a?(Integer) && id.bit_length < 16

            [id, field[:name].to_s, type_of(field, klass), field[:default]]
          end
        end

        def type_of(field, klass)
          raise Unfit, "expected a type in #{shown(klass)}, found #{shown(field)}" unless field.is_a?(Hash)

          case type = field[:type]
          when STRING then [field[:binary] ? BINARY : STRING]
          when *SCALARS then [type]
          when STRUCT then [STRUCT, number_of(field[:class])]
          when LIST then [LIST, type_of(field[:element], klass)]
          when SET then [SET, key_type(field[:element], klass)]
          when MAP then [MAP, key_type(field[:key], klass), type_of(field[:value], klass)]
          else raise Unfit, "expected one of Thrift's types in #{shown(klass)}, found #{shown(type)}"
          end
        end

        # Keys that are no numbers or Strings are asked for their hash, which runs Ruby code.
        def key_type(field, klass)
          type = type_of(field, klass)
          @runs_ruby = true if COMPLEX.include?(type[0])
          type
        end

        def complete(struct, shape)
          struct[3] = !shape.plain_initialize?
          struct[4] = !shape.empty_validate?
          @runs_ruby = true if struct[3] || struct[4]
          copied = struct[5].any? { |_, _, _, default| !default.nil? && !Shape::COPIED.include?(default.class) }
          @runs_ruby = true if copied
        end
      end

      # Ways of the gem that a class has.
      class Shape
        # Defaults that are copied without calling a method.
        COPIED = [String, Array, Hash, Integer, Float, TrueClass, FalseClass, Symbol].freeze

        def initialize(klass)
          @klass = klass
          Watch.over(klass)
        end

        def base
          @klass <= ::Thrift::Union ? ::Thrift::Union : ::Thrift::Struct
        end

        # Returns true if its objects are what the gem's initialize makes of them.
        def plain_initialize?
          owner(:initialize) == base && @klass.method(:new).owner == Class && @klass.method(:allocate).owner == Class
        end

        # Returns true if validate does nothing; if that cannot be told, it does something.
        def empty_validate?
          return false unless defined?(RubyVM::InstructionSequence)

          code = RubyVM::InstructionSequence.of(@klass.instance_method(:validate))&.to_a&.last
          code && code.grep(Array).map(&:first) == %i[putnil leave]
        rescue NameError
          false
        end

        def reads?
          owner(:read) == base && plain_fields? && reads_parts?
        end

        def reads_parts?
          @klass.method(:new).owner == Class && PARTS.all? { |name| of_the_gem?(name) }
        end

        def writes?
          owner(:write) == base && plain_fields? && writes_parts?
        end

        def writes_parts?
          WRITE_PARTS.all? { |name| of_the_gem?(name) }
        end

        def compares?
          owner(:==) == base && plain_accessors?
        end

        def hashes?
          owner(:hash) == base && plain_accessors? && plain_name?
        end

        # Returns true if the class of a union, whose name is a part of its hash, has Ruby's method for it: a field
        # that is called name gives it another.
        def plain_name?
          base != ::Thrift::Union || @klass.method(:name).owner == Module
        end

        # Returns true if the accessors are those that the gem made.
        def plain_accessors?
          return of_the_gem?(:get_set_field) && of_the_gem?(:get_value) if base == ::Thrift::Union

          @klass::FIELDS.each_value.all? do |field|
            place = @klass.instance_method(field[:name]).source_location
            place.nil? || Layouts.gem_file?(place[0])
          end
        rescue NameError
          false
        end

        private

        def plain_fields?
          !@klass.instance_method(:struct_fields).nil?
        rescue NameError
          false
        end

        def of_the_gem?(name)
          Layouts.of_the_gem?(owner(name))
        end

        def owner(name)
          @klass.instance_method(name).owner
        rescue NameError
          nil
        end
      end

      def thrift?(klass)
        defined?(::Thrift::Struct_Union) && klass.is_a?(Class) && klass.include?(::Thrift::Struct_Union) &&
          klass.const_defined?(:FIELDS) && klass::FIELDS.is_a?(Hash)
      end

      def of_the_gem?(owner)
        [nil, ::Thrift::Struct, ::Thrift::Union, ::Thrift::Struct_Union].include?(owner)
      end

      def gem_file?(path)
        path.start_with?(gem_folder)
      end

      # Returns the folder of the gem's files.
      def gem_folder
        @gem_folder ||= File.dirname(::Thrift::Struct.method(:generate_accessors).source_location[0])
      end
    end

    private_constant :Layouts
  end
end
