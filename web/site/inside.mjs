// The page that says what these pages are made of: each part, its version, its
// licence, and where its source is.
import {existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {escape} from './layout.mjs';

const row = cells => `<tr>${cells.map(x => `<td>${x}</td>`).join('')}</tr>`;
const table = (heads, rows) => `<div class="scroll"><table><thead><tr>${
	heads.map(x => `<th>${x}</th>`).join('')}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`;

// What the page's own libraries are: all that npm has put there.
function libraries(top) {
	const lock = JSON.parse(readFileSync(join(top, 'web/package-lock.json'), 'utf8'));
	return Object.entries(lock.packages).filter(([path, x]) => path && x.version)
		.map(([path, x]) => row([escape(path.replace(/^.*node_modules\//, '')), escape(x.version),
			escape(x.license ?? 'see its package'), 'the npm registry']));
}

// versions: a line a package, "name version source".
function packages(parts) {
	const path = parts && join(parts, 'versions');
	if (!path || !existsSync(path))
		return [];
	return readFileSync(path, 'utf8').trim().split('\n').map(line => {
		const [name, version, ...source] = line.split(' ');
		return row([escape(name), escape(version),
			`<code>/usr/share/doc/${escape(name)}/copyright</code> in the package`,
			`Debian, source package ${escape(source.join(' ') || name)}`]);
	});
}

export function insidePage(top, parts) {
	const guest = packages(parts);
	return {title: 'What is inside these pages', sections: [], html: `
<h1>What is inside these pages</h1>
<p>The text and the code are this repository’s own, under the MIT licence. What else
is here comes from others, unchanged, and each part stays under its own licence.</p>
<h2 id="node">The nodes</h2>
<p>Each node is an emulated PC. The picture of its memory, from which it starts, holds
Linux 6.1 and programs of Debian 12 for i386. Linux is under the GPL, version 2; its
source is Debian’s package <code>linux-source-6.1</code>, and the configuration is
<code>web/kernel/config</code>. The picture was taken with the BIOS of SeaBIOS (LGPL,
version 3; Debian’s source package <code>seabios</code>).</p>
${guest.length ? table(['package', 'version', 'licence', 'source'], guest) : '<p>These pages were built without the lab.</p>'}
<h2 id="page">The page, and what builds it</h2>
${table(['package', 'version', 'licence', 'source'], libraries(top))}
`};
}
