# The whole project. `make help` says what there is.
CHAPTERS := $(patsubst %/Makefile,%,$(sort $(wildcard [0-9][0-9]_*/Makefile)))

all: $(CHAPTERS)

$(CHAPTERS):
	@$(MAKE) --no-print-directory -C $@

# What a person gives is quoted, whatever is in it.
quote = $(if $(1),'$(subst ','\'',$(1))')

# NO_INSTALL=1 only lists the packages that are missing.
listing := $(filter-out 0,$(NO_INSTALL))

# $(call run,PACKAGES,COMMAND): arguments that are wrong are said before anything
# is installed; then the packages, then the command.
define run
	@CLI_CHECK=1 $(2)
	@scripts/install_deps.sh $(1)
	$(if $(listing),,@$(2))
endef

deps:
	@scripts/install_deps.sh
# The tests open the pages, too, and need a lab that is quick.
check_deps := @scripts/install_deps.sh build lab kernel wire check web
check_kernel = $(if $(listing),,@scripts/lab.sh kernel)

demo_chapters = $(foreach chapter,$(CH),$(call quote,$(chapter)))
demo:
	@scripts/demo.sh --plan $(demo_chapters)
	@scripts/install_deps.sh build lab
	$(if $(listing),,@$(MAKE) --no-print-directory all)
	$(if $(listing),,@scripts/demo.sh $(demo_chapters))

check:
	$(if $(CH),@CLI_CHECK=1 scripts/maint/check.sh $(call quote,$(CH)))
	$(if $(CH),$(filter-out web,$(check_deps)),$(check_deps))
	$(check_kernel)
	$(if $(listing),,@scripts/maint/check.sh $(call quote,$(CH)) $(TESTS))
check-fast: deps
	$(if $(listing),,@scripts/maint/check.sh fast)
check-long:
	$(check_deps)
	$(check_kernel)
	@scripts/install_deps.sh long
	$(if $(listing),,@scripts/maint/check.sh long)
# The machine itself, and the lab.
doctor:
	@scripts/doctor.sh
setup:
	@$(if $(filter 0,$(shell id -u)),,sudo )scripts/setup_rxe.sh
lab:
	$(call run,build lab,scripts/lab.sh up $(if $(NODES),--nodes $(call quote,$(NODES))))
lab-kernel:
	$(call run,build lab kernel,scripts/lab.sh kernel)
shell:
	@scripts/lab.sh shell $(or $(call quote,$(NODE)),a)
down:
	@scripts/lab.sh down

lesson:
	@scripts/lesson.sh '$(CH)' $(call quote,$(PART))
break:
	@scripts/break.sh '$(CH)' $(call quote,$(CASE))
exercise:
	@scripts/exercise.sh $(if $(CHECK),--check) '$(CH)' $(call quote,$(EX)) \
		$(call quote,$(DIR))
repair:
	@scripts/repair.sh $(if $(CHECK),--check,$(if $(HINT),--hint)) \
		$(call quote,$(CH)) $(call quote,$(TASK)) $(call quote,$(DIR))
watch:
	@scripts/repair.sh --watch $(call quote,$(CH)) $(call quote,$(TASK)) \
		$(call quote,$(DIR))
progress:
	@scripts/progress.sh $(if $(FORM),--$(call quote,$(FORM))) \
		$(if $(READ),--read $(call quote,$(READ)))
next:
	@scripts/progress.sh --next
explain:
	@scripts/explain.py $(if $(E),-- $(call quote,$(E)))

wire_run = $(or $(RUN),$(MODE),$(if $(CASE),break/$(CASE)))
wire:
	$(call run,build lab wire,scripts/wire.sh '$(CH)' $(call quote,$(wire_run)))
wiretap:
	$(call run,build lab wire,scripts/wiretap.sh $(RUNS))
reach:
	$(call run,build lab wire,scripts/reach.sh $(RUNS))
bench:
	$(call run,build lab check,scripts/bench.sh \
		$(if $(PAIRS),-p $(call quote,$(PAIRS))) $(call quote,$(CH)) $(NAME))

# The book as pages, with the lab in the browser.
web:
	$(call run,build web,web/build.sh $(if $(PAGES),--pages))
web-serve:
	@web/serve.sh $(call quote,$(PORT))
check-web:
	$(call run,build web check,web/check.sh)

# For authors.
logs:
	$(call run,build lab,scripts/maint/record_logs.sh $(demo_chapters))
wire-logs:
	$(call run,build lab wire,scripts/maint/record_wire.sh $(demo_chapters))
# What the Markdown says of the code: lines, minutes, calls, pictures of runs.
docs:
	@scripts/maint/api_map.py
	@scripts/maint/code_links.py --write
	@scripts/maint/front_door.py
	@scripts/maint/break_tables.py --write
	@scripts/maint/lesson_lines.py --write
	@scripts/maint/check_readme.py
	@scripts/maint/count_lines.py

clean:
	@for chapter in $(CHAPTERS); do $(MAKE) -s -C $$chapter clean; done
	rm -rf build web/node_modules

define HELP
For readers:
  make              build all chapters; make -C 01_send_recv builds one
  make demo         run every chapter on real Soft-RoCE (CH=01: one of them);
                    says first what that takes
  make doctor       what this machine has, what it lacks, and what to do
  make setup        make a Soft-RoCE device here, where the kernel has it
  make lab          or start the lab, two throwaway machines (NODES=1: one)
  make lab-kernel   build a kernel with which the lab is up in two seconds, once
  make shell        a shell in it (NODE=b: on the second machine)
  make down         end the lab
  make lesson       CH=02: print what the chapter adds to the one before (CH=03
                    PART=1: the first part of that)
  make break        CH=01: list what can be broken on purpose, and what each
                    case asks; CASE=name lets you guess, runs it and explains it
  make exercise     CH=01: list the exercises; EX=1 gives you a copy to work in,
                    CHECK=1 says what your solution lacks (DIR=my_copy)
  make repair       list broken copies of chapters, each with its symptom;
                    CH=01 TASK=1 gives you one, CHECK=1 says what your repair
                    lacks (DIR=my_copy), HINT=1 a hint
  make watch        CH=01 TASK=1: check that repair whenever you save a file
  make next         what comes next, and why
  make progress     how far you are (READ=01: you have read that chapter;
                    FORM=json: the same for a program)
  make explain      what an error means: type or paste it, or E='the error'
  make wire         CH=02: the packets of a run between two machines (RUN=read,
                    CASE=name; LOSS=5% and more: make help-wire)
  make wiretap      what a switch can do to chapters 03 and 04 (RUNS='03 open')
  make reach        who else can attack a connection of 04, and what stops that
                    (RUNS='user_send filter')
  make bench        how fast the chapters are beside other tools (CH=02,
                    NAME=connect, PAIRS=5)
  make web          this book as pages, in build/web, with two machines that run
                    in the browser (PAGES=1: without them, which is quick)
  make web-serve    show them on this machine (PORT=8000)
  make clean        remove what was built
  make deps         install all packages that anything here needs
  make help         this; make help-demo tells more of one, here of demo

For authors:
  make check        build everything and pass all tests (CH=04: those that this
                    chapter needs; TESTS='-k wire': pytest's options)
  make check-fast   the tests that need neither a device nor a virtual machine
  make check-long   the tests that take long
  make check-web    the tests of the pages, in a browser
  make logs         record the expected logs again (CH=01: one chapter)
  make wire-logs    record the wire pictures again (CH=01: one chapter)
  make docs         bring up to date what the docs say of the code

A chapter is 1, 01 or 01_send_recv. With NO_INSTALL=1, those that install
packages, such as demo and check, only list what is missing, and run nothing.
endef
help help-%: export help_text = $(HELP)
help:
	@echo "$$help_text"

# Of one target: the script behind it.
help_demo := scripts/demo.sh
help_check := scripts/maint/check.sh
help_check-fast := scripts/maint/check.sh
help_check-long := scripts/maint/check.sh
help_deps := scripts/install_deps.sh
help_doctor := scripts/doctor.sh
help_setup := scripts/setup_rxe.sh
help_lab := scripts/lab.sh
help_lab-kernel := scripts/lab.sh
help_shell := scripts/lab.sh
help_down := scripts/lab.sh
help_lesson := scripts/lesson.sh
help_break := scripts/break.sh
help_exercise := scripts/exercise.sh
help_repair := scripts/repair.sh
help_watch := scripts/repair.sh
help_progress := scripts/progress.sh
help_next := scripts/progress.sh
help_explain := scripts/explain.py
help_wire := scripts/wire.sh
help_wiretap := scripts/wiretap.sh
help_reach := scripts/reach.sh
help_bench := scripts/bench.sh
help_web := web/build.sh
help_web-serve := web/serve.sh
help_check-web := web/check.sh
help_logs := scripts/maint/record_logs.sh
help_wire-logs := scripts/maint/record_wire.sh
help-%:
	@echo "$$help_text" | grep -A 1 -E '^  make $* ' | grep -vE '^  make $*[^ ]' || \
		{ echo "make: there is no target $*; see make help" >&2; exit 2; }
	@$(if $(help_$*),echo; $(help_$*) -h)

.PHONY: all deps demo check check-fast check-long \
	doctor setup lab lab-kernel \
	shell down lesson break exercise repair watch \
	progress next explain wire wiretap reach bench web web-serve \
	check-web logs wire-logs docs \
	clean help $(CHAPTERS)
