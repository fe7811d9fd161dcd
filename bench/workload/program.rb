# frozen_string_literal: true

require "json"

# Common part of the programs of all workloads: how they are called, and how they answer.
module WorkloadProgram
  # Does a task and prints its answer as a line of JSON.
  #
  # tasks::     a class made of an engine and a path, whose NAMES are what its +run+ takes; LENGTH in them stands for a
  #             number
  # engines::   name -> engine
  # arguments:: task, name of an engine, path
  # input::     what the path leads to, for the usage
  def self.run(tasks, engines, arguments, input)
    task, name, path = arguments
    engine = engines[name]
    unless tasks::NAMES.include?(task&.sub(/\d+\z/, "LENGTH")) && engine && path
      abort "usage: #{$PROGRAM_NAME} #{tasks::NAMES.join('|')} #{engines.keys.join('|')} #{input}"
    end
    puts JSON.generate(tasks.new(engine, path).run(task))
  end
end
