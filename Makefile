# Every target installs what it lacks (setup.sh, with the part for it) and can be run again at no cost.
#
#   make demo         the main job, on the captures in samples/
#   make quick        what a change breaks most often, in less than a minute: formats, lints, links of the
#                     API's documentation, layers, names, tests beside the code
#   make generate     what languages and documents spell out of the core's tables: docs/options.md, docs/names.md, stubs, signatures;
#                     docs/bounds.md, the promises of formats and tables of pages, of comments in the sources
#   make lint         ruff for Python, RuboCop for Ruby; a part of make quick and make test
#   make test         what must hold of the code: the suites of all languages, over one build
#   make test-all     test, and what takes longer: what is packed (test-packed), test-unsafe, test-bench, test-site,
#                     test-spark, and test-duckdb; .ci/run calls it
#   make test-packed  the suites of the languages again, on the packed gem (most of it while objects are moved), the wheel, the
#                     distribution for Perl and the C library as users build them
#   make bench        ratios against the peers, losing rows too, recorded and put into README.md and docs/benchmarks.md
#                     (bench-flows, -tables, -pstore, -thrift, -io, -perl, -python: one of them, only shown)
#   make bench-spark  the same for Spark, which it installs, so that it is no part of make bench
#   make install-c    the C library, with PREFIX=/usr/local, LIBDIR=/usr/local/lib and DESTDIR=
#   make duckdb       the extension for DuckDB, in target/duckdb; make test-duckdb tests the one of the build for make test
#   make wheel        the wheel for Python, in target/python/wheels
#   make test-spark   what Spark makes of captures, with Java and PySpark in an environment of its own; HEAVY=1: 20 kills, and a capture of 2 GB
#   make perl-dist    the distribution for Perl, in target/perl
#   make packages     the source gem, a gem with libraries for the Rubies of RUBY_RELEASES="trixie experimental" and of this machine, the
#                     wheel, the distribution for Perl, a .deb and a tarball of the command, in pkg/
#   make release VERSION=0.2.0  all checks and packages of a release, committed; it publishes nothing
#   make test-packages  what README and docs/ say about installing, word for word, on new roots; takes root and mmdebstrap
#   make packages-cross  the command as one file that needs no library, and wheels and gems for older and other C libraries, for
#                     x86_64 and aarch64, in pkg/cross; make test-packages-cross runs them, those for aarch64 under qemu, and with
#                     PYTHON=/path/to/python3.14t that for a free-threaded Python
#   make packages-debian  Debian's source package for the command, the C library and the Perl module, in pkg/debian;
#                     make test-packages-debian builds it on sid and uses what comes out
#   make site         the documents and APIs as pages that can be searched without a network, in target/site
#   make wasm         (test-wasm tests it) a page that reads captures by itself, without an installation or a network: target/wasm/bytewright.html
#   make fuzz         SECONDS=60 of each fuzz target
#   make test-orders  the Ruby tests in ORDERS=10 orders, while objects are moved
#   make test-python-threads PYTHON=/path/to/python3.14t  the wheel for a free-threaded Python, and the Python tests with it
#   make test-rubies  all tests in clean roots of RELEASES="bookworm trixie sid", and with RUBIES=/path/to/bin/ruby

SECONDS ?= 60
ORDERS ?= 10
RELEASES ?= bookworm trixie sid
RUBY_RELEASES ?= trixie experimental
RUBY_SOURCES ?=
RUBIES ?=
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
GEM_DIR := $(CURDIR)/target/gems
GEM_BUILD := $(CURDIR)/target/gem-build
BUILD_TESTS := cargo test --quiet --locked --workspace --no-run
GEM_STAMP := $(GEM_DIR)/installed
WHEEL_STAMP := $(CURDIR)/target/python/wheels/built
WHEEL_SOURCES := Cargo.toml Cargo.lock $(shell find core/src core/Cargo.toml cli/src cli/Cargo.toml samples/web.pcap.gz python/ext \
	python/bytewright python/pyproject.toml python/*.sh -type f -not -name '*.so' -not -name '*.pyc')
TESTS := test-rust test-ruby test-python test-perl test-c test-writers test-columns test-report lint
PACKED_TESTS := test-gem test-gc test-wheel test-perl-dist test-install-c
SLOW_TESTS := test-unsafe $(PACKED_TESTS) test-bench test-site test-spark test-duckdb
DUCKDB_SOURCES := $(shell find duckdb/ext duckdb/pack.py -type f)
PERL_STAMP := $(CURDIR)/target/perl/installed/stamp
PERL_SOURCES := Cargo.toml Cargo.lock $(shell find core/src core/Cargo.toml c/ext c/include perl/lib perl/xs perl/t perl/*.xs \
	perl/*.PL perl/*.sh -type f)
# What `make test` tests of the languages: compiled by the profile test-release, and packed below target/built.
BUILT := $(CURDIR)/target/built
BUILT_STAMP := $(BUILT)/compiled
BUILT_GEM := $(BUILT)/gems
BUILT_GEM_STAMP := $(BUILT_GEM)/installed
BUILT_PERL_STAMP := $(BUILT)/perl/installed/stamp
BUILT_C := $(CURDIR)/target/test-release/libbytewright_c.a
BUILT_COMMAND := $(CURDIR)/target/test-release/bytewright
BENCHES := bench-flows bench-tables bench-pstore bench-thrift bench-io bench-perl bench-python
GEM_SOURCES := Cargo.toml Cargo.lock $(shell find core/src core/Cargo.toml cli/src cli/Cargo.toml samples/web.pcap.gz \
	ruby/bytewright.gemspec ruby/ext ruby/lib ruby/ri ruby/exe ruby/sig -type f -not -name '*.so')
# The gem as a user installs it, in a folder of its own.
WITH_GEM := GEM_HOME=$(GEM_DIR) PATH="$(GEM_DIR)/bin:$$PATH"

# The parts of setup.sh for goals that need a part only.
PARTS_OF_demo := gem
PARTS_OF_install-c := c
PARTS_OF_duckdb := wheel
PARTS_OF_wheel := wheel
PARTS_OF_perl-dist := perl
PARTS_OF_packages := packages
PARTS_OF_test-packages := packages
PARTS_OF_packages-cross := cross
PARTS_OF_packages-debian := packages
PARTS_OF_test-packages-debian := packages
PARTS_OF_test-packages-cross := cross
PARTS_OF_test-spark := all spark
PARTS_OF_wasm := wasm
PARTS_OF_release := all packages cross spark wasm
PARTS_OF_test-wasm := all wasm
PARTS_OF_test-all := all spark
PARTS := $(sort $(foreach goal,$(or $(MAKECMDGOALS),demo),$(or $(PARTS_OF_$(goal)),all)))

.PHONY: demo quick generate lint packages test-packages release packages-cross test-packages-cross packages-debian test-packages-debian site test-site wasm test-wasm test test-all test-packed test-rust test-columns test-report test-unsafe test-c test-writers test-install-c install-c wheel test-python test-wheel test-python-threads duckdb test-duckdb test-spark perl-dist test-perl test-perl-dist test-ruby test-gem test-gc test-orders test-rubies test-ruby-asan test-bench bench $(BENCHES) bench-spark fuzz setup clean

demo: $(GEM_STAMP)
	@$(WITH_GEM) ruby samples/demo.rb

# Only the debug build of the workspace. The Ruby tests here read files and need no extension.
quick: setup
	cargo fmt --check
	cargo clippy --quiet --locked --workspace -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --no-deps -p bytewright
	cargo test --quiet --locked -p bytewright --lib --test layers --test generated
	for test in paths figures; do LC_ALL=C ruby -W -Iruby/test ruby/test/$${test}_test.rb || exit 1; done
	@$(MAKE) --no-print-directory lint
	@echo "make quick: all of it passed; make test has the rest"

generate: setup
	BYTEWRIGHT_GENERATE=1 cargo test --quiet --locked -p bytewright --test generated
	ruby -Iruby/lib ruby/ri/generate.rb

# What Python and Ruby are asked beside the compilers' questions to Rust: ruff.toml and .rubocop.yml.
lint: setup
	python/environment.sh python3 target/python/lint python/tests/lint.txt
	target/python/lint/bin/ruff check --quiet --no-cache python bench cli/tests core/tests docs duckdb examples conformance page packages
	@if command -v rubocop >/dev/null; then LC_ALL=C.UTF-8 rubocop --cache-root target/rubocop --format quiet; \
	else echo "gap: Ruby is not linted: RuboCop is not installed (apt-get install rubocop)" >&2; fi

# Two at a time: one builds with one thread while another tests with one. What a part prints comes when it ends. Cargo is
# told of no jobserver, because it may not use that of make.
test: setup
	@CARGO_MAKEFLAGS= $(MAKE) --no-print-directory --jobs=2 --output-sync=target $(TESTS)
	@echo "make test: all of it passed"

test-packed: setup
	@CARGO_MAKEFLAGS= $(MAKE) --no-print-directory --jobs=2 --output-sync=target $(PACKED_TESTS)
	@echo "make test-packed: all of it passed"

# What `make test` runs comes first and alone: test-python and test-wheel install into the same environments.
test-all: test
	@CARGO_MAKEFLAGS= $(MAKE) --no-print-directory --jobs=2 --output-sync=target $(SLOW_TESTS)
	@echo "make test-all: all of it passed"

# One call of cargo: each part alone would give the dependencies other features, and the core would be compiled again for it.
$(BUILT_STAMP): $(sort $(WHEEL_SOURCES) $(GEM_SOURCES) $(PERL_SOURCES) $(DUCKDB_SOURCES) python/pack.py) | setup
	PYO3_BUILD_EXTENSION_MODULE=1 CARGO_TARGET_DIR=$(CURDIR)/target cargo build --quiet --locked --profile test-release \
		-p bytewright-ruby -p bytewright-python -p bytewright-c -p bytewright-cli -p bytewright-duckdb
	python3 python/pack.py target/test-release/libbytewright_python.so $(BUILT)/wheels
	python3 duckdb/pack.py target/test-release/libbytewright_duckdb.so $(BUILT)/duckdb
	touch $@

# Installed as a gem for one platform, which has its library with it.
$(BUILT_GEM_STAMP): $(BUILT_STAMP)
	rm -rf $(BUILT_GEM) $(BUILT)/libraries $(BUILT)/*.gem
	install -D -m 755 target/test-release/libbytewright_ruby.so \
		$(BUILT)/libraries/$$(ruby -e 'puts RUBY_VERSION[/\A\d+\.\d+/]')/bytewright.so
	ruby packages/platform_gem.rb $(BUILT) $(BUILT)/libraries
	gem install --local --no-document --silent --install-dir $(BUILT_GEM) $(BUILT)/*.gem
	touch $@

# From the distribution, over the library that is there.
$(BUILT_PERL_STAMP): $(BUILT_STAMP)
	rm -f $(BUILT)/perl/Bytewright-*.tar.gz
	perl/dist.sh $(BUILT)/perl
	BYTEWRIGHT_LIBRARY=$(BUILT_C) perl/install.sh $(BUILT)/perl
	touch $@

# The benches and the fuzz targets are workspaces of their own, which a change of the core can break as well.
test-rust: setup
	cargo fmt --check
	cargo clippy --quiet --locked --workspace --all-targets -- -D warnings
	for workspace in bench core/fuzz; do (cd $$workspace && cargo fmt --check && \
		CARGO_TARGET_DIR=$(CURDIR)/target cargo clippy --quiet --locked --all-targets -- -D warnings) || exit 1; done
	cargo test --quiet --locked --workspace

# What pyarrow, polars, pandas and DuckDB read of Arrow's C interface and of Parquet files. The command is built with the
# tests of the workspace, as for test-rust: alone its dependencies have other features, and the core is compiled again.
test-columns: setup
	$(BUILD_TESTS)
	core/tests/columns/run.sh

# Pages of the command in a browser without a screen, and the picture of what it prints.
test-report: setup
	$(BUILD_TESTS)
	PYTHONDONTWRITEBYTECODE=1 python3 cli/tests/report/pages.py target/debug/bytewright
	python3 docs/pictures/terminal.py --check target/debug/bytewright

# The docstrings of Python's native half are read from the extension.
site: $(BUILT_STAMP)
	python/environment.sh python3 target/site-tools docs/site/tools.txt
	target/site-tools/bin/pip install --quiet --disable-pip-version-check --no-deps --force-reinstall $(BUILT)/wheels/*.whl
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --no-deps -p bytewright
	PYTHONDONTWRITEBYTECODE=1 target/site-tools/bin/python docs/site/pages.py target/site-pages target/doc $(BUILT_COMMAND)
	NO_MKDOCS_2_WARNING=1 PYTHONDONTWRITEBYTECODE=1 target/site-tools/bin/mkdocs build \
		--config-file target/site-pages/mkdocs.yml --site-dir $(CURDIR)/target/site

test-site: site
	PYTHONDONTWRITEBYTECODE=1 target/site-tools/bin/python docs/site/test.py target/site

wasm: setup
	page/build.sh

# The core for WebAssembly and the page, which node and a browser without a screen ask what the command is asked.
test-wasm: wasm
	page/build.sh check
	$(BUILD_TESTS)
	PYTHONDONTWRITEBYTECODE=1 python3 page/tests/page.py target/debug/bytewright target/wasm/bytewright.html

# The heap, and structs that other languages free, under the address sanitizer, which the stable toolchain has when it is told to be another.
test-unsafe: setup
	RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address --cfg bytewright_asan" BYTEWRIGHT_OPERATIONS=2000 \
		cargo test --quiet --locked -p bytewright --test memory \
		--target $$(rustc -vV | sed -n 's/^host: //p') --target-dir target/asan

# Without a locale, as in a container; test-gc runs in the locale that is set.
test-ruby: $(BUILT_GEM_STAMP)
	LC_ALL=C GEM_HOME=$(BUILT_GEM) PATH="$(BUILT_GEM)/bin:$$PATH" ruby -W -Iruby/test ruby/test/all.rb

# What test-gc does not run on the same gem.
test-gem: $(GEM_STAMP)
	LC_ALL=C $(WITH_GEM) ruby -W -Iruby/test ruby/test/all.rb left-out-of-gc

# Again while objects are collected and moved; BYTEWRIGHT_GC=stress takes an hour.
test-gc: $(GEM_STAMP)
	$(WITH_GEM) ruby -W -Iruby/test ruby/test/all_with_garbage.rb

test-c: $(BUILT_STAMP)
	BYTEWRIGHT_LIBRARY=$(BUILT_C) c/tests/run.sh

# Writers in all languages that share a table file, and are killed.
test-writers: $(BUILT_GEM_STAMP) $(BUILT_PERL_STAMP)
	conformance/writers/run.sh $(BUILT_GEM) $(BUILT)/wheels $(BUILT)/perl/installed $(BUILT_C)
	conformance/caches/run.sh $(BUILT_GEM) $(BUILT)/wheels

# The same as it is installed. Its dependencies are compiled where the gem's are.
test-install-c: setup
	CARGO_TARGET_DIR=$(GEM_BUILD) c/tests/run.sh

wheel: $(WHEEL_STAMP)

$(WHEEL_STAMP): $(WHEEL_SOURCES) | setup
	python/build.sh target/python/wheels
	touch $@

# With the oldest and the newest Python there is, or with PYTHONS="python3.10 python3.12".
test-python: $(BUILT_STAMP)
	BYTEWRIGHT_WHEELS=$(BUILT)/wheels python/tests/run.sh

# With the oldest Python only: test-python has run the newest with everything that reads our columns.
test-wheel: $(WHEEL_STAMP)
	python/tests/run.sh oldest

# One file for all versions of DuckDB from 1.4 on.
duckdb: setup
	cargo build --quiet --locked --release -p bytewright-duckdb
	python3 duckdb/pack.py $${CARGO_TARGET_DIR:-target}/release/libbytewright_duckdb.so target/duckdb

# In the newest DuckDB and in an old one.
test-duckdb: $(BUILT_STAMP)
	duckdb/tests/run.sh $(BUILT)/duckdb/bytewright.duckdb_extension $(BUILT_COMMAND)

# Python without a global lock, which is built or installed before. Its wheel is for that version alone.
test-python-threads: setup
	@"$(or $(PYTHON),false)" -c 'import sys, sysconfig; sys.exit(not sysconfig.get_config_var("Py_GIL_DISABLED"))' || { \
		echo "test-python-threads: expected PYTHON=/path/to/python3.14t, the command of a free-threaded CPython (its sources:" \
		"./configure --disable-gil), found $(or $(PYTHON),none)" >&2; exit 1; }
	python/build.sh target/python/threads "$(PYTHON)"
	BYTEWRIGHT_WHEELS=$(CURDIR)/target/python/threads PYTHONS="$(PYTHON)" python/tests/run.sh threads

# Installs Java from Debian, 17 or later, and PySpark into target/spark, once.
test-spark: $(WHEEL_STAMP)
	python/tests/spark/run.sh
	ruby bench/run.rb spark --check

perl-dist: setup
	rm -f target/perl/Bytewright-*.tar.gz
	perl/dist.sh target/perl

# Built from the distribution in a clean folder, so that a file missing from it shows. The dependencies are compiled where the
# gem's are.
$(PERL_STAMP): $(PERL_SOURCES) | setup
	$(MAKE) --no-print-directory perl-dist
	CARGO_TARGET_DIR=$(GEM_BUILD) perl/install.sh target/perl
	touch $@

packages: $(WHEEL_STAMP) perl-dist duckdb
	mkdir -p pkg && find pkg -maxdepth 1 -type f -delete
	gem build --silent -o pkg/$$(ruby -e 'print Gem::Specification.load("ruby/bytewright.gemspec").file_name') ruby/bytewright.gemspec
	GEM_BUILD=$(GEM_BUILD) packages/platform_gem.sh pkg $(RUBY_RELEASES) $(RUBY_SOURCES)
	cp target/python/wheels/*.whl target/perl/Bytewright-*.tar.gz pkg/
	python/sdist.sh pkg
	packages/licenses.py wheel pkg/*.whl $$(rustc -vV | sed -n 's/^host: //p')
	cargo build --quiet --locked --release -p bytewright-cli
	packages/command.sh $${CARGO_TARGET_DIR:-target}/release/bytewright pkg
	cp target/duckdb/bytewright.duckdb_extension pkg/
	cd pkg && sha256sum *.* >SHA256SUMS

test-packages: packages
	PYTHONDONTWRITEBYTECODE=1 python3 packages/licenses_test.py
	packages/test.sh pkg
	duckdb/tests/run.sh pkg/bytewright.duckdb_extension $${CARGO_TARGET_DIR:-target}/release/bytewright
	packages/documents.sh pkg

# Runs all checks and makes all packages of a release, and publishes nothing.
release: setup
	packages/release.sh $(VERSION)

packages-cross: setup
	rm -rf pkg/cross
	RUBY_SOURCES="$(RUBY_SOURCES)" packages/cross.sh pkg/cross
	cd pkg/cross && sha256sum *.* >SHA256SUMS

test-packages-cross: packages-cross
	PYTHONDONTWRITEBYTECODE=1 python3 packages/licenses_test.py
	packages/cross_test.sh pkg/cross

packages-debian: setup
	packages/debian_source.sh pkg/debian

test-packages-debian: packages-debian
	packages/debian_test.sh pkg/debian

test-perl: $(BUILT_PERL_STAMP)
	perl/test.sh $(BUILT)/perl

test-perl-dist: $(PERL_STAMP)
	perl/test.sh target/perl

install-c: setup
	CARGO_TARGET_DIR=$(GEM_BUILD) c/build.sh target/c-install $(abspath $(PREFIX)) $(abspath $(LIBDIR))
	install -d $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(LIBDIR)/pkgconfig
	install -m 644 c/include/bytewright.h $(DESTDIR)$(PREFIX)/include/
	cp -P target/c-install/libbytewright.* $(DESTDIR)$(LIBDIR)/
	install -m 644 target/c-install/bytewright.pc $(DESTDIR)$(LIBDIR)/pkgconfig/

test-orders: $(GEM_STAMP)
	$(WITH_GEM) ruby -W -Iruby/test ruby/test/orders.rb $(ORDERS)

test-rubies: setup
	ruby/test/rubies.sh $(RELEASES) $(RUBIES)

# The extension under the address sanitizer: the heap only, because Ruby leaves frames in ways of its own.
test-ruby-asan: HOST = $$(rustc -vV | sed -n 's/^host: //p')
test-ruby-asan: setup
	RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address -Cllvm-args=-asan-stack=0" CARGO_PROFILE_RELEASE_LTO=off \
		CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_OPT_LEVEL=1 \
		cargo build --quiet --locked --release -p bytewright-ruby --target $(HOST) --target-dir target/asan-ruby
	rm -rf target/asan-ruby/lib && cp -r ruby/lib target/asan-ruby/lib
	cp target/asan-ruby/$(HOST)/release/libbytewright_ruby.so target/asan-ruby/lib/bytewright/bytewright.so
	for tests in reader writer table thrift pstore; do \
		for file in ruby/test/$${tests}*_test.rb; do \
			ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0:use_sigaltstack=0 \
				LD_PRELOAD=$$(cc -print-file-name=libasan.so) \
				ruby -W -Itarget/asan-ruby/lib -Iruby/test $$file || exit 1; \
		done; \
	done

# The benches of Perl and Python make what they lack: not while another target makes it.
test-bench: $(GEM_STAMP) $(WHEEL_STAMP) $(PERL_STAMP)
	cd bench && CARGO_TARGET_DIR=$(CURDIR)/target cargo test --quiet --locked
	BYTEWRIGHT_GEM_HOME=$(GEM_DIR) ruby bench/run.rb flows --check
	BYTEWRIGHT_GEM_HOME=$(GEM_DIR) ruby bench/run.rb tables --check
	BYTEWRIGHT_GEM_HOME=$(GEM_DIR) ruby bench/run.rb pstore --check
	BYTEWRIGHT_GEM_HOME=$(GEM_DIR) ruby bench/run.rb thrift --check
	BYTEWRIGHT_GEM_HOME=$(GEM_DIR) ruby bench/run.rb io --check
	ruby bench/run.rb perl --check
	ruby bench/run.rb python --check

# One after the other, also under `make -j`: together they would measure each other.
bench: $(GEM_STAMP)
	for bench in $(BENCHES); do $(MAKE) $$bench BENCH_OPTIONS=--record || exit 1; done
	ruby bench/readme.rb

$(BENCHES) bench-spark: $(GEM_STAMP)
	BYTEWRIGHT_GEM_HOME=$(GEM_DIR) ruby bench/run.rb $(@:bench-%=%) $(BENCH_OPTIONS)

# Built from the packed gem in a clean folder, so that a file missing from the gem shows.
$(GEM_STAMP): $(GEM_SOURCES) | setup
	rm -rf $(GEM_DIR)
	mkdir -p $(GEM_DIR)
	gem build --silent -o $(GEM_DIR)/bytewright.gem ruby/bytewright.gemspec
	CARGO_TARGET_DIR=$(GEM_BUILD) \
		gem install --local --no-document --silent --install-dir $(GEM_DIR) $(GEM_DIR)/bytewright.gem
	$(WITH_GEM) ruby -e 'require "bytewright"'
	touch $@

fuzz: setup
	core/fuzz/run.sh $(SECONDS)

setup:
	@./setup.sh $(PARTS)

clean:
	rm -rf target bench/target bench/data core/fuzz/target
