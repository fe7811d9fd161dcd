# frozen_string_literal: true

require_relative "test_case"

# Goal: a program loads what it uses: the rest would only make it start later.
#
# Method: another Ruby, which says what it has loaded.
class LoadingTest < TestCase
  # The files that a program has loaded after `script`, of ours and of Ruby's library for checksums.
  def loaded_after(script)
    report = "puts $LOADED_FEATURES.grep(%r{/bytewright/|/digest})"
    features = IO.popen([RbConfig.ruby, *$LOAD_PATH.map { |path| "-I#{path}" }, "-e", "#{script}; #{report}"], &:readlines)
    assert($?.success?)
    features.map { |feature| feature.chomp[%r{(?:bytewright/(?!lib/|bytewright/)|digest).*\z}] }
  end

  def test_classes_that_few_programs_need_are_loaded_when_they_are_named
    assert_empty(loaded_after('require "bytewright"').compact.grep(/adb|pstore|moneta|digest/))
    assert_includes(loaded_after('require "bytewright"; Bytewright::ADB').compact.join(" "), "adb")
  end

  def test_a_capability_that_is_required_alone_is_loaded_alone
    assert_empty(loaded_after('require "bytewright/pstore"').compact.grep(/capture|packet|tree_table|roots|checked/))
    assert_empty(loaded_after('require "bytewright/capture"').compact.grep(/table|pstore/))
    assert_empty(loaded_after('require "bytewright/table"').compact.grep(/capture|packet|pstore/))
  end

  def test_whatever_was_required_first_each_class_is_found_and_whole
    whole = "Bytewright.constants.each { |name| Bytewright.const_get(name) }; " \
            "[:flows, :each_row, :count_by].all? { |name| Bytewright::Capture.method_defined?(name) } or abort; " \
            "[:[], :each, :ceiling].all? { |name| Bytewright::TreeSnapshot.method_defined?(name) } or abort"
    %w[bytewright bytewright/pstore bytewright/capture bytewright/table bytewright/adb].each do |file|
      loaded_after("require #{file.dump}; #{whole}")
    end
    threads = "Array.new(8) { |n| Thread.new { [Bytewright::Packet, Bytewright::Cursor].rotate(n) } }.each(&:join)"
    loaded_after("require 'bytewright/pstore'; #{threads}; #{whole}")
  end

  def test_without_the_gem_thrift_the_error_says_how_to_get_it_and_names_what_the_gem_lacks_otherwise
    Dir.mktmpdir do |folder|
      script = "$LOAD_PATH.replace(#{$LOAD_PATH.grep(%r{/bytewright|/ruby/lib}).push(folder)}); " \
               'begin; require "bytewright/thrift"; rescue LoadError => e; print e.message; end'
      message = -> { IO.popen([RbConfig.ruby, "-I#{folder}", "--disable-gems", "-e", script], &:read) }
      assert_match(/thrift: bytewright\/thrift .* run: gem install thrift\z/, message.call)
      File.write(File.join(folder, "thrift.rb"), 'require "not_there"')
      assert_match(/-- not_there\z/, message.call)
    end
  end

  def test_a_compiled_library_that_the_system_cannot_load_says_which_gem_to_install
    Dir.mktmpdir do |folder|
      FileUtils.cp(File.join(ROOT, "ruby/lib/bytewright/extension.rb"), folder)
      message = lambda do
        script = "begin; require #{folder.dump} + '/extension'; rescue LoadError => e; print e.message; end"
        IO.popen([RbConfig.ruby, "--disable-gems", "-e", script], &:read)
      end
      assert_match(/-- .*bytewright\.so\z/, message.call) # without any library there is no other gem to install
      library = File.join(folder, RUBY_VERSION[/\A\d+\.\d+/], "bytewright.so")
      FileUtils.mkdir_p(File.dirname(library))
      File.write(library, "no library of this system")
      assert_match(/#{Regexp.escape(library)}.* cannot load the compiled gem; install the source gem, as docs\/guides\/install.md shows\z/m,
                   message.call)
    end
  end

  def test_tables_load_no_library_to_write_them_as_json_or_yaml
    script = 'require "bytewright"; Bytewright::TreeTable["a", "1"].inspect; Bytewright::StringSet["a"].inspect'
    found = IO.popen([RbConfig.ruby, *$LOAD_PATH.map { |path| "-I#{path}" }, "--disable-gems", "-e",
                      "#{script}; puts $LOADED_FEATURES.grep(/json|psych|yaml/)"], &:read)
    assert_predicate($?, :success?)
    assert_empty(found)
  end

  def test_a_store_needs_no_checksums
    with_store = 'require "bytewright"; Bytewright::PStore.new("/nowhere/x") rescue 0'
    loaded = loaded_after(with_store).compact.join(" ")
    assert_includes(loaded, "pstore/session")
    refute_includes(loaded, "digest")
    derived = loaded_after("#{with_store}; Class.new(Bytewright::PStore) { class_eval('CHECKSUM_ALGO') }")
    assert_includes(derived.compact.join(" "), "digest")
  end

  def test_a_store_loads_what_gives_roots_with_the_first_that_has_some
    with_new_file("store") do |path|
      change = "require 'bytewright/pstore'; s = Bytewright::PStore.new(#{path.dump}); s.transaction { s['a'] = 1 }"
      assert_empty(loaded_after(change).compact.grep(%r{pstore/(table|hash_like|hooks|roots)}))
      assert_includes(loaded_after("#{change}; s.transaction(true) { s['a'] == 1 or abort }").compact.join(" "), "pstore/table")
      derived = "Class.new(Bytewright::PStore) { def dump(table) = super }.new(#{path.dump}).transaction { |s| s['b'] = 2 }"
      assert_includes(loaded_after("#{change}; #{derived}").compact.join(" "), "pstore/hooks")
      assert_equal({ "a" => 1, "b" => 2 }, Marshal.load(File.binread(path)))
    end
  end

  def test_each_file_that_is_named_in_documents_loads_what_it_needs
    %w[bytewright bytewright/pstore bytewright/pstore/replace bytewright/adb].each do |file|
      loaded_after("require #{file.dump}")
    end
  end
end
