# frozen_string_literal: true

# Writes the classes of the gem as JSON: for each its methods with their signatures, of the RBS file, and with what their
# comments say, as YARD reads them, in Markdown. Links are [name](ruby:Class#method).

require "json"
require "yard"
require_relative "../../../ruby/ri/signatures"

ROOT = File.expand_path("../../..", __dir__)

# Comments as Markdown.
class Comments
  def initialize(files)
    YARD::Logger.instance.level = YARD::Logger::ERROR
    # YARD of Debian 12 knows nothing of `**nil`.
    files.each { |file| YARD.parse_string(File.read(file, encoding: Encoding::UTF_8).gsub(", **nil", "")) }
  end

  def of(place, member)
    object = member ? found(place.name, member) : YARD::Registry.at(place.name)
    return (member || place).comment.to_s unless object

    text = [prose(object.docstring, place), *tags(object, place)].reject(&:empty?).join("\n\n")
    text.empty? ? (member || place).comment.to_s : text
  end

  private

  def found(place, member)
    return YARD::Registry.at("#{place}::#{member.name}") if member.kind == :constant

    name = member.is_of_class && member.name == "new" ? :initialize : member.name.to_sym
    owner = YARD::Registry.at(place)
    return unless owner.is_a?(YARD::CodeObjects::NamespaceObject)

    scope = member.is_of_class && name != :initialize ? :class : :instance
    [name, member.aliased&.to_sym].compact.each do |each|
      method = owner.meths.find { |one| one.name == each && one.scope == scope }
      return method if method && documented?(method)
    end
    nil
  end

  def documented?(method)
    !method.docstring.all.empty?
  end

  def tags(object, place)
    lists = [
      object.tags(:param).map { |tag| item(tag, place) },
      object.tags(:option).map { |tag| item(tag.pair, place) },
      object.tags(:yieldparam).map { |tag| item(tag, place, "Yields ") },
      object.tags(:yield).map { |tag| "- Yields #{inline(tag.text, place)}" },
      object.tags(:yieldreturn).map { |tag| item(tag, place, "The block returns ") },
      object.tags(:return).map { |tag| item(tag, place, "Returns ") },
      object.tags(:raise).map { |tag| item(tag, place, "Raises ") },
      object.tags(:see).map { |tag| "- See #{inline(tag.name, place)} #{inline(tag.text, place)}" }
    ]
    [lists.flatten.join("\n")]
  end

  def item(tag, place, lead = "")
    name = "`#{tag.name}`" if tag.name && !tag.name.empty?
    types = tag.types&.map { |type| "`#{type}`" }&.join(", ")
    types = "(#{types})" if name && types
    text = inline(tag.text, place).gsub("\n", " ")
    "- #{lead}#{[name, types].compact.join(" ")}#{": " unless text.empty?}#{text}"
  end

  # Paragraphs, and examples, which are indented.
  def prose(text, place)
    text.split(/\n{2,}/).chunk_while { |one, other| example?(one) && example?(other) }.map do |parts|
      next inline(parts.first, place) unless example?(parts.first)

      "```ruby\n#{parts.join("\n\n").gsub(/^  /, "").gsub(/\A\n+/, "")}\n```"
    end.join("\n\n")
  end

  def example?(paragraph)
    paragraph.lines.all? { |line| line.start_with?("  ") || line.strip.empty? }
  end

  def inline(text, place)
    text.to_s.gsub(/(?<![\w+])\+([^\s+](?:[^+\n]*[^\s+])?)\+(?![\w+])/, '`\1`').gsub(/\{((?:[A-Z]\w*(?:::[A-Z]\w*)*)?(?:[#.])?[\w?!=\[\]]*)\}/) do
      named = $1
      target = YARD::Registry.resolve(YARD::Registry.at(place.name), named, true, true)
      target ? "[`#{named}`](ruby:#{target.path})" : "`#{named}`"
    end
  end
end

signatures = Signatures.of_library
comments = Comments.new(Dir[File.join(ROOT, "ruby/lib/**/*.rb")].sort)
written = signatures.places.map do |place|
  members = place.members.map { |member| member.to_h.except(:aliased).merge(text: comments.of(place, member)) }
  { name: place.name, head: place.head, text: comments.of(place, nil), members: members }
end
puts JSON.generate(written)
