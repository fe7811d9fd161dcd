# frozen_string_literal: true

# Builds the extension with cargo. RubyGems has a builder for Rust too, but it differs from version to
# version and leaves the whole build behind; a Makefile works the same from RubyGems 3.3 on.
require "rbconfig"

def abort_with(problem, *remedy)
  abort ["bytewright: #{problem}", *remedy].join("\n  ")
end

def runs?(command)
  system(command, "--version", out: File::NULL, err: File::NULL)
end

cargo = ENV.fetch("CARGO", "cargo")
unless runs?(cargo)
  abort_with "expected Rust's cargo to build the extension, found none on the PATH.",
             "Install Rust 1.90 or later from https://rustup.rs and try again."
end

# rb-sys reads Ruby's headers through libclang.
clang = ENV["LIBCLANG_PATH"] || runs?("clang") || Dir["/usr/lib/{llvm-*/lib,*}/libclang*.so*"].any?
unless clang
  abort_with "expected libclang to read Ruby's headers, found none.",
             "Debian and Ubuntu: apt-get install clang libclang-dev",
             "Fedora: dnf install clang-devel    macOS: xcode-select --install"
end

library = RbConfig::CONFIG["SOEXT"]
File.write("Makefile", <<~MAKEFILE)
  CARGO = #{cargo}
  MANIFEST = #{File.join(__dir__, "Cargo.toml")}
  CARGO_TARGET_DIR ?= #{File.join(Dir.pwd, "target")}
  export CARGO_TARGET_DIR
  # rb-sys builds against the Ruby that this names.
  export RUBY = #{RbConfig.ruby}
  sitearchdir = #{RbConfig::CONFIG["sitearchdir"]}
  DLEXT = #{RbConfig::CONFIG["DLEXT"]}
  BUILT = $(CARGO_TARGET_DIR)/release/libbytewright_ruby.#{library}

  # Not --locked: the lock names the crates of other faces, which the gem does not carry. Versions stay as it says.
  all:
  \t$(CARGO) build --release --quiet --manifest-path $(MANIFEST)

  # From where it was built: RubyGems keeps two copies, and a third beside this file would stay.
  install: all
  \tmkdir -p $(DESTDIR)$(sitearchdir)/bytewright
  \tcp $(BUILT) $(DESTDIR)$(sitearchdir)/bytewright/bytewright.$(DLEXT)
  \trm -rf #{File.join(Dir.pwd, "target")}

  # The build is kept: RubyGems cleans before it makes, and a second build would cost minutes.
  clean:

  .PHONY: all install clean
MAKEFILE
