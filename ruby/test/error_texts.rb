# frozen_string_literal: true

require "ripper"
require "strscan"

# The texts of every error that the sources make, with "…" for what is only known when it happens.
#
# It reads the sources as text, not as a compiler does: a call that makes an error is looked at with its arguments, and
# the strings in them are put together as the one who is called puts them together. Functions that give an error
# (`fn damaged(...) -> Error`) count as calls of that kind, wherever they are called. What a variable holds is looked for
# in the same function.
module ErrorTexts
  ROOT = File.expand_path("../..", __dir__)
  UNKNOWN = "…"

  # A text with the class that Ruby raises, and the file that has it.
  Found = Struct.new(:error, :text, :file)

  # All of them, each once.
  def self.all
    rust = Dir[File.join(ROOT, "{core,cli}/src/**/*.rs"), File.join(ROOT, "ruby/ext/bytewright/src/**/*.rs")].sort
    ruby = Dir[File.join(ROOT, "ruby/lib/**/*.rb")].sort
    perl = Dir[File.join(ROOT, "perl/lib/**/*.pm"), File.join(ROOT, "perl/xs/*")].sort
    found = RustSources.new(rust).errors + ruby.flat_map { |file| RubySource.new(file).errors } +
            perl.flat_map { |file| PerlSource.new(file).errors }
    found.map { |one| Found.new(one.error, tidy(one.text), one.file.delete_prefix("#{ROOT}/")) }
         .reject { |one| one.text.delete("… :,.;()'`").empty? }.uniq { |one| [one.error, one.text] }
  end

  def self.tidy(text)
    text.gsub(/\s+/, " ").gsub(/…(?:\s*…)+/, UNKNOWN).strip
  end

  # Every way to take one of each list.
  def self.combinations(lists)
    return [[]] if lists.empty?

    lists.first.product(*lists.drop(1))
  end

  # Words, strings and signs of a Rust source; comments, and the tests in it, are left out.
  class RustTokens
    # For a bracket that opens, `span` is how many tokens there are until behind the one that closes it.
    Token = Struct.new(:kind, :text, :span)
    OPENING = %w|( [ {|.freeze
    CLOSING = %w|) ] }|.freeze
    CHARACTER = /b?'(?:\\(?:u\{\h+\}|x\h\h|.)|[^'\\])'/
    ESCAPES = { "n" => "\n", "t" => "\t", "0" => "\0", "r" => "\r" }.freeze

    def self.of(source)
      new(source).tokens
    end

    def initialize(source)
      @scanner = StringScanner.new(source.sub(/^#\[cfg\(test\)\]\n(?:#\[[^\n]*\]\n)*mod \w+ \{.*\z/m, ""))
    end

    def tokens
      tokens = []
      until @scanner.eos?
        token = one
        tokens << token if token
      end
      measure_groups(tokens)
      tokens
    end

    private

    def measure_groups(tokens)
      open = []
      tokens.each_with_index do |token, at|
        next unless token.kind == :sign

        open << at if OPENING.include?(token.text)
        next unless CLOSING.include?(token.text) && (opening = open.pop)

        tokens[opening].span = at + 1 - opening
      end
    end

    def one
      if @scanner.skip(%r{\s+|//[^\n]*|/\*.*?\*/}m) then nil
      elsif @scanner.scan(/b?r(#*)"(.*?)"\1/m) then Token.new(:string, @scanner[2])
      elsif @scanner.scan(/b?"((?:\\.|[^"\\])*)"/m) then Token.new(:string, unescape(@scanner[1]))
      elsif @scanner.skip(CHARACTER) then Token.new(:sign, "'")
      elsif @scanner.scan(/'?\w+!?(?!=)|\w+/) then Token.new(:word, @scanner.matched)
      elsif @scanner.scan(/::|->|=>|==|!=|<=|>=|&&|\|\|/) then Token.new(:sign, @scanner.matched)
      else
        Token.new(:sign, @scanner.getch)
      end
    end

    def unescape(text)
      text.gsub(/\\\n\s*/, "").gsub(/\\(.)/m) { ESCAPES.fetch($1, $1) }
    end
  end

  # A function of a Rust source: its name, its parameters' names with their types, and its tokens.
  Function = Struct.new(:name, :parameters, :body, :file) do
    # Where in the body a token of it stands.
    def place(token)
      @places ||= body.each_with_index.to_h { |one, at| [one.object_id, at] }
      @places.fetch(token.object_id, body.size)
    end
  end

  # A call that makes an error, or that gives a text to a function that does: what is called, and the tokens of each
  # argument.
  Call = Struct.new(:name, :arguments, :is_constructor)

  # The errors of Rust sources.
  class RustSources
    # What the core's constructors make of their arguments, and of which class.
    MADE = {
      "format" => ["expected %s, found %s", "FormatError"],
      "truncated" => ["expected %s of #{UNKNOWN} bytes, found #{UNKNOWN} before the input ends", "TruncatedError"],
      "limit" => ["expected %s of at most %s, found %s", "LimitError"],
      "io" => ["cannot %s: #{UNKNOWN}", "Errno"],
      "internal" => ["a defect in Bytewright, please report it: %s", "InternalError"]
    }.freeze
    # Kinds whose classes in Ruby have other names than theirs with "Error" behind.
    CLASSES = { "Io" => "Errno" }.freeze
    RUBY_CLASSES = { "arg" => "ArgumentError", "type" => "TypeError", "range" => "RangeError", "eof" => "EOFError",
                     "key" => "KeyError", "runtime" => "RuntimeError", "io" => "IOError" }.freeze
    TEXT_TYPES = /&.*str$|String|Display|Arguments|ErrorKind/
    # Reasons whose texts become those of errors of several classes.
    REASONS = File.join(ROOT, "core/src/marshal/refusal.rs")
    # Functions that answer what they are given, or what their block does.
    PASSING_ON = %w[from into map map_or map_or_else ok_or_else then then_some Some Ok].freeze
    DEPTH_MAX = 5

    def initialize(files)
      # The constructors themselves are what all else is read by.
      files -= [File.join(ROOT, "core/src/error.rs")]
      @functions = files.flat_map { |file| functions_of(file, RustTokens.of(File.read(file, encoding: Encoding::UTF_8))) }
      @passing_by_name = {}
      # Whoever gives its text to one that passes it on passes one on, too.
      loop do
        passing = @functions.select { |function| passes_text?(function) }
        break if passing.size == @passing_by_name.values.sum(&:size)

        @passing_by_name = passing.group_by(&:name)
      end
      @calls = {}
    end

    def errors
      called = {}
      passing = @passing_by_name.values.flatten.to_h { |function| [function.object_id, function] }
      own = @functions.reject { |function| passing.key?(function.object_id) }
      found = own.flat_map { |function| made_in(function, {}, 0, called) }
      uncalled = passing.values.reject { |function| called[function.object_id] }
      found + uncalled.flat_map { |function| made_in(function, {}, 0, called) } + reasons
    end

    private

    def reasons
      shown = @functions.find { |function| function.file == REASONS && function.name == "fmt" }
      texts = shown ? alternatives(shown.body, shown, {}) : []
      texts.map { |text| Found.new("as its cause", text, REASONS) }
    end

    def functions_of(file, tokens)
      tokens.each_index.select { |at| tokens[at].text == "fn" && tokens[at + 1]&.kind == :word }.filter_map do |at|
        opening = (at..).find { |place| tokens[place].text == "(" }
        closing = past_group(tokens, opening)
        body = (closing..).find { |place| ["{", ";"].include?(tokens[place].text) }
        next if tokens[body].text == ";"

        parameters = split(tokens[opening + 1...closing - 1]).filter_map { |part| parameter(part) }
        Function.new(tokens[at + 1].text, parameters.to_h, tokens[body + 1...past_group(tokens, body) - 1], file)
      end
    end

    def parameter(tokens)
      colon = tokens.index { |token| token.text == ":" }
      colon && [tokens[colon - 1].text, tokens.drop(colon + 1).map(&:text).join]
    end

    # The place behind the group that opens at `at`.
    def past_group(tokens, at)
      at + tokens[at].span
    end

    # The parts between commas that are in no group.
    def split(tokens)
      parts, place = [[]], 0
      while place < tokens.size
        ending = group?(tokens[place]) ? past_group(tokens, place) : place + 1
        tokens[place].kind == :sign && tokens[place].text == "," ? parts << [] : parts.last.concat(tokens[place...ending])
        place = ending
      end
      parts.reject(&:empty?)
    end

    def group?(token)
      !token.span.nil?
    end

    # Whether a text that this function is given becomes part of an error.
    def passes_text?(function)
      texts = function.parameters.select { |_, type| type.match?(TEXT_TYPES) || type.match?(/\A[A-Z]\z/) }.keys
      return false if texts.empty?

      calls_in(function).any? do |call|
        call.arguments.flatten.any? { |token| mentions?(token, texts) }
      end
    end

    def mentions?(token, names)
      return names.include?(token.text) if token.kind == :word

      token.kind == :string && token.text.scan(/\{(\w+)/).flatten.any? { |name| names.include?(name) }
    end

    def calls_in(function)
      tokens = function.body
      tokens.each_index.filter_map do |at|
        next Call.new("new", split(tokens[at + 1...past_group(tokens, at) - 1]), true) if kind_and_text?(tokens, at)
        next unless tokens[at].kind == :word && tokens[at + 1]&.text == "(" && tokens[at - 1]&.text != "fn"

        constructor = constructor?(tokens, at)
        next unless constructor || usage?(function, at) || @passing_by_name.key?(tokens[at].text)

        arguments = split(tokens[at + 2...past_group(tokens, at + 1) - 1])
        Call.new(tokens[at].text, arguments, constructor || usage?(function, at))
      end
    end

    def constructor?(tokens, at)
      return false unless at >= 2 && tokens[at - 1].text == "::" && tokens[at - 2].text == "Error"

      (tokens[at].text == "new" || MADE.key?(tokens[at].text)) && !(at >= 4 && tokens[at - 4].text == "io")
    end

    # Whether a kind and a text stand there in a pair, for an error that is made of it elsewhere.
    def kind_and_text?(tokens, at)
      return false if tokens[at].text != "(" || tokens[at - 1].kind == :word

      tokens[at + 1]&.text == "ErrorKind" && tokens[at + 4]&.text == ","
    end

    # Whether it makes an error of clap's, for a command line that is wrong.
    def usage?(function, at)
      return false unless function.file.include?("/cli/")

      words = function.body.values_at(at - 1, at, at + 2).map { |token| token&.text }
      words[0] == "." && words[1] == "error" && %w[ErrorKind kind].include?(words[2])
    end

    # The errors that a function makes where its parameters are `given`.
    def made_in(function, given, depth, called)
      return [] if depth > DEPTH_MAX

      calls = (@calls[function.object_id] ||= calls_in(function))
      calls.flat_map do |call|
        next constructed(call, function, given) if call.is_constructor

        target = target(call, function) or next []
        called[target.object_id] = true
        values = call.arguments.map do |argument|
          [alternatives(argument, function, given), classes(argument, function, given)]
        end
        made = made_in(target, target.parameters.keys.zip(values).to_h.compact, depth + 1, called)
        # They belong to the file that words them.
        made.each { |found| found.file = function.file } if call.arguments.flatten.any? { |token| token.kind == :string }
        made
      end
    end

    # The function that a call means: that of the file, of the folder, of any.
    def target(call, function)
      candidates = @passing_by_name.fetch(call.name, []).select { |one| one.parameters.size == call.arguments.size }
      candidates.find { |one| one.file == function.file } ||
        candidates.find { |one| File.dirname(one.file) == File.dirname(function.file) } ||
        (candidates.first if candidates.size == 1 && call.name != "new")
    end

    def constructed(call, function, given)
      if %w[new error].include?(call.name)
        texts = call.arguments.size > 1 ? alternatives(call.arguments[1], function, given) : []
        classes = call.name == "error" ? ["usage"] : classes(call.arguments[0], function, given)
      else
        text, name = MADE.fetch(call.name)
        lists = call.arguments.first(text.scan("%s").size).map { |argument| alternatives(argument, function, given) }
        texts = ErrorTexts.combinations(lists).map { |parts| text.gsub("%s") { parts.shift } }
        classes = [name]
      end
      texts.product(classes).map { |text_of_it, name_of_it| Found.new(name_of_it, text_of_it, function.file) }
    end

    # The classes in Ruby that the first argument of `Error::new` names.
    def classes(tokens, function, given)
      words = tokens.map(&:text)
      kinds = words.each_cons(3).select { |first, sign, _| first == "ErrorKind" && sign == "::" }.map(&:last)
      return kinds.map { |kind| CLASSES.fetch(kind, "#{kind}Error") } unless kinds.empty?

      ruby = words.filter_map { |word| RUBY_CLASSES[word[/\Aexception_(\w+?)(?:_error)?\z/, 1]] }
      return ruby unless ruby.empty?

      return given[words[0]][1] if words.size == 1 && given.key?(words[0])

      value = words.size == 1 && local(words[0], tokens[0], function)
      value ? classes(value, function, given) : ["as its cause"]
    end

    # The texts that an expression may have.
    def alternatives(tokens, function, given, depth = 0)
      return [UNKNOWN] if depth > DEPTH_MAX

      texts, place = [], 0
      while place < tokens.size
        token, behind = tokens[place], place + 1
        if token.kind == :word && %w[format! format_args!].include?(token.text)
          behind = past_group(tokens, place + 1)
          texts.concat(formatted(split(tokens[place + 2...behind - 1]), function, given, depth))
        elsif token.kind == :word && token.text == "write!"
          behind = past_group(tokens, place + 1)
          texts.concat(formatted(split(tokens[place + 2...behind - 1]).drop(1), function, given, depth))
        elsif token.kind == :word && %w[if match matches!].include?(token.text)
          # What it asks about is not what it gives.
          behind = (place..).find { |at| tokens[at].nil? || tokens[at].text == (token.text == "matches!" ? ")" : "{") }
        elsif token.text == "join" || constructor?(tokens, place) || (depth > 0 && gives_other?(tokens, place))
          # What stands between parts says nothing, an error is looked at for itself, and what a function is asked with
          # is not what it answers.
          behind = past_group(tokens, place + 1)
        elsif token.kind == :string
          texts << token.text unless ["=>", "|"].include?(tokens[behind]&.text)
        end
        place = behind
      end
      texts.empty? ? value_of(tokens, function, given, depth) : texts.uniq
    end

    # Whether a function is called there whose answer is none of the texts that it is given.
    def gives_other?(tokens, place)
      tokens[place].kind == :word && tokens[place + 1]&.text == "(" && !PASSING_ON.include?(tokens[place].text)
    end

    # What a format string says.
    def formatted(arguments, function, given, depth)
      string = arguments.shift&.first
      return [UNKNOWN] unless string&.kind == :string

      parts = string.text.split(/(\{\{|\}\}|\{[^}]*\})/).map do |part|
        next [part[0]] if %w[{{ }}].include?(part)
        next [part] unless part.start_with?("{")

        name = part[/\A\{(\w+)/, 1]
        name ? variable(name, string, function, given, depth) : alternatives(arguments.shift || [], function, given, depth + 1)
      end
      ErrorTexts.combinations(parts).map(&:join)
    end

    # An expression without a string: a variable, maybe with a method behind.
    def value_of(tokens, function, given, depth)
      words = tokens.select { |token| token.kind == :word }
      words.empty? ? [UNKNOWN] : variable(words.first.text, words.first, function, given, depth)
    end

    # What a variable has where the token `from` names it.
    def variable(name, from, function, given, depth)
      return given[name][0] if given.key?(name)

      value = local(name, from, function)
      value&.any? { |token| token.kind == :string } ? alternatives(value, function, given, depth + 1) : [UNKNOWN]
    end

    # What a variable of the function is made of, the last one before the token `from`.
    def local(name, from, function)
      tokens = function.body
      at = (0...function.place(from)).reverse_each.find do |place|
        tokens[place].text == "let" && tokens[place + 1]&.text == name
      end
      return unless at && tokens[at + 2]&.text == "="

      ending = at + 3
      ending = group?(tokens[ending]) ? past_group(tokens, ending) : ending + 1 until [nil, ";"].include?(tokens[ending]&.text)
      value = tokens[at + 3...ending]
      value unless value.each_index.any? { |place| constructor?(value, place) }
    end
  end

  # The errors that a Ruby source raises.
  class RubySource
    # Names that say little by themselves, and what becomes of those that stay within the library.
    CLASSES = { "Error" => "PStore::Error", "Unfit" => "ArgumentError", "ENOENT" => "Errno",
                "ApplicationException" => "Thrift::ApplicationException" }.freeze

    def initialize(file)
      @file = file
      @tree = Ripper.sexp(File.read(file, encoding: Encoding::UTF_8))
    end

    def errors
      found = []
      walk(@tree) do |node|
        arguments = raised(node)
        found.concat(errors_of(arguments)) if arguments
      end
      found
    end

    private

    def walk(node, &block)
      return unless node.is_a?(Array)

      yield node
      node.each { |child| walk(child, &block) }
    end

    # The arguments of `raise`, or nil.
    def raised(node)
      case node
      in [:command, [:@ident, "raise", _], arguments] then arguments
      in [:method_add_arg, [:fcall, [:@ident, "raise", _]], arguments] then arguments
      else nil
      end
    end

    def errors_of(arguments)
      names, texts = [], []
      walk(arguments) do |node|
        names << node[1] if node[0] == :@const
        texts << text(node) if node[0] == :string_literal
      end
      # A class within a namespace is named behind it.
      name = names.reject { |one| %w[Bytewright Thrift Errno].include?(one) }.first || "as its cause"
      texts.first(1).map { |text| Found.new(CLASSES.fetch(name, name), text, @file) }
    end

    def text(node)
      node[1].drop(1).map { |part| part[0] == :@tstring_content ? part[1] : UNKNOWN }.join
    end
  end

  # The errors that a source of the Perl face dies with: by functions of Bytewright::Error in Perl, by `die_with` in C.
  class PerlSource
    STRING = /"((?:\\.|[^"\\])*)"/
    CALL = /
      \b_refuse\(\s*#{STRING} | \b_new\(\s*"(\w+)",\s*#{STRING} |
      \bdie_with\(aTHX_\s+"(\w+)",\s*((?:"(?:\\.|[^"\\])*"|\s|\w)+)
    /x
    IN_PERL = /@\{\[.*?\]\}|[$@]\w+(?:::\w+)*(?:->)?(?:\[[^\]]*\]|\{[^}]*\})*/
    # What the macros of perl.h stand for is between two strings.
    IN_C = /%[-+0-9.#]*(?:"\s*\w+\s*(?:"|\z)|\w)/

    def initialize(file)
      @file = file
      @source = File.read(file, encoding: Encoding::UTF_8).sub(/^__END__$.*/m, "")
    end

    def errors
      @source.scan(CALL).map do |refused, kind, text, kind_in_c, text_in_c|
        next Found.new(name_of(kind_in_c), unescape(in_c(text_in_c)), @file) if kind_in_c

        Found.new(name_of(kind || "argument"), unescape((refused || text).gsub(IN_PERL, UNKNOWN)), @file)
      end
    end

    private

    def name_of(kind)
      "#{kind.split("_").map(&:capitalize).join}Error"
    end

    def in_c(strings)
      strings.gsub(IN_C, UNKNOWN).strip.delete_prefix('"').delete_suffix('"').gsub(/"\s*"/, "")
    end

    def unescape(text)
      text.gsub(/\\(.)/) { $1 }
    end
  end
end
