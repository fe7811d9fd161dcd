# frozen_string_literal: true

# Packs the platform gem: packages/platform_gem.rb OUT LIBRARIES [PAPERS [PLATFORM]], where LIBRARIES has 3.1/bytewright.so and so
# on, and PAPERS the files that tell what is linked into them (packages/licenses.py), for the root of the gem. PLATFORM is that of
# this machine unless it is named, as in aarch64-linux-gnu.

require "fileutils"
require "rubygems/package"
require "tmpdir"

# The source gem's specification without what it is built from, and with a library for each minor version of Ruby.
class PlatformGem
  # Patch releases of a minor version that are excluded where it has no library. RubyGems then takes the source gem; it
  # has no shorter way to say so. No minor version has had that many.
  PATCHES_MAX = 30

  def initialize(source, libraries, papers, platform)
    @spec = source
    @libraries = libraries
    @papers = papers
    # By its parts, because RubyGems before 3.3.22 leaves out the C library when it reads "gnu" in a name.
    @platform = platform ? platform.split("-") : [Gem::Platform.local.cpu, Gem::Platform.local.os]
    @minors = Dir.children(libraries).sort_by { |minor| Gem::Version.new(minor) }
  end

  def pack(out)
    Dir.mktmpdir do |stage|
      @spec.platform = Gem::Platform.new(@platform)
      @spec.extensions.clear
      @spec.files = @spec.files.reject { |file| file.match?(%r{\A(?:Cargo\.|core/|cli/|samples/|ruby/ext/)}) } + libraries(stage) + papers(stage)
      @spec.required_ruby_version = Gem::Requirement.new(*requirements)
      @spec.files.each { |file| copy(file, stage) }
      Dir.chdir(stage) { FileUtils.mv(Gem::Package.build(@spec), out) }
    end
  end

  private

  def requirements
    absent = between(@minors.first, @minors.last) - @minors
    excluded = absent.flat_map { |minor| (0..PATCHES_MAX).map { |patch| "!= #{minor}.#{patch}" } }
    [">= #{@minors.first}", "< #{Gem::Version.new("#{@minors.last}.0").bump}.dev", *excluded]
  end

  # Minor versions from one to the other. After 3.4 comes 4.0.
  def between(first, last)
    all = %w[3.1 3.2 3.3 3.4 4.0] | @minors
    all[all.index(first)..all.index(last)]
  end

  def libraries(stage)
    @minors.map do |minor|
      "ruby/lib/bytewright/#{minor}/bytewright.so".tap do |file|
        FileUtils.mkdir_p(File.dirname(File.join(stage, file)))
        FileUtils.cp(File.join(@libraries, minor, "bytewright.so"), File.join(stage, file))
      end
    end
  end

  def papers(stage)
    return [] unless @papers

    Dir.children(@papers).sort.each { |file| FileUtils.cp(File.join(@papers, file), stage) }
  end

  def copy(file, stage)
    target = File.join(stage, file)
    return if File.exist?(target)

    FileUtils.mkdir_p(File.dirname(target))
    FileUtils.cp(file, target)
  end
end

out, libraries, papers = ARGV.first(3).map { |path| File.expand_path(path) }
abort "usage: packages/platform_gem.rb OUT LIBRARIES [PAPERS [PLATFORM]]" unless libraries
Gem::DefaultUserInteraction.ui = Gem::SilentUI.new
PlatformGem.new(Gem::Specification.load("ruby/bytewright.gemspec"), libraries, papers, ARGV[3]).pack(out)
