# frozen_string_literal: true

# Writes the classes of the gem as JSON: for each its methods with their signatures, of the RBS file, and with what their
# comments say, as YARD reads them, in Markdown. Links are [name](ruby:Class#method).

require "json"
require "yard"

ROOT = File.expand_path("../../..", __dir__)
SIGNATURES = "ruby/sig/bytewright.rbs"
TOP = "Bytewright"

# One class, module or interface of the RBS file.
Place = Struct.new(:name, :head, :comment, :members)
# A method, a constant or a type. `aliased` is the name of the method that it is another name of.
Member = Struct.new(:kind, :name, :is_of_class, :signature, :comment, :aliased)

# Reads the RBS file. A declaration goes on over the lines that are indented further than its first.
class Signatures
  attr_reader :places

  def initialize(text)
    @places = []
    @open = []
    @comment = []
    text.lines(chomp: true).each { |line| read(line) }
    fold
  end

  private

  # Puts the methods of classes that are not to be named where they are used: into the classes that are derived from them.
  def fold
    hidden, @places = @places.partition { |place| place.comment.include?("not to be named") }
    @places.each do |place|
      base = hidden.find { |each| place.head.end_with?(" < #{each.name.split("::").last}") } or next

      place.head = place.head.partition(" < ").first
      place.members.concat(base.members)
    end
  end

  def read(line)
    case line
    when /^\s*# ?(.*)/ then @comment << $1
    when /^\s*(class|module|interface) ([\w:]+)/ then enter($2, line.strip)
    when /^\s*end$/ then leave
    when /^(\s*)(def|attr_reader|alias|type|include|[A-Z]\w*:)/ then add(line.strip)
    when /^\s*$/ then @comment = []
    else @member&.signature&.concat("\n", line.delete_prefix("  " * @open.size))
    end
  end

  def enter(name, head)
    @open << Place.new([*@open.map(&:name).last, name].join("::"), head, taken_comment, [])
    @places << @open.last
    @member = nil
  end

  def leave
    @open.pop
    @member = nil
  end

  def add(line)
    @member = Member.new(*named(line), +line, taken_comment)
    @member.aliased = $1 if line =~ /^alias \S+ (\S+)/
    @open.last.members << @member
  end

  # Kind and name, and whether it is a method of the class itself.
  def named(line)
    case line
    when /^(?:def|attr_reader) (self\.)?(\S+?):(?: |$)/ then $2 == "initialize" ? [:method, "new", true] : [:method, $2, !$1.nil?]
    when /^alias (self\.)?(\S+)/ then [:method, $2, !$1.nil?]
    when /^type (\w+)/ then [:type, $1, false]
    when /^include (\S+)/ then [:include, $1, false]
    when /^([A-Z]\w*):/ then [:constant, $1, false]
    end
  end

  def taken_comment
    taken, @comment = @comment.join("\n"), []
    taken
  end
end

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

signatures = Signatures.new(File.read(File.join(ROOT, SIGNATURES), encoding: Encoding::UTF_8))
comments = Comments.new(Dir[File.join(ROOT, "ruby/lib/**/*.rb")].sort)
written = signatures.places.map do |place|
  members = place.members.map { |member| member.to_h.except(:aliased).merge(text: comments.of(place, member)) }
  { name: place.name, head: place.head, text: comments.of(place, nil), members: members }
end
puts JSON.generate(written)
