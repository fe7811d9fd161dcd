# frozen_string_literal: true

require_relative "test_case"

# Common part of the tests of ADB: Tokyo Cabinet beside it, if that is installed.
class AdbCase < TestCase
  TOKYO_CABINET =
    begin
      require "tokyocabinet"
      TokyoCabinet::ADB
    rescue LoadError
      nil
    end

  def setup
    @folder = Dir.mktmpdir
    @opened = []
  end

  def teardown
    @opened.each(&:close)
    FileUtils.rm_rf(@folder)
  end

  def path(name)
    File.join(@folder, name)
  end

  # An open database; +name+ is "*", "+" or a path.
  def open_adb(name, klass = Bytewright::ADB)
    adb = klass.new
    assert(adb.open(name), "#{name}: #{adb.error if adb.respond_to?(:error)}")
    @opened << adb
    adb
  end

  # Tells that a comparison was left out; a test that compares nothing is not to look like one that did.
  def tokyo_cabinet(what)
    TOKYO_CABINET or warn "gap: #{what}: Tokyo Cabinet is not installed (apt-get install ruby-tokyocabinet)"
  end
end
