# frozen_string_literal: true

# A program for an abstract database: it calls every method, and prints what each gives or raises. Run as
#
#   ruby adb_script.rb tokyocabinet TokyoCabinet::ADB casket.tch
#   ruby adb_script.rb bytewright   Bytewright::ADB   casket.bwh
#
# it prints the same. It says nothing of what a table may choose: the order of a hashed one, sizes.
library, class_name, @name = ARGV
$LOAD_PATH.concat(ENV.fetch("ADB_LOAD_PATH", "").split(File::PATH_SEPARATOR))
require library
@adb_class = Object.const_get(class_name)
@in_file = @name.include?(".")
@ordered = @name == "+" || @name.end_with?("t", "b")
$stdout.sync = true

def show(label)
  result =
    begin
      yield.inspect
    rescue StandardError => error
      # Versions of Ruby quote in two ways.
      "#{error.class}: #{error.message.tr("`", "'")}"
    end
  puts "#{label}: #{result}"
end

# An Array in the order that the table promises, or sorted.
def listed(array)
  @ordered ? array : array.sort_by(&:inspect)
end

def put_all(adb, *keys)
  keys.each { |key| adb.put(key, key) }
end

def not_open
  adb = @adb_class.new
  %i[close sync vanish clear rnum length path iterinit iternext keys values tranbegin trancommit tranabort empty?
     optimize size].each { |name| show("not open, #{name}") { adb.send(name) } }
  show("not open, put") { [adb.put("a", "b"), adb.putkeep("a", "b"), adb.putcat("a", "b"), adb.send(:[]=, "a", "b")] }
  show("not open, out") { [adb.out("a"), adb.delete("a")] }
  show("not open, get") { [adb.get("a"), adb["a"], adb.fetch("a"), adb.fetch("a", 1), adb.vsiz("a")] }
  show("not open, key") { [adb.key?("a"), adb.value?("a"), adb.key("a"), adb.fwmkeys("a")] }
  show("not open, add") { [adb.addint("a", 1), adb.adddouble("a", 1)] }
  show("not open, misc") { adb.misc("put", %w[a b]) }
  show("not open, copy") { adb.copy("copy") }
  show("not open, each") { [adb.each {}, adb.each_key {}, adb.each_value {}] }
  show("not open, put nothing") { adb.put("a") }
end

def opening
  adb = @adb_class.new
  show("new with a name") { @adb_class.new(@name) }
  [nil, 1, :name, true, []].each { |name| show("open #{name.inspect}") { adb.open(name) } }
  ["", "casket", "casket.txt", "*x", " +", "missing/casket.#{@name[/\w+\z/]}"].each { |name| show("open #{name.sub(/\w+\z/, "")}") { adb.open(name) } }
  show("open") { adb.open("#{@name}#bnum=1000#CAPNUM=0#unknown#also=that") }
  show("open again") { adb.open(@name) }
  show("path") { adb.path == @name }
  show("close") { [adb.close, adb.close, adb.path] }
  modes(adb) if @in_file
end

def modes(adb)
  show("r of a file") { [adb.open("#{@name}#mode=r"), adb.get("a"), adb.put("a", "b"), adb.out("a"), adb.sync, adb.optimize] }
  show("r, more") { [adb.vanish, adb.tranbegin, adb.addint("a", 1), adb.putcat("a", "b"), adb.rnum, adb.close] }
  show("r without a file") { adb.open("new_#{@name}#mode=r") }
  show("w without a file") { adb.open("new_#{@name}#mode=w") }
  show("c without w") { adb.open("new_#{@name}#mode=c") }
  show("wc without a file") { [adb.open("new_#{@name}#mode=wcf"), adb.put("a", "b"), adb.close] }
  show("t") { [adb.open("new_#{@name}#Mode=WT"), adb.rnum, adb.put("b", "b"), adb.close] }
  show("as it was left") { [adb.open("new_#{@name}"), adb.keys, adb.close] }
  File.write("garbage_#{@name}", "garbage " * 1000)
  show("garbage") { [adb.open("garbage_#{@name}"), adb.path, adb.rnum] }
end

def putting(adb)
  text = Object.new
  def text.to_str = "text"
  show("put") { [adb.put("a", "1"), adb.store("b", "2"), adb.send(:[]=, "c", "3"), (adb["d"] = 4)] }
  [[1, 2], [-5, 2**31 - 1], [2**31, 1], [-2**31 - 1, 1], [2**62, 1], [2**63, 1], [nil, true], [false, nil], [1.5, "x"],
   ["x", 1.5], [:a, "b"], [[], "b"], [Object.new, "b"], [text, text]].each_with_index do |(key, value), index|
    show("put #{index}") { adb.put(key, value) }
  end
  show("put one") { adb.put("a") }
  show("putkeep") { [adb.putkeep("a", "x"), adb.putkeep("keep", "x"), adb.putkeep(7, nil)] }
  show("putcat") { [adb.putcat("a", "2"), adb.putcat("cat", 1), adb.putcat("cat", nil)] }
  show("out") { [adb.out("keep"), adb.out("keep"), adb.delete(7), adb.delete("x"), adb.delete("x") { 1 }] }
  show("entries") { listed(adb.keys.zip(adb.values)) }
  show("bytes") { adb.put("n\0ul\xFF", "\0"); adb.put("", ""); [adb["n\0ul\xFF"], adb["n"], adb[""], adb.vsiz("")] }
  show("text") { adb.put("é", "ü"); [adb["é"], adb["é".b], adb["é"].encoding.to_s, adb.keys.first.encoding.to_s] }
end

def getting(adb)
  show("get") { [adb.get("a"), adb.get("x"), adb[1], adb[nil], adb[true]] }
  show("get Symbol") { adb.get(:a) }
  show("fetch") { [adb.fetch("a"), adb.fetch("x"), adb.fetch("x", 7), adb.fetch("x") { 8 }] }
  show("fetch three") { adb.fetch("x", 1, 2) }
  show("fetch none") { adb.fetch }
  show("vsiz") { [adb.vsiz("a"), adb.vsiz("x"), adb.vsiz(1)] }
  show("key?") { [adb.key?("a"), adb.has_key?("x"), adb.include?(1), adb.member?(nil)] }
  show("value?") { [adb.value?("12"), adb.has_value?("x"), adb.value?(2), adb.key("12"), adb.key("nothing")] }
  show("a copy") { adb["a"] << "x"; adb["a"] }
end

def prefixes(adb)
  put_all(adb, "x1", "x2", "x3", "y")
  show("fwmkeys") { [listed(adb.fwmkeys("x")), listed(adb.fwmkeys("x", nil)), listed(adb.fwmkeys("x", -1)), adb.fwmkeys("q")] }
  show("fwmkeys max") { [adb.fwmkeys("x", 2).size, adb.fwmkeys("x", 0), adb.fwmkeys("x", 2.9).size, adb.fwmkeys("", 3).size] }
  show("fwmkeys String") { adb.fwmkeys("x", "2") }
  show("fwmkeys three") { adb.fwmkeys("x", 1, 1) }
end

def adding(adb)
  show("addint") { [adb.addint("int", 5), adb.addint("int", -7), adb.addint("int", 1.9), adb["int"]] }
  show("addint on text") { [adb.addint("a", 1), adb["a"]] }
  show("addint around") { [adb.addint("top", 2**31 - 1), adb.addint("top", 1), adb["top"], adb.addint("top", -1)] }
  ["1", nil, true, 2**31, -2**31 - 1, 2**70, Float::NAN, 1e30, Object.new].each_with_index do |number, index|
    show("addint #{index}") { adb.addint("int", number) }
  end
  show("adddouble") { [adb.adddouble("double", 1.5), adb.adddouble("double", -2), adb.adddouble("double", 1r / 4), adb["double"]] }
  show("adddouble 0.1") { Array.new(3) { adb.adddouble("tenth", 0.1) } }
  show("adddouble on text") { [adb.adddouble("a", 1), adb.adddouble("int", 1)] }
  show("adddouble endless") { [adb.adddouble("inf", Float::INFINITY), adb.adddouble("inf", 1), adb.adddouble("nan", Float::NAN), adb["nan"]] }
  ["1", nil, true, Object.new].each_with_index { |number, index| show("adddouble #{index}") { adb.adddouble("double", number) } }
end

def walking(adb)
  adb.clear
  put_all(adb, "b", "a", "d", "c")
  %i[each each_pair each_key each_value].each { |name| show("#{name} without a block") { adb.send(name) } }
  show("each") { found = []; adb.each { |key, value| found << [key, value] }; listed(found) }
  show("what each gives") { [adb.each { 1 }, adb.each_pair { 2 }, adb.each_key { 3 }, adb.each_value { 4 }] }
  show("each of one argument") { found = []; adb.each { |key| found << key }; listed(found) }
  show("each_pair") { found = []; adb.each_pair { |*both| found << both }; listed(found) }
  show("each_key") { found = []; adb.each_key { |key| found << key }; listed(found) }
  show("each_value") { found = []; adb.each_value { |value| found << value }; listed(found) }
  show("each that breaks") { adb.each { break 3 } }
  show("each that raises") { adb.each { raise IOError, "mine" } }
  show("without iterinit") { @adb_class.new.iternext }
  show("iterate") { found = []; [adb.iterinit, (found << (adb.iternext) while found.last || found.empty?), listed(found.compact), adb.iternext] }
  show("iterate and take out") { adb.iterinit; key = adb.iternext; [adb.out(key), adb.key?(key), adb.rnum] }
  adb.clear
  put_all(adb, "b", "a", "c")
  show("iterate again") { adb.iterinit; adb.iternext; adb.iterinit; listed(Array.new(3) { adb.iternext }) }
end

def functions(adb)
  adb.clear
  show("misc put") { [adb.misc("put", %w[m 1]), adb.misc("put", ["m"]), adb.misc("put", [1, nil]), adb["1"]] }
  show("misc putkeep") { [adb.misc("putkeep", %w[m 1]), adb.misc("putkeep", %w[m2 1])] }
  show("misc putcat") { [adb.misc("putcat", %w[m2 1]), adb.misc("putcat", %w[m3 1])] }
  show("misc get") { [adb.misc("get", ["m2"]), adb.misc("get", ["x"]), adb.misc("get", []), adb.misc("get"), adb.misc("get", nil)] }
  show("misc out") { [adb.misc("out", ["m2"]), adb.key?("m2"), adb.misc("out", [])] }
  show("misc putlist") { adb.misc("putlist", %w[p1 1 p2 2 p3]) }
  show("misc getlist") { [adb.misc("getlist", %w[p1 p2 p1]), adb.misc("getlist", []), adb.misc("getlist", ["p3"])] }
  show("misc outlist") { [adb.misc("outlist", %w[p1]), adb.misc("outlist", []), adb.key?("p1")] }
  show("misc getpart") do
    adb.put("part", "abcdefgh")
    [["part", 2, 3], ["part", -2, 3], ["part", "2", "-1"], ["part", 20, 3], ["part", 8, 3], ["part", 2, 300], ["part", 2],
     ["part"], [], ["x", 0, 1], ["part", 1, 0], ["part", " 1x", "2.7"]].map { |args| adb.misc("getpart", args) }
  end
  show("misc iterate") { [adb.misc("iterinit", []), adb.misc("iterinit", ["part"]), adb.misc("iternext", [])] }
  show("misc regex") { ["^p[^0-9]", "^P[^0-9]", "*^P[^0-9]", "("].map { |pattern| adb.misc("regex", [pattern]) } }
  show("misc regex max") { [adb.misc("regex", ["^m", 1]).size, listed(adb.misc("regex", ["^m", "0"]).each_slice(2).to_a), adb.misc("regex", [])] }
  show("misc range") do
    put_all(adb, "r1", "r2", "r3", "s")
    [["r"], ["r2"], ["r", 2], ["r1", "0", "r3"], ["r1", "-1", "r3"]].map { |args| adb.misc("range", args) }
  end
  show("misc others") { %w[fwmkeys vsiz rnum size search foo].map { |name| adb.misc(name, ["x"]) } }
  show("misc of files") { %w[cacheclear defrag].map { |name| adb.misc(name, []) } }
  show("misc sync") { [adb.misc("sync", []), adb.misc("optimize", [])] }
  show("misc String") { adb.misc("get", "a") }
  show("misc three") { adb.misc("get", "a", "b") }
  show("misc Symbol") { adb.misc(:get, ["a"]) }
  show("misc Float") { adb.misc("get", [1.5]) }
  show("misc nil") { adb.misc(nil, []) }
  show("misc vanish") { [adb.misc("vanish", []), adb.rnum] }
end

def keeping(adb)
  show("counts") { put_all(adb, "a", "b"); [adb.rnum, adb.length, adb.empty?, adb.size.is_a?(Integer)] }
  show("no transaction") { [adb.tranabort, adb.trancommit] }
  show("abort") { [adb.tranbegin, adb.put("t", "1"), adb.rnum, adb.tranabort, adb.rnum] }
  show("commit") { [adb.tranbegin, adb.put("u", "1"), adb.trancommit, adb.rnum, adb.trancommit] }
  show("in a transaction") { [adb.tranbegin, adb.sync, adb.tranabort] }
  show("sync") { adb.sync }
  show("optimize") { [adb.optimize, adb.optimize(nil), adb.optimize("bnum=100"), adb.rnum] }
  show("optimize two") { adb.optimize("a", "b") }
  show("copy") { [adb.copy("copy_#{@name}"), adb.copy("missing/copy_#{@name}")] } unless @name == "*"
  show("copy nil") { adb.copy(nil) }
  show("second") { @in_file && @adb_class.new.open(@name) }
  show("clear") { [adb.clear, adb.vanish, adb.rnum] }
  show("close with a transaction") { adb.put("kept", "1"); [adb.tranbegin, adb.put("not", "1"), adb.close, adb.close] }
  show("open again") { [adb.open(@name), adb.keys.first(@in_file ? 2 : 0), adb.close] }
  show("the copy") { adb.open("copy_#{@name}#mode=r") && [listed(adb.keys), adb.close] } if @in_file
end

not_open
opening
adb = @adb_class.new
adb.open(@name) || abort("the table was not opened")
putting(adb)
getting(adb)
prefixes(adb)
adding(adb)
walking(adb)
functions(adb)
keeping(adb)
