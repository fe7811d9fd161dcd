# frozen_string_literal: true

require_relative "test_case"

# Goal: what is public is documented with its types, and what is documented exists.
# Method: the methods that Ruby knows are compared with the names in sig/bytewright.rbs.
class SignaturesTest < TestCase
  RBS = File.read(File.join(ROOT, "ruby/sig/bytewright.rbs"), encoding: Encoding::UTF_8)

  # Class name => names of its methods, with "self." before those of the class itself.
  def documented
    RBS.scan(/^  (?:class|module) (\w+).*?\n(.*?)^  end/m).to_h do |name, body|
      names = body.scan(/^    (?:def|attr_reader|alias) ((?:self\.)?[^\s:(]+)/).flatten - ["initialize"]
      [name, names.sort]
    end
  end

  def defined_methods(klass)
    own = klass.public_instance_methods(false).map(&:to_s)
    singleton = klass.singleton_methods(false).map { |name| "self.#{name}" }
    (own + singleton).sort
  end

  def test_public_methods_and_signatures_are_the_same
    classes = Bytewright.constants.map { |name| Bytewright.const_get(name) }.grep(Module)
    enumerable = Enumerable.instance_methods.map(&:to_s)
    classes.each do |klass|
      name = klass.name.split("::").last
      expected = defined_methods(klass) - (klass < Enumerable ? enumerable : [])
      assert_equal(expected, (documented[name] || []) - (klass < Enumerable ? enumerable : []), klass)
    end
  end

  def test_public_constants_are_in_the_signatures
    [Bytewright, Bytewright::Capture, Bytewright::Columns, Bytewright::Flow].each do |place|
      place.constants(false).each do |name|
        next if place == Bytewright && place.const_get(name).is_a?(Module)

        assert_match(/^ +#{name}:/, RBS, "#{place}::#{name}")
      end
    end
  end
end
