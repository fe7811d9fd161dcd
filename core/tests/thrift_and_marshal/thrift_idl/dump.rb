# frozen_string_literal: true

# Says what the code is that the compiler generated, one definition a line, in the form that as_ruby.rs
# says the same in. Reads the names of folders of generated code from its input, and answers each with
# lines, and a line with a dot after them.

require "set"
require "thrift"

TYPES = Thrift::Types.constants.to_h { |name| [Thrift::Types.const_get(name), name.to_s] }

def type_of(data)
  case data[:type]
  when Thrift::Types::STRUCT then "STRUCT ::#{data[:class]}"
  when Thrift::Types::LIST then "LIST<#{type_of(data[:element])}>"
  when Thrift::Types::SET then "SET<#{type_of(data[:element])}>"
  when Thrift::Types::MAP then "MAP<#{type_of(data[:key])}, #{type_of(data[:value])}>"
  else
    name = TYPES.fetch(data[:type])
    name += " binary" if data[:binary]
    name += " ::#{data[:enum_class]}" if data[:enum_class]
    name
  end
end

def fields_of(object)
  names = object.class::FIELDS.values.map { |data| data[:name] }
  if object.is_a?(Thrift::Union)
    return [] unless object.get_set_field

    return [[object.get_set_field.to_s, object.get_value]]
  end
  names.map { |name| [name, object.instance_variable_get("@#{name}")] }.reject { |_, value| value.nil? }
end

def value(it)
  case it
  when true, false, Integer then it.to_s
  when Float then ("%.5e" % it).sub(/e([+-])0*(\d)/) { "e#{$1 == "-" ? "-" : ""}#{$2}" }
  when String then it.dump
  when Array then "[#{it.map { |element| value(element) }.join(", ")}]"
  when Set then "Set[#{it.map { |element| value(element) }.join(", ")}]"
  when Hash then "{#{it.map { |key, element| "#{value(key)} => #{value(element)}" }.join(", ")}}"
  else
    fields = fields_of(it).map { |name, element| "#{name}: #{value(element)}" }
    "::#{it.class}(#{fields.join(", ")})"
  end
end

# Returns the fields that `validate` misses, found by setting one after the other.
def required(klass)
  return [] if klass < Thrift::Union

  names = []
  object = klass.allocate
  loop do
    object.validate
    return names
  rescue Thrift::ProtocolException => error
    name = error.message[/\ARequired field (\S+) is unset!\z/, 1] or return names
    names << name
    object.instance_variable_set("@#{name}", true)
  end
end

def kind(klass)
  return "union" if klass < Thrift::Union

  klass < Thrift::Exception ? "exception" : "struct"
end

def struct_line(klass)
  needed = required(klass)
  fields = klass::FIELDS.map do |id, data|
    line = "#{id} #{data[:name]} #{type_of(data)}"
    line += " required" if needed.include?(data[:name])
    line += " optional" if data[:optional]
    line += " = #{value(data[:default])}" if data.key?(:default)
    line
  end
  "#{kind(klass)} ::#{klass} {#{fields.join("; ")}}"
end

def enum_line(enum)
  # The order of constants is not that of the text; the JSON generator tells it.
  names = enum.constants(false) - %i[VALUE_MAP VALID_VALUES]
  values = names.map { |name| "#{name} = #{enum.const_get(name)}" }.sort
  "enum ::#{enum} {#{values.join(", ")}}"
end

def service_line(service)
  client = service::Client
  above = client.superclass == Object ? nil : client.superclass.name.delete_suffix("::Client")
  own = client.instance_methods(false).map(&:to_s)
  functions = service::Processor.instance_methods(false).map { |name| name.to_s.delete_prefix("process_") }
  functions = functions.sort.map { |name| own.include?("recv_#{name}") ? name : "oneway #{name}" }
  "service ::#{service} extends #{above ? "::#{above}" : "nothing"} {#{functions.join(", ")}}"
end

def lines(mod, known)
  (mod.constants(false) - known).flat_map do |name|
    it = mod.const_get(name)
    next "const #{mod == Object ? "" : "::#{mod}"}::#{name} = #{value(it)}" unless it.is_a?(Module)

    if it.const_defined?(:FIELDS, false) then struct_line(it)
    elsif it.const_defined?(:VALUE_MAP, false) then enum_line(it)
    elsif it.const_defined?(:Client, false) then [service_line(it)] + lines(it, %i[Client Processor])
    else
      lines(it, [])
    end
  end
end

$stdout.sync = true
$stdin.each_line(chomp: true) do |folder|
  known = Object.constants
  pid = fork do
    $LOAD_PATH.unshift(folder)
    Dir.children(folder).sort.each { |file| require File.join(folder, file) if file.end_with?(".rb") }
    puts lines(Object, known).sort
  rescue Exception => error # rubocop:disable Lint/RescueException -- it is printed, and the child ends
    puts "cannot load: #{error.message.lines.first}"
  end
  Process.wait(pid)
  puts "."
end
