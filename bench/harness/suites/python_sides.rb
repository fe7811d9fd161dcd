# frozen_string_literal: true

require_relative "../paths"
require_relative "../side"

module Bench
  module Suites
    # The programs that the rows of Python compare. All run in one interpreter, with the wheel and the peers in its environment.
    module PythonSides
      CLASSES = { "PYTHONPATH" => Paths::THRIFT_CLASSES }.freeze

      private

      # Whole processes.

      def capture(task, needs: :wheel, answered_by: nil)
        Side.new(name: "ours, #{task}", needs: needs, command: python(Paths.ours("captures.py"), task),
                 answer_command: (python(Paths.ours("captures.py"), answered_by) if answered_by))
      end

      def core_columns
        Side.new(name: "the core's columns", command: ->(path) { [Paths.executable("columns"), "columns", path] })
      end

      def command
        Side.new(name: "the command", needs: :command,
                 command: ->(path) { [Paths::COMMAND, "packets", path, "--group-by", "dst_port", "--csv"] })
      end

      def dpkt(task)
        Side.new(name: "dpkt, #{task}", needs: :dpkt, command: python(Paths.peer("dpkt.py"), task))
      end

      def scapy
        Side.new(name: "scapy", needs: :scapy, command: python(Paths.peer("scapy.py")))
      end

      def python(*command)
        ->(path) { [Paths::VENV_PYTHON, *command, path] }
      end

      # Programs that measure themselves.

      def ours(task, engine)
        side(task, "ours, #{engine}", :wheel, [Paths::VENV_PYTHON, Paths.ours("tables.py"), task, engine])
      end

      def theirs(task, engine, name, needs = :python_environment)
        side(task, name, needs, [Paths::VENV_PYTHON, Paths.peer("tables.py"), task, engine])
      end

      # Programs of several processes, which no core is given.

      def of_processes(task, engine)
        Side.new(name: "#{task}: ours, #{engine}", needs: :wheel, measures_itself: true,
                 command: python(Paths.ours("tables.py"), task, engine))
      end

      def peers_of_processes(task, engine)
        Side.new(name: "#{task}: #{engine}", needs: :python_environment, measures_itself: true,
                 command: python(Paths.peer("tables.py"), task, engine))
      end

      def messages(task, library)
        side(task, "ours, classes of #{library}", { "thrift" => :wheel_thrift, "thriftpy2" => :wheel_thriftpy2, "idl" => :wheel }.fetch(library),
             [Paths::VENV_PYTHON, Paths.ours("messages.py"), task, library], CLASSES)
      end

      def message_peer(task, library, name)
        side(task, name, { "thrift" => :thrift_python, "thriftpy2" => :thriftpy2, "pyarrow" => :pyarrow }.fetch(library),
             [Paths::VENV_PYTHON, Paths.peer("messages.py"), task, library], CLASSES)
      end

      def record_reader(task)
        side(task, "ours, records", :wheel, [Paths::VENV_PYTHON, Paths.ours("records.py"), task])
      end

      def struct_loop(task)
        side(task, "struct.iter_unpack", :python_environment, [Paths::VENV_PYTHON, Paths.peer("records.py"), task])
      end

      # The wheel may be built later than this is made.
      def package_figure(task)
        command = [Paths::VENV_PYTHON, Paths.ours("package.py"), task]
        Side.new(name: "#{task}: ours, package", needs: :wheel, measures_itself: true,
                 command: ->(path) { [*pin, *command, path, Paths.wheel] })
      end
    end
  end
end
