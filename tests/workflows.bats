#!/usr/bin/env bats
#
# workflows.bats - what runs at GitHub has few rights, and is what was looked at

setup() {
	cd "$BATS_TEST_DIRNAME/.." || return
	FOLDER=$BATS_TEST_TMPDIR/workflows
	cp -r .github/workflows "$FOLDER"
}

# finds FILE SED TEXT: so changed, that is found, and nothing else.
finds() {
	cp .github/workflows/* "$FOLDER"
	sed -i "$2" "$FOLDER/$1"
	run -1 tests/workflows.py "$FOLDER"
	# shellcheck disable=SC2053 # a pattern
	[[ $output == "$1: "$3 ]]
}

@test "workflows: few rights, everything by its hash, no cache for what is published" {
	run -0 tests/workflows.py .github/workflows
	[[ $output == '' ]]
}

@test "workflows: a right that is not needed is found" {
	finds pages.yml '/^permissions:/s/{}/write-all/' 'all jobs: have rights *'
	finds check.yml '/^permissions:/d' 'all jobs: have rights *'
	finds check.yml '/^    permissions:/,+1d' 'check: does not say its rights'
	finds check.yml 's/contents: read/contents: write/' \
		$'check: may write, and runs more than actions\ncheck.yml: check: publishes what comes out of a cache'
	finds pages.yml 's/contents: read/id-token: write/' 'build: may write, and runs more than actions'
	finds check.yml 's/persist-credentials: false/fetch-depth: 1/' 'check: leaves the token *'
	finds check.yml 's/pull_request\]/pull_request_target]/' 'all jobs: run on pull_request_target'
	# shellcheck disable=SC2016 # for GitHub
	finds check.yml 's/make check$/make check ${{ github.head_ref }}/' 'check: makes a command *'
}

@test "workflows: a tag in the place of a hash is found" {
	finds pages.yml 's,deploy-pages@.*,deploy-pages@v5,' 'deploy: the action actions/deploy-pages@v5 is not *'
	finds pages.yml 's, # v5\.0\.0$,,;/upload-pages/s/$/ # v5.0.0/' 'deploy: the action * has no version beside it'
	finds check.yml 's,debian:12@.*,debian:12,' 'check: the image debian:12 is not named by its hash'
	finds pages.yml 's,debian:12@.*,debian:12,' 'build: the image debian:12 is not named by its hash'
}

@test "workflows: a cache in what is published is found" {
	finds check.yml 's/check-.*-\(\$.*hashFiles\)/web-\1/' 'check: has one cache *'
	finds pages.yml '/run: make web/i\      - uses: actions/cache@27d5ce7f107fe9357f9df03efb73ab90386fccae # v5.0.5' \
		'build: publishes what comes out of a cache'
}
