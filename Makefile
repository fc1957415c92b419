# The whole project. `make help` says what there is.
CHAPTERS := $(patsubst %/Makefile,%,$(sort $(wildcard [0-9][0-9]_*/Makefile)))

all: $(CHAPTERS)

$(CHAPTERS):
	@$(MAKE) --no-print-directory -C $@

# Each installs what is missing first; NO_INSTALL=1 only lists it.
deps:
	@scripts/install_deps.sh
deps-demo:
	@scripts/install_deps.sh build lab
deps-wire:
	@scripts/install_deps.sh build lab wire

demo: deps-demo
	@$(MAKE) --no-print-directory all
	@scripts/demo.sh $(CH)

check: deps
	@scripts/maint/check.sh
check-fast: deps
	@scripts/maint/check.sh fast
check-long: deps
	@scripts/maint/check.sh long

logs: deps-demo
	@scripts/maint/record_logs.sh $(CH)

break:
	@scripts/break.sh "$(CH)" $(CASE)

exercise:
	@scripts/exercise.sh "$(CH)" $(EX) $(DIR)

# What the Markdown says of the code: lines, sizes, calls, pictures of runs.
docs:
	@scripts/maint/api_map.py
	@scripts/maint/code_links.py --write
	@scripts/maint/front_door.py
	@scripts/maint/check_readme.py --write

wire: deps-wire
	@scripts/wire.sh "$(CH)" $(or $(RUN),$(MODE),$(if $(CASE),break/$(CASE)))
wire-logs: deps-wire
	@scripts/maint/record_wire.sh $(CH)

wiretap: deps-wire
	@scripts/wiretap.sh $(RUNS)

clean:
	@for chapter in $(CHAPTERS); do $(MAKE) -s -C $$chapter clean; done
	rm -rf build

help:
	@echo 'make demo         run every chapter on real Soft-RoCE (CH=01: one)'
	@echo 'make check        build everything and pass all tests'
	@echo 'make check-fast   the tests that need neither a device nor a VM'
	@echo 'make check-long   the tests that take long'
	@echo 'make              build all chapters; make -C 01_send_recv builds one'
	@echo 'make break CH=01  list what can be broken on purpose; CASE=name does'
	@echo 'make exercise CH=02  list the exercises; EX=1 checks your solution'
	@echo 'make wire CH=02   show the packets of a run between two nodes (RUN=read,'
	@echo '                  CASE=name; LOSS=5% and more: see scripts/wire.sh)'
	@echo 'make wire-logs    record the pictures of the wire anew (CH=01: of one)'
	@echo 'make wiretap      what a switch between two nodes can do to 03 and 04, and'
	@echo '                  not to MACsec: docs/psn_security.md; in the lab only'
	@echo 'make logs         record the expected logs anew (CH=01: of one)'
	@echo 'make docs         bring what the docs say of the code up to date'
	@echo 'make clean        remove what was built'
	@echo 'NO_INSTALL=1      with demo or check: list missing packages only'

.PHONY: all deps deps-demo deps-wire demo check check-fast check-long logs break \
	exercise docs wire wire-logs wiretap clean help $(CHAPTERS)
