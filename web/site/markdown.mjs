// Markdown as the repository has it, as HTML: GitHub's anchors, coloured code,
// Mermaid drawn, links to files turned into links to their pages.
import {dirname, posix} from 'node:path';
import MarkdownIt from 'markdown-it';
import GithubSlugger from 'github-slugger';
import hljs from 'highlight.js';
import {renderMermaidSVG} from 'beautiful-mermaid';

const escape = text => text.replace(/[&<>"]/g, x =>
	({'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'})[x]);

export function colour(text, language) {
	return language && hljs.getLanguage(language) ?
		hljs.highlight(text, {language}).value : escape(text);
}

// A picture that needs no script and no font of another host.
function mermaid(text) {
	const svg = renderMermaidSVG(text, {bg: 'var(--paper)', fg: 'var(--ink)',
		font: 'inherit', transparent: true});
	const parts = text.split('\n').slice(1).map(x => x.trim()).filter(Boolean).join('; ');
	return `<figure class="mermaid"><div class="scroll">` +
		svg.replace(/@import[^;]*;/g, '').replace('<svg ',
			`<svg role="img" aria-label="${escape(parts)}" `) +
		`</div></figure>\n`;
}

// ```sh here=RUN: the page runs that logged run of the chapter, and shows the shell's
// way folded; open where there is no JavaScript. env.runs: {name: what it does}.
function fence(tokens, at, options, env) {
	const [language = '', ...words] = tokens[at].info.split(/\s+/);
	if (language === 'mermaid')
		return mermaid(tokens[at].content);
	const pre = `<pre tabindex="0"><code class="hljs">${
		colour(tokens[at].content, language)}</code></pre>\n`;
	const run = words.find(x => x.startsWith('here='))?.slice('here='.length);
	if (!run)
		return pre;
	if (!env.runs?.[run])
		throw new Error(`${env.path}: here=${run}: there is no such run`);
	return `<p class="run-here"><button type="button" class="here later" data-run="${escape(run)}" hidden>Run here</button> ` +
		`${escape(env.runs[run])}</p>\n<details class="shell early" open><summary>In a shell</summary>${pre}</details>\n`;
}

// What breaks a case in a shell, or lists repair tasks, has a button beside it that
// chooses that in the lab.
const HERE = [
	[/^make break CH=(\d\d) CASE=(\w+)$/, 'case', name => `Break it here: ${name}`, 'Break it here'],
	[/^make repair CH=(\d\d)()$/, 'repair', () => 'Repair it here', 'Repair it here'],
];

function codeInline(tokens, at, options, env) {
	const text = tokens[at].content;
	for (const [pattern, kind, label, words] of HERE) {
		const [, chapter, name] = pattern.exec(text) ?? [];
		if (chapter && env.path?.startsWith(`${chapter}_`) && /^\d\d_[^/]+\/README\.md$/.test(env.path))
			return `<code>${escape(text)}</code> <button type="button" class="here later" data-${kind}="${
				name}" aria-label="${label(name)}" hidden>${words}</button>`;
	}
	return `<code>${escape(text)}</code>`;
}

function textOf(token) {
	return (token.children ?? []).filter(x => ['text', 'code_inline'].includes(x.type))
		.map(x => x.content).join('');
}

function anchors(state) {
	const slugger = new GithubSlugger();
	state.tokens.forEach((token, at) => {
		if (token.type === 'heading_open')
			token.attrSet('id', slugger.slug(textOf(state.tokens[at + 1])));
	});
}

// resolve(path, hash): the link to that file of the repository, or null.
function links(state) {
	const {path, resolve} = state.env;
	for (const token of state.tokens.flatMap(x => x.children ?? []))
		for (const name of ['href', 'src']) {
			const value = token.attrGet?.(name);
			if (!value || /^([a-z]+:|#)/i.test(value))
				continue;
			const [file, hash] = value.split('#');
			const target = posix.normalize(posix.join(dirname(path), decodeURI(file)));
			token.attrSet(name, resolve(target, hash, token.type === 'image'));
			// So that a page has room for it before it has come.
			for (const [side, pixels] of token.type === 'image' ? state.env.sizeOf?.(target) ?? [] : [])
				token.attrSet(side, pixels);
		}
}

export function makeRenderer() {
	const md = new MarkdownIt({html: true, linkify: false, typographer: false});
	md.renderer.rules.fence = fence;
	md.renderer.rules.code_inline = codeInline;
	md.renderer.rules.table_open = () => '<div class="scroll" tabindex="0"><table>\n';
	md.renderer.rules.table_close = () => '</table></div>\n';
	md.core.ruler.push('anchors', anchors);
	md.core.ruler.push('links', links);
	return md;
}

// {html, title, sections: [{id, title, text}]}
export function render(md, text, env) {
	const tokens = md.parse(text, env), sections = [];
	let section = {id: '', title: '', text: ''};
	tokens.forEach((token, at) => {
		if (token.type === 'heading_open') {
			section = {id: token.attrGet('id'), title: textOf(tokens[at + 1]), text: '',
				level: Number(token.tag[1])};
			sections.push(section);
		} else if (token.type === 'inline' && tokens[at - 1]?.type !== 'heading_open') {
			section.text += `${textOf(token)} `;
		} else if (token.type === 'fence') {
			section.text += `${token.content} `;
		}
	});
	// A corner of a table that says nothing heads nothing.
	const html = md.renderer.render(tokens, md.options, env).replaceAll('<th></th>', '<td></td>');
	return {html, sections,
		title: sections[0]?.title ?? env.path};
}
