# frozen_string_literal: true

require_relative "../paths"
require_relative "../side"

module Bench
  module Suites
    # The programs that the rows of tables compare. Each takes a task, as workload/tables.rb and the crate
    # table-workload name them.
    module TableSides
      TOKYO_ENGINES = {
        "*" => "tc-hash", "+" => "tc-tree", "x.tch" => "tc-hash-file", "x.tcb" => "tc-tree-file"
      }.freeze

      private

      def ours(task, engine)
        part = engine.start_with?("hash") ? :hash_table : :tree_table
        side(task, "ours, #{engine}", part, [Paths::RUBY, Paths.ours("tables.rb"), task, engine],
             Paths::GEM_ENVIRONMENT)
      end

      def native(task, engine)
        side(task, "ours, native #{engine}", nil, [Paths.executable("tables"), task, engine])
      end

      def through_c(task, engine)
        side(task, "ours, #{engine} through C", :c_library, [Paths::C_TABLES, task, engine])
      end

      def ruby_hash(task)
        ruby_peer(task, "hash", "Hash")
      end

      def tokyo(task, kind)
        ruby_peer(task, TOKYO_ENGINES.fetch(kind), "TC #{kind.delete_prefix('x')}", :tokyo)
      end

      def kyoto(task, kind)
        ruby_peer(task, kind == ":" ? "kc-hash" : "kc-tree", "KC #{kind}", :kyoto)
      end

      def ruby_peer(task, engine, name, needs = nil)
        side(task, name, needs, [Paths::RUBY, Paths.peer("tables.rb"), task, engine])
      end

      def perl(task, engine)
        name, needs = engine == "hash" ? ["Perl hash", :perl] : ["TC * from Perl", :perl_tokyo]
        side(task, name, needs, ["perl", Paths.peer("tables.pl"), task, engine])
      end

      def dict(task)
        side(task, "Python dict", :python, ["python3", Paths.peer("tables.py"), task, "dict"])
      end

      def rust(task, engine, name)
        side(task, name, nil, [Paths.executable("rust-tables"), task, engine])
      end

      def tkrzw(task, engine, name)
        side(task, name, :tkrzw, [Paths::TKRZW, task, engine])
      end
    end
  end
end
