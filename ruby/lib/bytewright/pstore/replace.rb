# frozen_string_literal: true

# Makes Bytewright::PStore the PStore of the program, whether the original was loaded before or would be
# later: <tt>require "pstore"</tt> loads nothing then.
#
# A class built on the original before stays with it: require this before "yaml/store".

require_relative "../pstore"

# The folder has a pstore.rb, which is found before the original from now on.
$LOAD_PATH.unshift(File.join(__dir__, "replace")) unless $LOAD_PATH.include?(File.join(__dir__, "replace"))
Object.send(:remove_const, :PStore) if Object.const_defined?(:PStore, false)
PStore = Bytewright::PStore
require "pstore"
