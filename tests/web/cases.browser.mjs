// All that can be run in the page, in Chromium: each logged run, each case that is
// broken on purpose, each exercise with its solution, each row of wiretap.sh. It
// takes half an hour.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import test, {after, before} from 'node:test';
import {CHAPTERS, PATIENCE, assertForgery, labData, openLab, openSite} from './browser.mjs';
import {linksOf} from '../../web/page/wiretap.js';

const options = {timeout: 2 * PATIENCE};
let site, lab;

before(async () => { site = await openSite(); }, options);
after(() => site.close());

// Each chapter in a page of its own, as readers have it.
for (const chapter of CHAPTERS) {
	const {runs, cases, exercises} = labData(chapter);
	test(`${chapter}: the lab opens`, options, async () => {
		await lab?.page.context().close();
		lab = await openLab(site, `${chapter}/index.html?lab`);
	});
	const same = ({matches, trouble, differences}) =>
		assert.ok(matches, JSON.stringify({trouble, differences}).slice(0, 4000));
	for (const name of Object.keys(runs))
		test(`${chapter}: the run ${name} matches`, options, async () =>
			same(await lab.run(`return lab.run('${chapter}', '${name}')`)));
	for (const [name, {lacks}] of Object.entries(cases))
		if (!lacks)
			test(`${chapter}: ${name} breaks as promised`, options, async () =>
				same(await lab.run(`return lab.break('${name}')`)));
	for (const link of linksOf(chapter))
		test(`${chapter}: a third party at the wire: ${link}`, options, async () =>
			assertForgery(link, await lab.run(`return lab.wiretap('${link}')`)));
	for (const {name, lacks} of exercises)
		if (!lacks)
			test(`${chapter}: the checker finds all of the solution of ${name}`, options, async () => {
				const unsolved = await lab.run(`return lab.exercise('${name}')`);
				assert.equal(unsolved.status, 1, unsolved.out);
				assert.match(unsolved.out, /^ {2}missing {2}/m);
				const patch = readFileSync(`${chapter}/exercises/${name}.patch`, 'utf8');
				await lab.run(`await lab.write('solution.patch', ${JSON.stringify(patch)})`);
				const applied = await lab.run(`return lab.exec('a',
					'cd ~/work/${chapter.slice(0, 2)}_${name} && /usr/bin/patch -f -s -p1 <~/${chapter}/solution.patch')`);
				assert.equal(applied.status, 0, applied.out);
				const {status, out} = await lab.run(`return lab.exercise('${name}')`);
				assert.equal(status, 0, out);
				assert.match(out, /^all \d+ things are there$/m);
			});
}
