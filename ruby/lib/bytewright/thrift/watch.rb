# frozen_string_literal: true

module Bytewright
  module Thrift
    # Notices when a class is changed that a codec was made for: its codec, and those that hold it, are then
    # made anew. A class is watched by its singleton class, whose callbacks Ruby calls.
    module Watch
      # Methods that a codec looks at, beside the accessors of fields.
      NAMES = %i[
        read write == hash initialize validate struct_fields read_field handle_message field_info each_field
        sorted_field_ids write_data write_container is_container? name_to_id get_set_field get_value
      ].freeze

      def self.over(klass)
        place = klass.singleton_class
        place.prepend(self) unless place.include?(self) || klass.frozen?
      end

      # A program that defines other methods all the time is not made slow.
      def self.changed(klass, name)
        ThriftCodec.expire if NAMES.include?(name) || klass::FIELDS.each_value.any? { |field| field[:name].to_s == name.name }
      end

      def method_added(name)
        Watch.changed(self, name)
        super
      end

      def method_removed(name)
        Watch.changed(self, name)
        super
      end

      def method_undefined(name)
        Watch.changed(self, name)
        super
      end

      def singleton_method_added(name)
        ThriftCodec.expire if %i[new allocate name].include?(name)
        super
      end

      def include(*modules)
        super.tap { ThriftCodec.expire }
      end

      def prepend(*modules)
        super.tap { ThriftCodec.expire }
      end
    end

    # Notices this for a class of the gem that is read and written natively: once it is changed, it is left to
    # the gem for good.
    module Guard
      class << self
        attr_reader :places

        # @param place [Module] of the gem
        # @yield called when a method of it is changed
        def over(place, &block)
          @places ||= {}
          (@places[place] ||= []) << block
          place.singleton_class.prepend(self) unless place.singleton_class.include?(self)
        end

        def changed(place)
          places.fetch(place, []).each(&:call)
        end
      end

      def method_added(name)
        Guard.changed(self)
        super
      end

      def method_removed(name)
        Guard.changed(self)
        super
      end

      def method_undefined(name)
        Guard.changed(self)
        super
      end

      def include(*modules)
        super.tap { Guard.changed(self) }
      end

      def prepend(*modules)
        super.tap { Guard.changed(self) }
      end
    end

    private_constant :Watch, :Guard
  end
end
