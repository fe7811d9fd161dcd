# frozen_string_literal: true

require_relative "thrift_case"
require_relative "thrift_schemas"

# Goal: columns of nested messages are the objects that the gem's own methods make of the same bytes.
# Method: random objects of random schemas are written and read by the gem; the columns that we read of these bytes are
# compared with its objects as plain values. BYTEWRIGHT_SCHEMAS sets how many schemas.
class ThriftColumnsTest < ThriftCase
  include ThriftSchemas

  SCHEMAS = Integer(ENV.fetch("BYTEWRIGHT_SCHEMAS", "200"))

  def test_columns_are_the_objects_of_the_gem
    with_seeds(SCHEMAS) do |random|
      klass = invent(random).last
      objects = Array.new(1 + random.rand(5)) { value(klass, random, 3) }
      PROTOCOLS.each_key do |protocol|
        messages = objects.map { |object| gem_write(object, protocol) }
        read = messages.map { |message| gem_read(klass.new, message, protocol) }
        expected = klass::FIELDS.values.to_h do |field|
          [field[:name].to_sym, read.map { |object| plain(object.instance_variable_get("@#{field[:name]}"), field) }]
        end
        { true => messages.map { |message| [message.bytesize].pack("N") + message }.join, false => messages.join }.each do |framed, bytes|
          columns = Bytewright::Thrift.columns(klass, bytes, protocol: protocol, framed: framed)
          found = klass::FIELDS.values.to_h { |field| [field[:name].to_sym, columns.values(field[:name].to_sym).map { |each| alike(each, field) }] }
          assert_equal(expected, found, "#{protocol} framed=#{framed}")
        end
      end
    end
  end

  private

  # A value of an object as columns have it: a struct is a Hash, a set an Array, a map its entries, and bytes are told apart.
  def plain(value, field)
    return exact(value) if value.nil? || !CONTAINERS.include?(field[:type])

    case field[:type]
    when 12
      set = value.is_a?(::Thrift::Union) && value.get_set_field
      field[:class]::FIELDS.values.to_h do |inside|
        name = inside[:name]
        has = value.is_a?(::Thrift::Union) ? (value.get_value if set.to_s == name) : value.instance_variable_get("@#{name}")
        [name.to_sym, plain(has, inside)]
      end
    when 13 then value.map { |key, each| [plain(key, field[:key]), plain(each, field[:value])] }
    else value.map { |each| plain(each, field[:element]) }
    end
  end

  # A value of a column in the same form.
  def alike(value, field)
    return exact(value) if value.nil? || !CONTAINERS.include?(field[:type])

    case field[:type]
    when 12 then field[:class]::FIELDS.values.to_h { |inside| [inside[:name].to_sym, alike(value.fetch(inside[:name].to_sym), inside)] }
    when 13 then value.map { |key, each| [alike(key, field[:key]), alike(each, field[:value])] }
    else value.map { |each| alike(each, field[:element]) }
    end
  end

  CONTAINERS = [12, 13, 14, 15].freeze
  private_constant :CONTAINERS

  # Tells zeros apart, and not encodings.
  def exact(value)
    case value
    when Float then [:double, [value].pack("G")]
    when String then value.b
    else value
    end
  end
end
