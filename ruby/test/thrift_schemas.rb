# frozen_string_literal: true

# Classes of random schemas, as the compiler generates them, and random objects of them.
module ThriftSchemas
  SCALARS = %i[bool byte i16 i32 i64 double string binary].freeze

  private

  # Classes of a random schema, each of which may hold those before it. The last is no union, which would have
  # one field only.
  def invent(random)
    count = 1 + random.rand(3)
    (1..count).each_with_object([]) do |number, classes|
      kind = number < count ? %i[struct struct union exception].sample(random: random) : :struct
      ids = (1..(1 + random.rand(8))).map { |place| random.rand(4).zero? ? place * 37 : place }.uniq
      fields = ids.to_h { |id| [:"f#{id}", field(random, id, classes, kind)] }
      classes << ThriftCase.generated(kind, **fields) { |klass| check_as_the_compiler(klass) if kind == :union }
    end
  end

  def field(random, id, classes, kind)
    type = type(random, classes, 2)
    options = kind != :union && SCALARS.include?(type) && random.rand(5).zero? ? { default: value_of(ThriftCase.field(type), random, 0) } : {}
    ["field#{id}", type, options]
  end

  def check_as_the_compiler(klass)
    klass.define_method(:validate) { raise(StandardError, "Union fields are not set.") if get_set_field.nil? || get_value.nil? }
  end

  def type(random, classes, depth)
    case random.rand(depth.zero? ? 8 : 14)
    when 8, 9 then [:list, type(random, classes, depth - 1)]
    when 10 then [:set, key(random, classes)]
    when 11, 12 then [:map, key(random, classes), type(random, classes, depth - 1)]
    when 13 then classes.empty? ? :i32 : classes.sample(random: random)
    else SCALARS.sample(random: random)
    end
  end

  def key(random, classes)
    random.rand(6).zero? ? type(random, classes, 1) : SCALARS.sample(random: random)
  end

  def value(klass, random, depth)
    fields = klass::FIELDS.values
    if klass < ::Thrift::Union
      field = fields.sample(random: random)
      return klass.new(field[:name].to_sym, value_of(field, random, depth - 1))
    end
    set = fields.reject { random.rand(6).zero? }
    klass.new(set.to_h { |each| [each[:name], value_of(each, random, depth - 1)] })
  end

  def value_of(field, random, depth)
    count = depth.negative? ? 0 : random.rand(5)
    case field[:type]
    when 2 then random.rand(2).zero?
    when 3 then random.rand(-128..127)
    when 6 then random.rand(-32_768..32_767)
    when 8 then random.rand(2).zero? ? random.rand(100) : random.rand(-(1 << 31)...(1 << 31))
    when 10 then random.rand(2).zero? ? random.rand(100) : random.rand(-(1 << 63)...(1 << 63))
    when 4 then random.bytes(8).unpack1("G").then { |number| number.nan? ? 0.5 : number }
    when 11 then field[:binary] ? random.bytes(random.rand(9)) : ("wört" * random.rand(4))
    when 12 then value(field[:class], random, depth)
    when 15 then Array.new(count) { value_of(field[:element], random, depth - 1) }
    when 14 then Set.new(Array.new(count) { value_of(field[:element], random, depth - 1) })
    when 13 then Array.new(count) { [value_of(field[:key], random, depth - 1), value_of(field[:value], random, depth - 1)] }.to_h
    end
  end
end
