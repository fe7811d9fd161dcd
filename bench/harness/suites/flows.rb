# frozen_string_literal: true

require_relative "../agreement"
require_relative "../recipes"
require_relative "../side"
require_relative "../suite"

module Bench
  module Suites
    # Captures to columns, Ruby values and flows. bench/README.md says what each row means.
    class Flows < Suite
      PACKETFU_LIMIT =
        KnownDifference.new("no VLAN/IPv6 ports", %w[ports counted weighted squares]).freeze

      # It leaves out packets with two VLAN tags, two of a hundred. The row before says that features change none of these values,
      # and `peer_agreements` that the flow table has them right.
      NFSTREAM_LIMIT = KnownDifference.new("one VLAN tag at most", %w[packets lengths port_flows squares]).freeze

      # Decompressors of gzip, and the values of BYTEWRIGHT_INFLATE that name them.
      DECOMPRESSORS = { "built-in" => "zlib", "isa-l" => "isal" }.freeze

      FULL_INPUTS = {
        mixed: CaptureRecipe.new(1, 400, "mixed"),
        patterned: CaptureRecipe.new(3, 100, "patterned"),
        # The beginning of `mixed`, for the peers that would take minutes for all of it.
        cut: CaptureRecipe.new(1, 400, "mixed", 20_000)
      }.freeze

      CHECK_INPUTS = {
        mixed: CaptureRecipe.new(1, 2, "mixed"),
        patterned: CaptureRecipe.new(3, 1, "patterned"),
        cut: CaptureRecipe.new(1, 2, "mixed", 1_000),
        nanosecond: CaptureRecipe.new(5, 1, "mixed-ns"),
        pcapng: CaptureRecipe.new(6, 1, "mixed-ng"),
        pcapng_nanosecond: CaptureRecipe.new(7, 1, "mixed-ns-ng")
      }.freeze

      def how_measured(runs_count:, clock:)
        "#{runs_count} runs of each side by turns; the numbers are medians of #{clock} time"
      end

      # Returns what check mode compares: the peers among each other, each row's sides, and the containers.
      def agreements
        @only ? super : peer_agreements + super + container_agreements
      end

      private

      # Each row by itself: what two sides need from the machine does not mix with other rows' needs.
      def all_blocks
        measures = core_measures + ruby_measures + library_measures + flow_measures + answer_measures + memory_measures
        measures.map { |measure| Block.new(measures: [measure]) }
      end

      def core_measures
        [
          Measure.new(title: "plain file to columns / read(2) and discard", kind: Kind::TimeShare,
                      ours: columns("columns"), peer: read_discard, input: :mixed, bar: Bar.at_most(1.3)),
          *DECOMPRESSORS.keys.flat_map { |gzip| decompression_measures(gzip) },
          gzip_measure("built-in", 0.65),
          gzip_measure("isa-l", 0.45),
          Measure.new(title: ".zst to columns / decompress only", kind: Kind::TimeShare,
                      ours: columns("columns"), peer: columns("decompress"), input: :mixed_zst,
                      bar: Bar.at_most(1.15))
        ]
      end

      def decompression_measures(gzip)
        { "mixed" => 1.08, "patterned" => 1.3 }.map do |profile, bar|
          Measure.new(title: ".gz to columns / decompress only, #{profile}, #{gzip}",
                      kind: Kind::TimeShare, ours: columns("columns", gzip),
                      peer: columns("decompress", gzip), input: :"#{profile}_gz", bar: Bar.at_most(bar))
        end
      end

      def gzip_measure(gzip, bar)
        Measure.new(title: ".gz to columns, #{gzip} / gzip -dc", kind: Kind::TimeShare,
                    ours: columns("columns", gzip), peer: gzip_command, input: :mixed_gz,
                    bar: Bar.at_most(bar))
      end

      def ruby_measures
        [
          ruby_measure("Ruby: count by dst_port / pcaprub + unpack", ours_ruby("count_by_dst_port"),
                       pcaprub("count_by_dst_port"), Bar.at_least(15)),
          ruby_measure("Ruby: count by dst_port / pcaprub, leanest loop", ours_ruby("count_by_dst_port"),
                       pcaprub("count_by_dst_port_lean"), Bar.none),
          ruby_measure("Ruby: each, two getters / pcaprub + unpack", ours_ruby("each_getters"),
                       pcaprub("getters"), Bar.at_least(20)),
          ruby_measure("Ruby: each, two getters / pcaprub, leanest loop", ours_ruby("each_getters"),
                       pcaprub("getters_lean"), Bar.none),
          ruby_measure("Ruby: rows with text addresses / C extension", ours_ruby("rows"),
                       c_extension("rows"), Bar.at_least(1.2)),
          ruby_measure("Ruby: flows / pcaprub + unpack + Hash", ours_ruby("flows"), pcaprub("flows"), Bar.none)
        ]
      end

      def ruby_measure(title, ours, peer, bar)
        Measure.new(title: title, kind: Kind::Speedup, ours: ours, peer: peer, input: :mixed, bar: bar)
      end

      def library_measures
        [
          library_measure("packetfu", packetfu, 300, PACKETFU_LIMIT),
          library_measure("dpkt", dpkt, 40),
          library_measure("tshark -T fields", tshark("count_by_dst_port"), 100)
        ]
      end

      def library_measure(name, peer, bar, known_difference = nil)
        Measure.new(title: "Ruby: count by dst_port / #{name} (rate)", kind: Kind::Rate,
                    ours: ours_ruby("count_by_dst_port"), input: :mixed, peer: peer, peer_input: :cut,
                    bar: Bar.at_least(bar), known_difference: known_difference)
      end

      def flow_measures
        [
          Measure.new(title: "flows of the .gz / columns of it", kind: Kind::TimeShare,
                      ours: columns("flows"), peer: columns("columns"), input: :mixed_gz,
                      bar: Bar.at_most(1.15)),
          Measure.new(title: "flows of the .gz with all features / without", kind: Kind::TimeShare,
                      ours: columns("features"), peer: columns("flows"), input: :mixed_gz, bar: Bar.at_most(1.3)),
          Measure.new(title: "flows with all features / NFStream with statistics", kind: Kind::Speedup,
                      ours: columns("features"), peer: nfstream, input: :mixed, bar: Bar.at_least(20),
                      known_difference: NFSTREAM_LIMIT),
          # tshark's own statistics, which dissect no more than it always does, and print no packet.
          Measure.new(title: "conversations of the .gz / tshark -q -z conv,tcp", kind: Kind::Speedup,
                      ours: columns("conversations"), peer: tshark("conversations"), input: :mixed_gz,
                      bar: Bar.at_least(15)),
          Measure.new(title: "report of the .gz / columns of it", kind: Kind::TimeShare,
                      ours: columns("report"), peer: columns("columns"), input: :mixed_gz,
                      bar: Bar.at_most(1.4))
        ]
      end

      def answer_measures
        [
          Measure.new(title: "bytes by dst_port and minute of the .gz / columns of it", kind: Kind::TimeShare,
                      ours: columns("sums"), peer: columns("columns"), input: :mixed_gz, bar: Bar.at_most(1.15)),
          Measure.new(title: "bytes by dst_port and minute / tshark -T fields, awk (rate)", kind: Kind::Rate,
                      ours: columns("sums"), input: :mixed, peer: tshark("sum_by_minute"), peer_input: :cut,
                      bar: Bar.at_least(100)),
          Measure.new(title: "bytes by dst_port and minute of the .gz / --csv, DuckDB", kind: Kind::Speedup,
                      ours: columns("sums"), peer: csv_duckdb, input: :mixed_gz, bar: Bar.at_least(3)),
          Measure.new(title: "columns of the .gz with dns_query / without", kind: Kind::TimeShare,
                      ours: columns("names"), peer: columns("columns"), input: :mixed_gz, bar: Bar.at_most(1.15)),
          Measure.new(title: "all packets of the .gz with other addresses / as they are, as pcap", kind: Kind::TimeShare,
                      ours: copied("anonymous"), peer: copied("copy"), input: :mixed_gz, bar: Bar.at_most(1.3)),
          Measure.new(title: "cut UDP in IPv4 from the .gz / gzip -dc, tcpdump -w", kind: Kind::TimeShare,
                      ours: columns_cut, peer: tcpdump, input: :mixed_gz, bar: Bar.at_most(0.7))
        ]
      end

      def memory_measures
        witnesses = {
          "each_getters" => pcaprub("getters"), "rows" => c_extension("rows"),
          "each_batch" => c_extension("rows"), "count_by_dst_port" => pcaprub("count_by_dst_port"),
          "flows" => pcaprub("flows")
        }
        witnesses.flat_map do |script, witness|
          %i[mixed mixed_gz mixed_zst].map { |input| memory_measure(script, witness, input) }
        end
      end

      # `ruby -e ''` answers nothing; `witness` says what is right.
      def memory_measure(script, witness, input)
        Measure.new(title: "peak memory above Ruby's own: #{script}, #{input}", kind: Kind::MemoryAbove,
                    ours: ours_ruby(script), peer: bare_ruby, input: input, bar: Bar.at_most(32),
                    agreement: Agreement.new(first: ours_ruby(script), second: witness,
                                             input: input, second_input: :mixed))
      end

      def peer_agreements
        reference = pcaprub("count_by_dst_port")
        [
          peers_agree(reference, pcaprub("count_by_dst_port_lean"), :mixed),
          peers_agree(reference, c_extension("count_by_dst_port"), :mixed),
          peers_agree(reference, dpkt, :mixed),
          peers_agree(reference, tshark("count_by_dst_port"), :mixed),
          peers_agree(reference, packetfu, :cut, PACKETFU_LIMIT),
          peers_agree(pcaprub("getters"), pcaprub("getters_lean"), :mixed),
          peers_agree(pcaprub("getters"), c_extension("getters"), :mixed),
          peers_agree(pcaprub("rows"), c_extension("rows"), :mixed),
          peers_agree(columns("flows"), pcaprub("flows"), :mixed)
        ]
      end

      def peers_agree(first, second, input, known_difference = nil)
        Agreement.new(first: first, second: second, input: input, known_difference: known_difference)
      end

      # Compares this traffic in the other containers, with timestamps to the nanosecond.
      def container_agreements
        %i[nanosecond pcapng pcapng_nanosecond].flat_map do |input|
          [
            peers_agree(c_extension("count_by_dst_port"), dpkt, input),
            Agreement.new(first: ours_ruby("rows"), second: c_extension("rows"), input: input)
          ]
        end
      end

      # `gzip` is a key of DECOMPRESSORS, or nil for the one that serves by itself.
      def columns(mode, gzip = nil)
        Side.new(name: ["columns", mode, gzip].compact.join(" "),
                 needs: (:isa_l if gzip == "isa-l"),
                 environment: gzip ? { "BYTEWRIGHT_INFLATE" => DECOMPRESSORS.fetch(gzip) } : {},
                 command: ->(path) { [Paths.executable("columns"), mode, path] })
      end

      def ours_ruby(script)
        Side.new(name: "ours #{script}", needs: :gem, environment: Paths::GEM_ENVIRONMENT,
                 command: ->(path) { [Paths::RUBY, Paths.ours("#{script}.rb"), path] })
      end

      def read_discard
        Side.new(name: "read-discard", command: ->(path) { [Paths.executable("read-discard"), path] })
      end

      # gzip prints what it unpacks, so its answer, the number of bytes, is counted outside the timing.
      def gzip_command
        count = "gzip -dc \"$0\" | \"$1\" -"
        Side.new(name: "gzip -dc", needs: :gzip, command: ->(path) { ["gzip", "-dc", path] },
                 answer_command: ->(path) { ["sh", "-c", count, path, Paths.executable("read-discard")] })
      end

      def bare_ruby
        Side.new(name: "ruby -e ''", command: ->(_path) { [Paths::RUBY, "-e", ""] })
      end

      def pcaprub(task)
        ruby_peer("pcaprub #{task}", :pcaprub, ["pcaprub_unpack.rb", task])
      end

      def packetfu
        ruby_peer("packetfu", :packetfu, ["packetfu.rb", "count_by_dst_port"])
      end

      def c_extension(task)
        ruby_peer("C extension #{task}", :c_ext, ["c_ext/rows.rb", task], "-I", Paths::C_EXTENSION)
      end

      def ruby_peer(name, needs, (script, task), *options)
        Side.new(name: name, needs: needs,
                 command: ->(path) { [Paths::RUBY, *options, Paths.peer(script), task, path] })
      end

      def dpkt
        Side.new(name: "dpkt", needs: :dpkt,
                 command: ->(path) { [Paths::VENV_PYTHON, Paths.peer("dpkt.py"), "count_by_dst_port", path] })
      end

      def tshark(task)
        Side.new(name: "tshark #{task}", needs: :tshark,
                 command: ->(path) { [Paths.peer("tshark.sh"), task, path] })
      end

      def csv_duckdb
        Side.new(name: "csv, DuckDB", needs: :command_duckdb,
                 command: ->(path) { [Paths::VENV_PYTHON, Paths.peer("csv_duckdb.py"), Paths::COMMAND, path] })
      end

      def nfstream
        Side.new(name: "NFStream", needs: :nfstream,
                 command: ->(path) { [Paths::VENV_PYTHON, Paths.peer("nfstream_flows.py"), path] })
      end

      # Sides of `cut` write a capture to standard output. What is in it is found out outside the timing.
      def columns_cut
        cutting("columns cut", nil, "\"$1\" cut \"$0\"")
      end

      def copied(mode)
        cutting("columns #{mode}", nil, "\"$1\" #{mode} \"$0\"")
      end

      def tcpdump
        cutting("tcpdump -w", :tcpdump, "gzip -dc \"$0\" | tcpdump -r - -w - 'ip and udp' 2>/dev/null")
      end

      def cutting(name, needs, script)
        columns = Paths.executable("columns")
        Side.new(name: name, needs: needs, command: ->(path) { ["sh", "-c", script, path, columns] },
                 answer_command: lambda { |path|
                   ["sh", "-c", "#{script} | \"$1\" columns /dev/stdin", path, columns]
                 })
      end
    end
  end
end
