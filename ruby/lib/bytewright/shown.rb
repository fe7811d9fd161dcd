# frozen_string_literal: true

module Bytewright
  # An object that can be closed, changed by others, or damaged, and can be inspected all the same: what would be an
  # error stands in the text.
  module Shown
    # Bytes of a String that are shown.
    SHOWN_LENGTH = 200
    private_constant :SHOWN_LENGTH

    # @return [String]
    def inspect
      return described("closed") if closed?
      return described("in use by another thread") if in_use?

      shown_path ? "#<#{self.class} #{shown_path.inspect} #{content}>" : content
    rescue ClosedError
      described("closed")
    rescue Error, SystemCallError, IOError, ThreadError => error
      described("#{error.class}: #{error.message}")
    end

    private

    def described(state)
      "#<#{[self.class, shown_path&.inspect, "(#{state})"].compact.join(" ")}>"
    end

    # Returns true if reading it would wait for another thread.
    def in_use?
      false
    end

    # The beginning of a long String.
    def shortened(string)
      return string if !string.is_a?(String) || string.bytesize <= SHOWN_LENGTH

      beginning = string.byteslice(0, SHOWN_LENGTH)
      beginning = beginning.encoding.ascii_compatible? ? beginning.scrub("") : beginning.b
      "#{beginning}..."
    end

    # The file, where there is one.
    def shown_path
      nil
    end
  end

  private_constant :Shown
end
