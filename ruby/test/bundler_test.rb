# frozen_string_literal: true

require_relative "test_case"
require "fileutils"

# Goal: a Gemfile can name the repository, as a folder or by git, wherever Bundler is run.
#
# Method: the files of the gem in a repository of their own, a Gemfile in a folder beside it, and in place of cargo a
# command that gives the extension of these tests.
class BundlerTest < TestCase
  BUNDLE = [RbConfig.ruby, "-W0", "-e", 'require "bundler"; require "bundler/cli"; Bundler::CLI.start(ARGV)', "--"].freeze
  HAS_BUNDLER = system(*BUNDLE, "--version", out: File::NULL, err: File::NULL)
  USE = 'require "bytewright"; print [Bytewright::HashTable.new({ "a" => "1" })["a"], $LOADED_FEATURES.grep(/bytewright.so/)].join(" ")'

  def setup
    return if HAS_BUNDLER

    @@told ||= warn("gap: Gemfiles are not tested: Bundler is not installed (apt-get install bundler)") || true # rubocop:disable Style/ClassVars -- once
    skip "Bundler is not installed"
  end

  def extension
    $LOADED_FEATURES.find { |file| file.end_with?("bytewright.so") }
  end

  # The files of the gem.
  def make_repository(folder)
    files = Dir.chdir(ROOT) { Gem::Specification.load("ruby/bytewright.gemspec").files } + ["ruby/bytewright.gemspec"]
    files.each do |file|
      FileUtils.mkdir_p(File.join(folder, File.dirname(file)))
      FileUtils.cp(File.join(ROOT, file), File.join(folder, file))
    end
  end

  def make_cargo(path)
    File.write(path, <<~SH)
      #!/bin/sh
      case "$1" in build) mkdir -p "$CARGO_TARGET_DIR/release" && cp #{extension} "$CARGO_TARGET_DIR/release/libbytewright_ruby.so" ;; esac
    SH
    File.chmod(0o755, path)
  end

  # Without warnings (-W0), also in what Bundler starts: that of Debian sid defines what RubyGems has defined.
  def run_in(folder, *command)
    own = { "BUNDLE_GEMFILE" => File.join(folder, "Gemfile"), "BUNDLE_PATH" => File.join(folder, "gems"), "HOME" => folder,
            "CARGO" => File.join(folder, "cargo"), "RUBYLIB" => nil, "RUBYOPT" => "-W0", "GIT_CONFIG_NOSYSTEM" => "1",
            "BUNDLE_SILENCE_ROOT_WARNING" => "1" }
    said = IO.popen([own, *command, { chdir: folder, err: %i[child out] }], &:read)
    assert_predicate($?, :success?, said)
    said
  end

  # Returns what a program prints that loads the gem through a Gemfile.
  def used_by(gemfile)
    Dir.mktmpdir do |folder|
      folder = File.realpath(folder)
      make_repository(File.join(folder, "repository"))
      make_cargo(File.join(folder, "cargo"))
      yield File.join(folder, "repository")
      File.write(File.join(folder, "Gemfile"), format(gemfile, File.join(folder, "repository")))
      run_in(folder, *BUNDLE, "install")
      assert_match(/\Abytewright \d/, run_in(folder, *BUNDLE, "exec", "bytewright", "--version"))
      run_in(folder, *BUNDLE, "exec", RbConfig.ruby, "-e", USE).sub(folder, "")
    end
  end

  # Bundler builds no extension of a folder, in which the developer does.
  def test_a_folder_is_used_as_it_is
    found = used_by("gem 'bytewright', path: '%s'") do |repository|
      FileUtils.cp(extension, File.join(repository, "ruby/lib/bytewright/bytewright.so"))
    end
    assert_equal("1 /repository/ruby/lib/bytewright/bytewright.so", found)
  end

  def test_a_repository_of_git_is_built_and_used
    skip "git is not installed" unless system("git", "--version", out: File::NULL, err: File::NULL)

    found = used_by("gem 'bytewright', git: 'file://%s'") do |repository|
      as = %w[-c user.name=a -c user.email=a@example.com]
      [%w[init -q], %w[add .], [*as, "commit", "-qm", "a"]].each { |words| assert(system("git", "-C", repository, *words)) }
    end
    assert_match(%r{\A1 /gems/.*/ruby/lib/bytewright/bytewright.so\z}, found)
  end

  def test_packing_elsewhere_says_where_to_pack
    script = "Gem::Specification.load('bytewright.gemspec')"
    said = IO.popen([RbConfig.ruby, "-e", script, { chdir: File.join(ROOT, "ruby"), err: %i[child out] }], &:read)
    assert_match(%r{expected the folder .*, found .*/ruby; there, run: gem build ruby/bytewright.gemspec}, said)
  end
end
