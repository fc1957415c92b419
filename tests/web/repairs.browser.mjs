// All repair tasks that can be checked in the page, in Chromium: each refuses the broken
// copy and a wrong repair, for the reason that the shell has, and accepts a right one.
// It takes long. ONLY=NAME tries one task.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import test, {after, before} from 'node:test';
import {CHAPTERS, PATIENCE, labData, openLab, openSite} from './browser.mjs';

const options = {timeout: 4 * PATIENCE};
let site, lab;

before(async () => { site = await openSite(); }, options);
after(() => site.close());

async function check(chapter, name, patch) {
	const {folder} = await lab.run(`return lab.repair('${name}', '${chapter}')`);
	if (patch) {
		await lab.run(`await lab.write('repair.patch', ${JSON.stringify(patch)})`);
		const {status, out} = await lab.run(`return lab.exec('a',
			'cd ${folder} && /usr/bin/patch -f -s -p1 <~/${chapter}/repair.patch')`);
		assert.equal(status, 0, out);
	}
	return lab.run('return lab.check()');
}

for (const chapter of CHAPTERS) {
	const tasks = labData(chapter).repairs.filter(x => !x.lacks && [undefined, x.name].includes(process.env.ONLY));
	if (tasks.length)
		test(`${chapter}: the lab opens`, options, async () => {
			await lab?.page.context().close();
			lab = await openLab(site, `${chapter}/index.html?lab`);
		});
	for (const {name} of tasks) {
		const patch = kind => readFileSync(`${chapter}/repair/${name}/${kind}.patch`, 'utf8');
		test(`${chapter}: ${name}: the broken copy is refused`, options, async () => {
			const {repaired, status, out} = await check(chapter, name);
			assert.deepEqual([repaired, status], [false, 1], out);
			assert.doesNotMatch(out, /missing {2}it builds/);
		});
		test(`${chapter}: ${name}: a wrong repair is refused`, options, async () => {
			const wrong = patch('wrong'), [, missing] = /^Missing: (.*)/m.exec(wrong);
			const {repaired, out} = await check(chapter, name, wrong);
			assert.ok(!repaired && new RegExp(`^  missing  ${missing}`, 'm').test(out), `${missing}\n${out}`);
		});
		test(`${chapter}: ${name}: a right one is accepted`, options, async t => {
			const began = Date.now(), {repaired, out} = await check(chapter, name, patch('right'));
			assert.ok(repaired, out);
			assert.match(out, /^all \d+ things are there$/m);
			t.diagnostic(`${Math.round((Date.now() - began) / 1000)} s`);
		});
	}
}
