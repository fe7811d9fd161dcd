# frozen_string_literal: true

module Bytewright
  module Thrift
    # Makes the Client and the Processor of a service, of the shape that the compiler gives them.
    class Service
      # @param place [Module] of the service
      # @param base [Module, nil] of the service that it extends
      # @param functions [Array] as native code describes them
      # @param classes [Array<Class>] of structs, by their numbers
      def initialize(place, base, functions, classes)
        @place = place
        @base = base
        @functions = functions
        @classes = classes
      end

      def make
        client = Class.new(@base ? @base::Client : Object) { include ::Thrift::Client }
        processor = Class.new(@base ? @base::Processor : Object) { include ::Thrift::Processor }
        @place.const_set(:Client, client)
        @place.const_set(:Processor, processor)
        @functions.each do |name, is_oneway, returns, arguments, result|
          arguments, result = @classes[arguments], @classes[result]
          define_client(client, name, is_oneway, returns, arguments, result)
          define_processor(processor, name, is_oneway, returns, arguments, result)
        end
      end

      # Reads and checks what stands before an answer. The gem's receive_message did so before 0.19; since then it
      # is left to the client, by methods that differ from release to release.
      #
      # @raise [::Thrift::ApplicationException] for the answer to something else, and the one that the server sent
      def self.check_answer(client, name)
        return unless ::Thrift::Client.method_defined?(:receive_message_begin)

        answered, type, sequence_id = client.receive_message_begin
        if ::Thrift::Client.method_defined?(:validate_message_begin)
          return client.validate_message_begin(answered, type, sequence_id, name)
        end

        client.handle_exception(type)
        return if client.reply_seqid(sequence_id)

        other = ::Thrift::ApplicationException::BAD_SEQUENCE_ID
        raise ::Thrift::ApplicationException.new(other, "#{name} failed: out of sequence response")
      end

      private

      def names(klass)
        klass::FIELDS.values.map { |field| field[:name] }
      end

      # The exceptions of a function, each a class and the name of its field.
      def exceptions(result)
        result::FIELDS.values.reject { |field| field[:name] == "success" }.map { |field| [field[:class], field[:name]] }
      end

      def define_client(client, name, is_oneway, returns, arguments, result)
        names = names(arguments)
        message = is_oneway ? :send_oneway_message : :send_message
        client.define_method(:"send_#{name}") do |*values|
          unless values.size == names.size
            raise ArgumentError, "wrong number of arguments (given #{values.size}, expected #{names.size})"
          end

          send(message, name, arguments, names.map(&:to_sym).zip(values).to_h)
        end
        client.define_method(name) do |*values|
          send(:"send_#{name}", *values)
          is_oneway ? nil : send(:"recv_#{name}")
        end
        define_receiver(client, name, returns, result) unless is_oneway
      end

      def define_receiver(client, name, returns, result)
        fields = exceptions(result).map { |_, field| field }
        client.define_method(:"recv_#{name}") do
          Service.check_answer(self, name)
          answer = receive_message(result)
          return answer.success if returns && !answer.success.nil?

          fields.each { |field| answer.send(field)&.then { |exception| raise exception } }
          return unless returns

          missing = ::Thrift::ApplicationException::MISSING_RESULT
          raise ::Thrift::ApplicationException.new(missing, "#{name} failed: unknown result")
        end
      end

      def define_processor(processor, name, is_oneway, returns, arguments, result)
        names = names(arguments)
        exceptions = exceptions(result)
        processor.define_method(:"process_#{name}") do |seqid, iprot, oprot|
          given = read_args(iprot, arguments)
          answer = result.new
          begin
            returned = @handler.public_send(name, *names.map { |field| given.send(field) })
            answer.success = returned if returns
          rescue *exceptions.map(&:first) => exception
            raise if is_oneway

            answer.send(:"#{exceptions.find { |klass, _| exception.is_a?(klass) }.last}=", exception)
          end
          write_result(answer, oprot, name, seqid) unless is_oneway
        end
      end
    end

    private_constant :Service
  end
end
