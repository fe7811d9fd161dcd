# frozen_string_literal: true

# Built from the root of the repository (`gem build ruby/bytewright.gemspec`), so that core, cli and ruby are packed where
# they stand and Cargo finds them as it does in the repository. Bundler uses the repository as it is, for which a gem is
# the folder of this file.
root = File.expand_path("..", __dir__)
is_packed = File.identical?(Dir.pwd, root)
unless is_packed || defined?(Bundler)
  raise "expected the folder #{root}, found #{Dir.pwd}; there, run: gem build ruby/bytewright.gemspec"
end

ruby = is_packed ? "ruby/" : ""

Gem::Specification.new do |spec|
  spec.name = "bytewright"
  # The version has one home, the workspace's Cargo.toml.
  spec.version = File.read(File.join(root, "Cargo.toml"), encoding: "UTF-8")[/^version = "(.+)"/, 1]
  spec.summary = "Reads, decodes and keeps bulk binary data at native speed"
  spec.description = "Packet captures (pcap and pcapng, plain, gzip or zstd) to header fields, columns, flows and Thrift " \
                     "calls in one pass; Thrift messages; hashed and ordered tables in memory or in a file; PStore " \
                     "that reads and writes only what changed; a buffered reader and writer of binary files."
  spec.authors = ["The Bytewright authors"]
  spec.license = "MIT"
  spec.required_ruby_version = ">= 3.1"

  shared = [
    "Cargo.{toml,lock}", "LICENSE", "{README,CHANGELOG,ARCHITECTURE,CONTRIBUTING,SECURITY}.md", "docs/**/*.{md,svg}",
    "core/Cargo.toml", "core/src/**/*.{rs,html,css,js}",
    "cli/Cargo.toml", "cli/src/**/*.rs", "samples/web.pcap.gz"
  ]
  own = ["ext/**/*.{rb,rs,toml}", "lib/**/*.rb", "sig/**/*.rbs", "ri/native.rb", "exe/*"]
  spec.files = (is_packed ? Dir.glob(shared, base: root) : []) + Dir.glob(own, base: __dir__).map { |file| ruby + file }
  # RubyGems names the folder of the extension too, which is all of ruby/: the rdoc of Ruby 3.3 stops at a file that it reads twice.
  spec.rdoc_options = ["--exclude", "\\A#{ruby.chomp("/")}\\z"] if is_packed
  spec.extra_rdoc_files = ["#{ruby}ri/native.rb"]
  spec.require_paths = ["#{ruby}lib"]
  spec.bindir = "#{ruby}exe"
  spec.executables = ["bytewright"]
  spec.extensions = ["#{ruby}ext/bytewright/extconf.rb"]
  spec.metadata["rubygems_mfa_required"] = "true"
end
