// The libraries that the page loads, from node_modules, as files of the site.
import {copyFileSync, mkdirSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {build} from 'esbuild';

// What is one file already is copied; what is many is made one.
const COPIED = {
	'libv86.mjs': 'v86/build/libv86.mjs',
	'v86.wasm': 'v86/build/v86.wasm',
	'xterm.mjs': '@xterm/xterm/lib/xterm.mjs',
	'xterm.css': '@xterm/xterm/css/xterm.css',
	'addon-fit.mjs': '@xterm/addon-fit/lib/addon-fit.mjs',
};
const BUNDLED = {
	'minisearch.js': "export {default} from 'minisearch';",
	'editor.js': `export {EditorView, basicSetup} from 'codemirror';
		export {cpp} from '@codemirror/lang-cpp';
		export {oneDark} from '@codemirror/theme-one-dark';`,
};

export async function copyLibraries(top, out) {
	const modules = join(top, 'web/node_modules'), to = join(out, 'web/libraries');
	mkdirSync(to, {recursive: true});
	for (const [name, from] of Object.entries(COPIED))
		copyFileSync(join(modules, from), join(to, name));
	for (const [name, contents] of Object.entries(BUNDLED))
		await build({stdin: {contents, resolveDir: dirname(modules)}, bundle: true,
			format: 'esm', minify: true, outfile: join(to, name), logLevel: 'warning'});
}
