# frozen_string_literal: true

require_relative "pstore_case"

# Goal: a program gets our PStore by one line, wherever it stands, and what it builds on PStore works.
# Method: programs of a few lines, each in a Ruby of its own.
class PStoreReplaceTest < StoreCase
  CHECK = <<~RUBY
    raise "not ours" unless PStore.equal?(Bytewright::PStore)
    store = PStore.new(ARGV[0])
    store.transaction { store[:a] = 1 }
    begin
      store[:a]
    rescue PStore::Error => error
      puts error.message
    end
    puts store.transaction(true) { store[:a] }
  RUBY
  SAID = "not in transaction\n1\n"

  def run_program(script)
    with_store_path { |path| ruby(script, path) }
  end

  def test_each_file_can_be_loaded_alone
    assert_equal("ok\n", ruby('require "bytewright/pstore"; Bytewright::PStore.new("x"); puts "ok"'))
    assert_equal("ok\n", ruby('require "bytewright/pstore/replace"; PStore.new("x"); puts "ok"'))
  end

  def test_it_is_loaded_when_it_is_first_named
    said = ruby('require "bytewright"; was = $".grep(/pstore\.rb/); p was, Bytewright::PStore.name, $".grep(/pstore\.rb/).size')
    assert_equal("[]\n\"Bytewright::PStore\"\n1\n", said)
  end

  # Promise (pstore-journal): One line is enough for a whole program.
  def test_the_original_may_be_wanted_before
    stock
    assert_equal(SAID, run_program("require \"pstore\"; require \"bytewright/pstore/replace\"\n#{CHECK}"))
  end

  # Promise (pstore-journal): also One line is enough
  def test_the_original_may_be_wanted_later
    assert_equal(SAID, run_program("require \"bytewright/pstore/replace\"; require \"pstore\"; require \"pstore.rb\"\n#{CHECK}"))
  end

  def test_it_may_be_wanted_twice
    assert_equal(SAID, run_program("2.times { require \"bytewright/pstore/replace\" }; require \"bytewright/pstore\"\n#{CHECK}"))
  end

  def test_errors_of_either_are_rescued_by_either_name_if_the_original_was_there_first
    stock
    assert_equal("true\n", ruby('require "pstore"; require "bytewright/pstore"; puts PStore::Error.equal?(Bytewright::PStore::Error)'))
    said = ruby('require "bytewright/pstore"; require "pstore"; p Bytewright::PStore::Error.superclass, PStore.equal?(Bytewright::PStore)')
    assert_equal("StandardError\nfalse\n", said)
  end

  YAML_STORE = <<~RUBY
    require "yaml/store"
    raise "not ours" unless YAML::Store.superclass.name == ENV.fetch("SUPER")
    store = YAML::Store.new(ARGV[0], true, indentation: 4)
    store.transaction { store["a"] = { "b" => [1, nil, "\\u00e9"] }; store[:c] = "d" }
    store.transaction { store["a"]["b"] << 2.5; store.delete(:c); store["e"] = [{ "x" => "y" }] }
    store.transaction(true) { p store["a"], store.roots, store.root?("x") }
    store.ultra_safe = true
    store.transaction { store["f"] = 1 }
    store.transaction { }
    p((store.transaction { store["g"] = 2; store.abort }), File.read(ARGV[0]))
  RUBY

  # Promise (pstore-journal): also One line is enough
  def test_yaml_store_works_as_before
    stock
    ours = run_program("ENV[\"SUPER\"] = \"Bytewright::PStore\"; require \"bytewright/pstore/replace\"\n#{YAML_STORE}")
    assert_equal(run_program("ENV[\"SUPER\"] = \"PStore\"\n#{YAML_STORE}"), ours)
    assert_includes(ours, "- 2.5")
  end

  def test_a_store_of_another_ractor_works
    skip("this Ruby has no Ractors") unless defined?(Ractor)
    script = <<~'RUBY'
      $VERBOSE = nil
      require "bytewright/pstore"
      ractor = Ractor.new(ARGV[0]) do |path|
        store = Bytewright::PStore.new(path)
        store.transaction { store[:a] = [1, 2.5]; store["b"] = "x" }
        store.transaction { store["b"] += "y"; store[:a] << 3 }
        store.transaction(true) { store.roots.map { |key| store[key] } }
      end
      p ractor.respond_to?(:value) ? ractor.value : ractor.take
    RUBY
    assert_equal("[[1, 2.5, 3], \"xy\"]\n", run_program(script))
  end
end
