# frozen_string_literal: true

require_relative "test_case"
require_relative "../ri/generate"

# Goal: `ri` knows every public method of the library, also those of the extension, with its signature or what is said of it.
# Method: rdoc makes ri's data of the files that RubyGems gives it when the gem is installed. What it knows is compared with the
# signatures, which signatures_test.rb compares with the methods that there are.
class RiTest < TestCase
  # The folder of the checkout, whichever gem the tests run against.
  FILES = %w[lib ri/native.rb].map { |path| File.join(ROOT, "ruby", path) }.freeze

  def test_the_stubs_are_current
    assert_equal(Stubs.new.to_s, File.read(Stubs::PATH, encoding: Encoding::UTF_8), "run: ruby -Iruby/lib ruby/ri/generate.rb")
  end

  def test_rubygems_gives_the_stubs_to_rdoc
    spec = Dir.chdir(ROOT) { Gem::Specification.load("ruby/bytewright.gemspec") }
    assert_includes(spec.extra_rdoc_files, "ruby/ri/native.rb")
    assert_includes(spec.files, "ruby/ri/native.rb")
    assert_equal(["--exclude", "\\Aruby\\z"], spec.rdoc_options) # or `gem install` ends with an error of the rdoc of Ruby 3.3
  end

  def test_ri_knows_every_method
    store = documented or return
    unknown = methods_of_library.reject { |place, name, is_of_class| known?(store, place, name, is_of_class) }
    assert_empty(unknown.map { |place, name, is_of_class| "#{place}#{is_of_class ? "." : "#"}#{name}" })
  end

  # Methods that rdoc puts into Object stand behind something in ruby/lib that it does not understand.
  def test_rdoc_understands_the_sources
    store = documented or return
    assert_empty(store.cache[:instance_methods].fetch("Object", []))
  end

  private

  def documented
    @@documented ||= document # rubocop:disable Style/ClassVars -- once
  end

  # Returns the store that rdoc makes in a process of its own, which reads sources as UTF-8 in any locale.
  def document
    Dir.mktmpdir do |folder|
      out = File.join(folder, "ri")
      command = [RbConfig.ruby, "-W0", "-Ku", "-rrdoc", "-e", "RDoc::RDoc.new.document(ARGV)", "--", "--ri", "--quiet", "--encoding=UTF-8", "--output", out]
      said = IO.popen([*command, *FILES, { err: %i[child out] }], &:read)
      next warn("gap: ri is not tested: rdoc is not installed") if said.match?(/cannot load such file -- rdoc\b/)

      assert_predicate($?, :success?, said)
      require "rdoc"
      RDoc::Store.new(out, :gem).tap(&:load_cache)
    end
  end

  def methods_of_library
    Stubs.public_places(Signatures.of_library).flat_map do |place|
      place.members.select { |member| member.kind == :method }.map { |member| [place.name, member.name, member.is_of_class] }
    end
  end

  # In the class, or in one that it is derived from, as ri looks.
  def known?(store, place, name, is_of_class)
    klass = Object.const_get(place)
    # A class can have another name than the constant that is used for it.
    names = [place, *(is_of_class ? klass.ancestors.grep(Class) : klass.ancestors).map(&:name)]
    known = store.cache[is_of_class ? :class_methods : :instance_methods]
    names.any? { |each| known.fetch(each, []).include?(name) || store.cache[:attributes].fetch(each, []).include?("attr_accessor #{name.chomp("=")}") }
  end
end
