// A source file as a page, with an anchor at each line.
import {basename, extname} from 'node:path';
import {colour} from './markdown.mjs';
import {escape} from './layout.mjs';

const LANGUAGES = {'.c': 'c', '.h': 'c', '.sh': 'bash', '.bash': 'bash', '.bats': 'bash',
	'.py': 'python', '.patch': 'diff', '.js': 'javascript', '.mjs': 'javascript'};

// A colour that spans lines is closed at the end of each, and opened again.
function linesOf(html) {
	const open = [];
	return html.split('\n').map(line => {
		const before = open.join('');
		for (const [tag] of line.matchAll(/<span[^>]*>|<\/span>/g))
			tag === '</span>' ? open.pop() : open.push(tag);
		return before + line + '</span>'.repeat(open.length);
	});
}

export function sourcePage(path, text) {
	const language = basename(path) === 'Makefile' ? 'makefile' : LANGUAGES[extname(path)];
	const lines = linesOf(colour(text.replace(/\n$/, ''), language));
	return `<h1>${escape(path)}</h1>\n<pre class="source" tabindex="0"><code class="hljs">${
		lines.map((line, i) => `<a id="L${i + 1}" href="#L${i + 1}">${
			String(i + 1).padStart(4)}</a> ${line}`).join('\n')}</code></pre>\n`;
}
