# frozen_string_literal: true

module Bytewright
  # Whether the system makes who reads or writes an IO wait, or says that there is nothing yet.
  module Blocking
    # fcntl's number for asking what a descriptor does; the same wherever Ruby is.
    GET_FLAGS = 3

    def self.blocks?(io)
      (io.fcntl(GET_FLAGS) & File::NONBLOCK).zero?
    end
  end
  private_constant :Blocking
end
