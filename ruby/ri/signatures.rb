# frozen_string_literal: true

# One class, module or interface of the RBS file.
Place = Struct.new(:name, :head, :comment, :members)
# A method, a constant or a type. `aliased` is the name of the method that it is another name of.
Member = Struct.new(:kind, :name, :is_of_class, :signature, :comment, :aliased)

# Reads the RBS file. A declaration goes on over the lines that are indented further than its first.
class Signatures
  PATH = File.expand_path("../sig/bytewright.rbs", __dir__)

  attr_reader :places

  def self.of_library
    new(File.read(PATH, encoding: Encoding::UTF_8))
  end

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
