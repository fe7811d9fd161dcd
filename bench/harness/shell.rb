# frozen_string_literal: true

require "open3"

module Bench
  # Runs the commands of the set-up: quiet when they succeed, with their output when they do not.
  module Shell
    class Failed < StandardError; end

    def self.run(*command, environment: {}, folder: Paths::BENCH)
      output, status = Open3.capture2e(environment, *command, chdir: folder)
      return output if status.success?

      raise Failed, "#{command.join(' ')} failed:\n#{output}"
    rescue Errno::ENOENT
      raise Failed, "#{command.first} is not installed"
    end

    def self.succeeds?(*command)
      system(*command, out: File::NULL, err: File::NULL) == true
    end

    def self.command?(name)
      ENV.fetch("PATH", "").split(File::PATH_SEPARATOR).any? do |folder|
        File.executable?(File.join(folder, name))
      end
    end
  end
end
