# frozen_string_literal: true

require_relative "test_case"

# Goal: the Thrift calls of a capture as Ruby objects, with what they carry as an IDL file names it.
class CallTest < TestCase
  WAREHOUSE = File.join(ROOT, "samples/warehouse.pcap.zst")
  IDL = File.join(ROOT, "samples/warehouse.thrift")

  def test_every_call_is_yielded_with_its_fields
    calls = open_capture(WAREHOUSE).calls.to_a
    assert_equal(2412, calls.size)
    first = calls.first
    assert_equal(Bytewright::Call::FIELDS, first.to_h.keys)
    assert_equal(%w[ping framed-compact returned], [first.method_name, first.protocol, first.outcome])
    assert_equal(["127.0.0.1", 43_742, "127.0.0.1", 9093], [first.src_ip, first.src_port, first.dst_ip, first.dst_port])
    assert_equal([1501, 13, 13, 0], [first.latency, first.request_bytes, first.reply_bytes, first.sequence_id])
    assert_equal(first[:method], first.method_name)
    assert_equal(first.ts, first.time.to_i * 1_000_000_000 + first.time.nsec)
    assert_nil(first.arguments)
    assert_equal(169, calls.count(&:error?))
    assert_includes(first.inspect, "method=ping")
  end

  def test_calls_match_patterns_and_are_values
    calls = open_capture(WAREHOUSE).calls.first(50)
    again = open_capture(WAREHOUSE).calls.first(50)
    assert_equal(calls, again)
    assert_equal(calls.map(&:hash), again.map(&:hash))
    case calls.first
    in { method: "ping", latency: Integer => latency } then assert_equal(1501, latency)
    end
    assert_raises(ArgumentError) { calls.first[:nothing] }
  end

  def test_an_idl_file_gives_arguments_and_results
    calls = open_capture(WAREHOUSE).calls(idl: IDL, service: "NextStore").to_a
    found = calls.find { |call| call.method_name == "find" && call.outcome == "returned" }
    item = { name: "gasket", price_cents: 63_900, unit: 1, tags: %w[heavy grey], stock: { "north" => 6, "süd" => 40 } }
    assert_equal([{ name: "gasket" }, { success: item }], [found.arguments, found.result])
    missing = calls.find { |call| call.outcome == "exception" && call.method_name == "find" }
    assert_equal({ not_found: { name: "unicorn" } }, missing.result)
    failure = calls.find { |call| call.outcome == "failure" }
    assert_equal({ message: "Unknown function audit", type: 1 }, failure.result)
    logged = calls.find { |call| call.outcome == "oneway" }
    assert_kind_of(Integer, logged.arguments[:at])
    assert_nil(logged.result)
  end

  def test_a_service_gives_its_own_calls_only
    methods = open_capture(WAREHOUSE).calls(idl: IDL, service: "Catalog").map(&:method_name).uniq.sort
    assert_equal(%w[find search], methods)
    error = assert_raises(ArgumentError) { open_capture(WAREHOUSE).calls(idl: IDL) {} }
    assert_includes(error.message, "found Catalog, Store, NextStore")
    assert_raises(Errno::ENOENT) { open_capture(WAREHOUSE).calls(idl: "no.thrift") {} }
  end

  def test_a_method_gives_its_own_calls_only
    capture = open_capture(WAREHOUSE)
    found = capture.calls(method: "find").to_a
    assert_equal([%w[find], capture.calls.count { |call| call.method_name == "find" }], [found.map(&:method_name).uniq, found.size])
  end

  def test_leaving_early_ends_the_pass_and_others_have_none
    capture = open_capture(WAREHOUSE)
    assert_equal(1, capture.calls.first(1).size)
    capture.calls { break }
    assert_equal(0, open_capture(WEB).calls.count)
  end
end
