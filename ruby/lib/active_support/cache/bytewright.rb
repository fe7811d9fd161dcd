# frozen_string_literal: true

require "active_support/cache/bytewright_store"

module ActiveSupport
  module Cache
    # The class that <tt>config.cache_store = :bytewright</tt> names; +:bytewright_store+ names it, too.
    Bytewright = BytewrightStore
  end
end
