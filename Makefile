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

# The tests open the pages, too, and need a lab that is quick.
check_deps := @scripts/install_deps.sh build lab kernel wire check web
check_kernel = $(if $(listing),,@scripts/lab.sh kernel)

demo_chapters = $(foreach chapter,$(CH),$(call quote,$(chapter)))
# 08 is shown with the clients of 01.
demo_built = $(if $(CH),$(sort 01_send_recv $(foreach chapter,$(CH),$(filter $(chapter)% 0$(chapter)_%,$(CHAPTERS)))),all)
demo:
	@scripts/demo.sh --plan $(demo_chapters)
	@scripts/install_deps.sh build $(if $(HOSTS),hosts,lab)
	$(if $(listing),,@$(MAKE) --no-print-directory $(demo_built))
	$(if $(listing),,@scripts/demo.sh $(demo_chapters))

check:
	$(if $(CH),@CLI_CHECK=1 scripts/maint/check.sh $(call quote,$(CH)))
	$(if $(CH),$(filter-out web,$(check_deps)),$(check_deps))
	$(check_kernel)
	$(if $(listing),,@scripts/maint/check.sh $(call quote,$(CH)) $(TESTS))
# The machine itself, and the lab.
doctor:
	@scripts/doctor.sh
lab:
	$(call run,build lab,scripts/lab.sh up $(if $(NODES),--nodes $(call quote,$(NODES))))
lab-kernel:
	$(call run,build lab kernel,scripts/lab.sh kernel)
shell:
	@scripts/lab.sh shell $(or $(call quote,$(NODE)),a)
down:
	@scripts/lab.sh down

lesson:
	@scripts/lesson.sh '$(CH)'
break:
	@scripts/break.sh '$(CH)' $(call quote,$(CASE))
exercise:
	@scripts/exercise.sh $(if $(CHECK),--check) '$(CH)' $(call quote,$(EX)) \
		$(call quote,$(DIR))
repair:
	@scripts/repair.sh $(if $(CHECK),--check,$(if $(HINT),--hint)) \
		$(call quote,$(CH)) $(call quote,$(TASK)) $(call quote,$(DIR))
next:
	@scripts/progress.sh $(if $(READ),--read $(call quote,$(READ)),--next)
explain:
	@scripts/explain.py $(if $(E),-- $(call quote,$(E)))

wire_run = $(or $(RUN),$(MODE),$(if $(CASE),break/$(CASE)))
wire:
	$(call run,build lab wire,scripts/wire.sh '$(CH)' $(call quote,$(wire_run)))
# The book as pages, with the lab in the browser.
web:
	$(call run,build web,web/build.sh $(if $(PAGES),--pages))

# For authors.
# What of rdma-core's own tests, perftest and other tools passes on rxe and siw.
conformance:
	$(call run,build lab others,scripts/maint/conformance.py $(if $(KERNEL),--kernel $(call quote,$(KERNEL))))
# The files of a release, of the last commit.
dist:
	@CLI_CHECK=1 scripts/maint/dist.sh $(call quote,$(TAG))
	@scripts/install_deps.sh build lab kernel web
	$(check_kernel)
	$(if $(listing),,@scripts/maint/dist.sh $(call quote,$(TAG)))
# What the Markdown says of the code: lines, minutes, calls, links, tables.
docs:
	@scripts/maint/docs.py
	@scripts/maint/count_lines.py

clean:
	@for chapter in $(CHAPTERS); do $(MAKE) -s -C $$chapter clean; done
	rm -rf build web/node_modules

define HELP
To learn:
  make demo         run every chapter on real Soft-RoCE (CH=01: one of them;
                    HOSTS=user@a,user@b: on two hosts); says what that takes
  make lab          start the lab, two throwaway machines (NODES=1: one)
  make lesson       CH=02: print what the chapter adds to the one before
  make break        CH=01: list what can be broken on purpose, and what each
                    case asks; CASE=name lets you guess, runs it and explains it
  make exercise     CH=01: list the exercises; EX=1 gives you a copy to work in,
                    CHECK=1 says what your solution lacks (DIR=my_copy)
  make repair       list broken copies of chapters, each with its symptom;
                    CH=01 TASK=1 gives you one, CHECK=1 says what your repair
                    lacks (DIR=my_copy), HINT=1 a hint
  make explain      what an error means: type or paste it, or E='the error'
  make next         what comes next, and why (READ=01: you have read that
                    chapter)

Besides:
  make              build all chapters; make -C 01_send_recv builds one
  make doctor       what this machine has, what it lacks, and what to do
  make lab-kernel   build a kernel with which the lab is up in two seconds, once
  make shell        a shell in the lab (NODE=b: on the second machine)
  make down         end the lab
  make wire         CH=02: the packets of a run between two machines (RUN=read,
                    CASE=name; LOSS=5% and more: make help-wire)
  make web          this book as pages, in build/web, with two machines that run
                    in the browser (PAGES=1: without them, which is quick)
  make clean        remove what was built
  make help         this; make help-demo tells more of one, here of demo

For authors:
  make check        build everything and pass all tests (CH=04: those that this
                    chapter needs; TESTS='-k wire': pytest's options)
  make conformance  run rdma-core's tests, perftest and more on rxe and siw, for
                    docs/conformance.md (KERNEL=DIR: with another kernel)
  make docs         bring up to date what the docs say of the code
  make dist         the files of a release, in build/dist (TAG=v4.0: its tag)

A chapter is 1, 01 or 01_send_recv. With NO_INSTALL=1, those that install
packages, such as demo and check, only list what is missing, and run nothing.
scripts/README.md has the scripts that are no target.
endef
help help-%: export help_text = $(HELP)
help:
	@echo "$$help_text"

# Of one target: the script behind it.
help_demo := scripts/demo.sh
help_check := scripts/maint/check.sh
help_doctor := scripts/doctor.sh
help_lab := scripts/lab.sh
help_lab-kernel := scripts/lab.sh
help_shell := scripts/lab.sh
help_down := scripts/lab.sh
help_lesson := scripts/lesson.sh
help_break := scripts/break.sh
help_exercise := scripts/exercise.sh
help_repair := scripts/repair.sh
help_next := scripts/progress.sh
help_explain := scripts/explain.py
help_wire := scripts/wire.sh
help_web := web/build.sh
help_conformance := scripts/maint/conformance.py
help_dist := scripts/maint/dist.sh
help-%:
	@echo "$$help_text" | grep -A 1 -E '^  make $* ' | grep -vE '^  make $*[^ ]' || \
		{ echo "make: there is no target $*; see make help" >&2; exit 2; }
	@$(if $(help_$*),echo; $(help_$*) -h)

.PHONY: all demo check doctor lab lab-kernel shell down lesson break exercise \
	repair next explain wire web conformance docs dist clean help $(CHAPTERS)
