# frozen_string_literal: true

require "digest"

module Bytewright
  class PStore
    # Digest by which a file is compared if it goes through {Hooks}.
    CHECKSUM_ALGO = %w[SHA512 SHA384 SHA256 SHA1 RMD160 MD5].each do |name|
      break Digest(name)
    rescue LoadError
      next
    end
    EMPTY_MARSHAL_CHECKSUM = CHECKSUM_ALGO.digest(EMPTY_MARSHAL_DATA).freeze
    private_constant :CHECKSUM_ALGO, :EMPTY_MARSHAL_CHECKSUM
  end
end
