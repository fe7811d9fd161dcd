# frozen_string_literal: true

# Writes native.rb, from which ri knows the methods that no `def` of ruby/lib makes, those of the extension above all: with the
# signatures of the RBS file, and with what its comments, the `@!method` comments of ruby/lib or docs/names.md say of them.
#
#   ruby -Iruby/lib ruby/ri/generate.rb

require "bytewright"
require "stringio"
require_relative "signatures"

# The stubs of all classes, as Ruby that defines nothing.
class Stubs
  ROOT = File.expand_path("../..", __dir__)
  PATH = File.join(__dir__, "native.rb")
  # Of the library that is loaded, which may be an installed gem.
  LIBRARY = File.join(File.dirname($LOADED_FEATURES.grep(%r{/lib/bytewright\.rb\z}).first), "")
  FIELDS = { "Packet" => "Fields of a packet", "Flow" => "Fields of a flow", "Call" => "Fields of a call" }.freeze
  HEAD = "# frozen_string_literal: true\n\n" \
         "# Made by ruby/ri/generate.rb of ruby/sig/bytewright.rbs. It is for ri, and never loaded.\n\n"

  # Names of classes => their methods of which ri knows from nowhere else.
  def self.missing(signatures = Signatures.of_library)
    missing = public_places(signatures).to_h do |place|
      [place, place.members.select { |member| member.kind == :method && !in_ruby?(place, member) }]
    end
    missing.reject { |_, members| members.empty? }
  end

  # Classes and modules of the library.
  def self.public_places(signatures)
    signatures.places.select { |place| place.name.start_with?("Bytewright") && !place.head.start_with?("interface") }
  end

  # Returns true if rdoc finds the method in ruby/lib: by its name, in the class itself or in a public module of it.
  def self.in_ruby?(place, member)
    owner = Object.const_get(place.name)
    method = member.is_of_class ? owner.method(member.name) : owner.instance_method(member.name)
    file, line = method.source_location
    return false unless file&.start_with?(LIBRARY)

    source = File.readlines(file, encoding: Encoding::UTF_8)[line - 1]
    name = Regexp.escape(method.original_name.to_s.delete_suffix("="))
    source.match?(/\bdef (?:self\.)?#{name}|\battr_\w+ .*:#{name}\b/)
  end
  private_class_method :in_ruby?

  def to_s
    HEAD + self.class.missing.map { |place, members| stub_of(place, members) }.join("\n")
  end

  private

  def stub_of(place, members)
    names = place.name.split("::")
    opened = names.each_index.map { |at| "#{"  " * at}#{keyword(names[0..at])} #{names[at]}\n" }
    closed = names.each_index.map { |at| "#{"  " * at}end\n" }.reverse
    bodies = members.map { |member| comment_of(place, member).map { |line| "#{"  " * names.size}#{line}\n" }.join }
    opened.join + bodies.join("\n") + closed.join
  end

  def keyword(names)
    Object.const_get(names.join("::")).is_a?(Class) ? "class" : "module"
  end

  # Lines of a comment that rdoc takes for a method.
  def comment_of(place, member)
    directive = member.is_of_class ? "singleton-method" : "method"
    calls = calls(place, member).map { |call| "  #{call}" }
    ["##", *[":#{directive}: #{member.name}", ":call-seq:", *calls, "", *text_of(place, member)].map { |line| "# #{line}".rstrip }]
  end

  # Returns its calls, a line for each of its signatures.
  def calls(place, member)
    signature = member.signature
    signature = place.members.find { |each| each.name == member.aliased }.signature if member.aliased
    types = signature.sub(/\A(?:def|attr_reader) \S+?:\s/, "").split(/\n\s*\|/).map { |type| type.strip.gsub(/\s+/, " ") }
    types.map { |type| type.start_with?("(", "[", "{", "?") ? "#{member.name}#{type.sub(/\A\[[^\]]*\] /, "")}" : "#{member.name}() -> #{type}" }
  end

  def text_of(place, member)
    text = [directives(place)[member.name], member.comment, meanings(place)[member.name]].find { |each| each && !each.empty? }
    (text || "").lines(chomp: true)
  end

  # Names => texts of the `@!method` comments of the files that have the class.
  def directives(place)
    opening = /^ +(?:class|module) #{place.name.split("::").last}\b/
    sources.grep(opening).flat_map { |source| source.scan(/^ +# @!method (?:self\.)?([^\s(]+).*\n((?: +#   .*\n)+)/) }
           .to_h { |name, body| [name, body.gsub(/^ +#   /, "").chomp] }
  end

  def sources
    @sources ||= Dir[File.join(LIBRARY, "bytewright/**/*.rb")].sort.map { |path| File.read(path, encoding: Encoding::UTF_8) }
  end

  # Names => meanings of the fields that are methods of the class.
  def meanings(place)
    title = FIELDS[place.name.delete_prefix("Bytewright::")] or return {}
    section = File.read(File.join(ROOT, "docs/names.md"), encoding: Encoding::UTF_8)[/^## #{title}\n(.*?)(?=^## |\z)/m, 1]
    section.scan(/^\| `\w+::\w+` \| `(\w+)` \|.*\| ([^|]+) \|$/).to_h.transform_keys { |name| name == "method" ? "method_name" : name }
  end
end

File.write(Stubs::PATH, Stubs.new.to_s) if $PROGRAM_NAME == __FILE__
