# frozen_string_literal: true

# Prints the API of Ruby as JSON, page => Markdown: the signatures of the RBS file with the comments that YARD reads.

require "erb"
require "json"
require "yard"
require_relative "../../ruby/ri/signatures"

ROOT = File.expand_path("../..", __dir__)
TOP = "Bytewright"
LEADS = {
  "param" => "", "option" => "", "yieldparam" => "Yields ", "yield" => "Yields ", "yieldreturn" => "The block returns ",
  "return" => "Returns ", "raise" => "Raises ", "see" => "See "
}.freeze
# Meanings of the fields of a class, by name.
FIELDS = %w[Packet Flow Call].to_h do |name|
  section = File.read("#{ROOT}/docs/names.md", encoding: Encoding::UTF_8)[/^## Fields of a #{name.downcase}\n.*?^## /m]
  ["#{TOP}::#{name}", section.scan(/^\| `\w+::\w+` \| `(\w+)` \|.*\| ([^|]+) \|$/).to_h]
end

YARD::Logger.instance.level = YARD::Logger::ERROR
# YARD of Debian 12 does not know `**nil`.
Dir["#{ROOT}/ruby/lib/**/*.rb"].sort.reverse_each { |file| YARD.parse_string(File.read(file, encoding: Encoding::UTF_8).gsub(", **nil", "")) }

# Makes Markdown of +code+ and {references}; these become links where the object has a heading.
def inline(text, place)
  text = text.to_s.gsub(/(?<![\w+])\+([^\s+](?:[^+\n]*[^\s+])?)\+(?![\w+])/, '`\1`')
  text.gsub(/\{((?:[A-Z]\w*(?:::[A-Z]\w*)*)?(?:[#.])?[\w?!=\[\]]*)\}/) do
    named = $1
    target = YARD::Registry.resolve(YARD::Registry.at(place.name), named, true, true)
    path = target ? target.path.sub(/#initialize\z/, ".new") : named
    %(<autoref optional identifier="#{ERB::Util.h(path)}"><code>#{ERB::Util.h(named)}</code></autoref>)
  end
end

def item(tag, place)
  tag, name = tag.tag_name == "option" ? [tag.pair, "option"] : [tag, tag.tag_name]
  named = "`#{tag.name}`" unless tag.name.to_s.empty? || name == "see"
  types = tag.types&.map { |type| "`#{type}`" }&.join(", ")
  said = [(inline(tag.name, place) if name == "see"), named, (named && types ? "(#{types})" : types)].compact.join(" ")
  text = inline(tag.text, place).gsub("\n", " ")
  "- #{LEADS[name]}#{said}#{": " unless said.empty? || text.empty?}#{text}"
end

# Makes Markdown of a comment: paragraphs, examples, which are indented, and tags.
def markdown(object, place)
  parts = object.docstring.split(/\n{2,}/).chunk_while { |*both| both.all? { |part| part.lines.all?(/\A(  |\s*\Z)/) } }
  texts = parts.map { |one| one[0].start_with?("  ") ? "```ruby\n#{one.join("\n\n").gsub(/^  /, "")}\n```" : inline(one.join("\n\n"), place) }
  tags = LEADS.keys.flat_map { |name| object.tags(name) }.map { |tag| item(tag, place) }
  [*texts, tags.join("\n")].join("\n\n").strip
end

def object_of(place, member)
  return YARD::Registry.at([place.name, *member&.name].join("::")) if member.nil? || member.kind == :constant

  is_new = member.is_of_class && member.name == "new"
  methods = YARD::Registry.at(place.name).then { |owner| owner.respond_to?(:meths) ? owner.meths : [] }
  methods = methods.select { |each| each.scope == (member.is_of_class && !is_new ? :class : :instance) && !each.docstring.all.empty? }
  [is_new ? "initialize" : member.name, *member.aliased].filter_map { |name| methods.find { |each| each.name.to_s == name } }.first
end

def entry(level, heading, path, signature, place, member = nil)
  object = object_of(place, member)
  text = object ? markdown(object, place) : ""
  text = (member || place).comment.to_s if text.empty?
  text = FIELDS.dig(place.name, member.name.sub("method_name", "method")).to_s if text.empty? && member
  code = "```ruby\n#{signature}\n```\n\n" if signature
  "#{"#" * level} #{heading.gsub(/[\\`*_\[\]<>&!#|~]/) { "\\#{_1}" }} { id=\"#{path}\" }\n\n#{code}#{text}\n\n"
end

def written(place, level)
  included, members = place.members.partition { |member| member.kind == :include }
  head = [place.head, *included.map(&:signature)].join("\n  ") unless place.name == TOP
  members = members.sort_by.with_index { |member, at| [%i[constant type method].index(member.kind), at] }.map do |member|
    mark = { method: "#" }.fetch(member.kind, "::")
    heading = "#{place.name.split("::").last}.#{member.name}" if member.is_of_class
    heading ||= "#{"type " if member.kind == :type}#{member.name}"
    entry(level + 1, heading, "#{place.name}#{member.is_of_class ? "." : mark}#{member.name}", member.signature, place, member)
  end
  entry(level, place.name, place.name, head, place) + members.join
end

# The errors and types are on the first page.
first, others = Signatures.of_library.places.partition do |place|
  place.name == TOP || place.head.match?(/Error|\Ainterface/) || place.members.any? { |member| member.signature == "include Error" }
end
pages = others.to_h { |place| ["api/ruby/#{place.name.delete_prefix("#{TOP}::").gsub("::", "-")}.md", written(place, 1)] }
puts JSON.generate({ "api/ruby/Bytewright.md" => first.map { |place| written(place, place.name == TOP ? 1 : 2) }.join, **pages })
