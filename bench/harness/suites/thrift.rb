# frozen_string_literal: true

require_relative "../paths"
require_relative "../recipes"
require_relative "../suite"

module Bench
  module Suites
    # Messages of Thrift. bench/README.md says what each row means.
    class Thrift < Suite
      # Bars for the two structs of workload/messages.thrift.
      Bars = Struct.new(:drop_in, :floor, :objects, :encode, :pluck, :columns, :compare, :python, keyword_init: true)
      BARS = {
        rich: Bars.new(drop_in: 12, floor: 1.2, objects: 48, encode: 20, pluck: 150, columns: 300, compare: 8,
                       python: 1.5),
        flat: Bars.new(drop_in: 12, floor: 1.3, objects: 4, encode: 15, pluck: 40, columns: 80, compare: 8, python: 3)
      }.freeze
      PROTOCOLS = %i[binary compact].freeze

      MESSAGES = 50
      FILE_MESSAGES = 10_000
      CHECK_COUNT = 5

      def self.inputs(few, many)
        BARS.keys.product(PROTOCOLS).flat_map do |struct, protocol|
          [[:"#{struct}_#{protocol}", MessagesRecipe.new(struct, protocol, few)],
           [:"#{struct}_#{protocol}_file", MessagesRecipe.new(struct, protocol, many)]]
        end.to_h
      end

      FULL_INPUTS = inputs(MESSAGES, FILE_MESSAGES).freeze
      CHECK_INPUTS = inputs(CHECK_COUNT, CHECK_COUNT).freeze

      MESSAGE = Figure.new(name: "message_s", divisor: 1e-6, format: "%.2f", unit: "µs")
      OBJECTS = Figure.new(name: "objects", divisor: 1, format: "%.0f")
      TEN_THOUSAND = %w[decode_s hash_s equal_s].to_h { |name| [name, Figure.seconds(name)] }.freeze

      def how_measured(runs_count:, **)
        "#{runs_count} runs of each side by turns, each pinned to one core; the numbers are medians of processor " \
          "time for one message, garbage collection included"
      end

      private

      def all_blocks
        pairs = BARS.keys.product(PROTOCOLS)
        by_task = %i[reading writing some_fields objects].map do |task|
          pairs.map { |struct, protocol| Block.new(measures: send(task, struct, protocol)) }
        end
        by_task.flatten + BARS.keys.map { |struct| Block.new(measures: comparing(struct)) } +
          [Block.new(measures: ten_thousand)]
      end

      def reading(struct, protocol)
        bars, input, title = BARS[struct], :"#{struct}_#{protocol}", title(struct, protocol)
        drop_in, direct, gem = ours("decode", "drop-in"), ours("decode", "direct"), gem("decode")
        [
          faster("#{title}: Deserializer", drop_in, gem, input, bars.drop_in),
          faster("#{title}: Thrift.decode", direct, gem, input),
          share("#{title}: Thrift.decode", direct, floor, input, bars.floor),
          share("#{title}: Deserializer", drop_in, floor, input),
          faster("#{title}: Thrift.decode", direct, python("thrift"), input, bars.python),
          # It has no fast Compact.
          (faster("#{title}: Thrift.decode", direct, python("thriftpy2"), input) if protocol == :binary)
        ].compact
      end

      def writing(struct, protocol)
        input, title, gem = :"#{struct}_#{protocol}", title(struct, protocol), gem("encode")
        [faster("#{title}: Serializer", ours("encode", "drop-in"), gem, input, BARS[struct].encode),
         faster("#{title}: Thrift.encode", ours("encode", "direct"), gem, input)]
      end

      def some_fields(struct, protocol)
        bars, input, title = BARS[struct], :"#{struct}_#{protocol}", title(struct, protocol)
        columns, gem_columns = ours("columns", "direct"), gem("columns")
        [
          faster("#{title}: pluck 3 fields", ours("pluck", "direct"), gem("pluck"), input, bars.pluck),
          faster("#{title}: 3 columns of a file of 10,000", columns, gem_columns, :"#{input}_file", bars.columns),
          faster("#{title}: 3 columns of 50 messages", columns, gem_columns, input)
        ]
      end

      # The numbers do not vary, so that these blocks run once.
      def objects(struct, protocol)
        title = "#{title(struct, protocol)}: objects for a message"
        { "direct" => Bar.at_most(BARS[struct].objects), "drop-in" => Bar.none }.map do |engine, bar|
          own = ours("objects", engine)
          Measure.new(title: "#{title}, #{NAMES.fetch(engine)} (peer: the gem)", kind: Kind::FigureLevel.new(OBJECTS),
                      ours: own, peer: gem("objects"), input: :"#{struct}_#{protocol}", bar: bar)
        end
      end

      NAMES = { "direct" => "Thrift.decode", "drop-in" => "Deserializer" }.freeze

      def comparing(struct)
        { "hash" => "hash", "equal" => "==" }.map do |task, method|
          faster("#{struct.capitalize}: #{method}", ours(task, "drop-in"), gem(task), :"#{struct}_binary",
                 BARS[struct].compare)
        end
      end

      # The table of THRIFT-1189, of Rich: seconds for 10,000.
      def ten_thousand
        [
          ten("Binary", "decode_s", "-plain", :rich_binary), ten("BinaryAccelerated", "decode_s", "", :rich_binary),
          ten("Compact", "decode_s", "", :rich_compact), ten("hash", "hash_s", "", :rich_binary),
          ten("equality", "equal_s", "", :rich_binary)
        ]
      end

      def ten(title, figure, suffix, input)
        own, peer = ours("ten_thousand", "drop-in#{suffix}"), gem("ten_thousand", "gem#{suffix}")
        Measure.new(title: "THRIFT-1189, 10,000 times: #{title} / the gem", ours: own, peer: peer, input: input,
                    kind: Kind::FigureSpeedup.new(TEN_THOUSAND.fetch(figure)), bar: Bar.at_least(1))
      end

      # Rows.

      def title(struct, protocol)
        "#{struct.capitalize}, #{protocol.capitalize}"
      end

      def faster(title, own, peer, input, at_least = nil)
        Measure.new(title: "#{title} / #{label(peer)}", kind: Kind::FigureSpeedup.new(MESSAGE), ours: own, peer: peer,
                    input: input, bar: at_least ? Bar.at_least(at_least) : Bar.none)
      end

      def share(title, own, peer, input, at_most = nil)
        Measure.new(title: "#{title} / #{label(peer)}", kind: Kind::FigureShare.new(MESSAGE), ours: own, peer: peer,
                    input: input, bar: at_most ? Bar.at_most(at_most) : Bar.none)
      end

      # Sides.

      CLASSES = ["-I", Paths::THRIFT_CLASSES].freeze
      # The gem thrift may be among the system's, so that its place stays on the path.
      ENVIRONMENT = { "GEM_HOME" => Paths::GEM_HOME, "GEM_PATH" => nil }.freeze

      def ours(task, engine)
        side(task, "ours, #{engine}", :thrift, [Paths::RUBY, *CLASSES, Paths.ours("messages.rb"), task, engine],
             ENVIRONMENT)
      end

      def gem(task, engine = "gem")
        ruby_peer(task, engine, engine == "gem" ? "the gem" : "the gem, not accelerated", :thrift_gem)
      end

      def floor
        ruby_peer("decode", "floor", "the floor", :thrift_floor, "-I", Paths::THRIFT_FLOOR)
      end

      def ruby_peer(task, engine, name, needs, *options)
        command = [Paths::RUBY, *CLASSES, *options, Paths.peer("messages.rb"), task, engine]
        side(task, name, needs, command)
      end

      def python(library)
        python, needs = { "thrift" => [Paths::SYSTEM_PYTHON, :thrift_python],
                          "thriftpy2" => [Paths::VENV_PYTHON, :thriftpy2] }.fetch(library)
        name = library == "thrift" ? "Python, accelerated" : library
        side("decode", name, needs, [python, Paths.peer("messages.py"), "decode", library],
             { "PYTHONPATH" => Paths::THRIFT_CLASSES })
      end
    end
  end
end
