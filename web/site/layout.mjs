// What is around the text of every page.
import {policyTag} from './csp.mjs';
import {relative} from './tree.mjs';

const escape = text => String(text).replace(/[&<>"]/g, x =>
	({'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'})[x]);

function navigation(place, menu) {
	return menu.map(({title, pages}) => `<h2>${escape(title)}</h2><ul>${
		pages.map(page => `<li><a href="${relative(place, page.place)}"${
			page.place === place ? ' aria-current="page"' : ''}>${
			escape(page.title)}</a></li>`).join('')}</ul>`).join('');
}

function neighbours(place, order) {
	const at = order.findIndex(page => page.place === place);
	const link = (page, rel, word) => page ? `<a rel="${rel}" href="${
		relative(place, page.place)}"><small>${word}</small> ${escape(page.title)}</a>` :
		'<span></span>';
	if (at < 0)
		return '';
	return `<nav class="around" aria-label="Previous and next page">${
		link(order[at - 1], 'prev', 'Previous')}${
		link(order[at + 1], 'next', 'Next')}</nav>`;
}

function contents(sections) {
	const shown = sections.filter(x => x.level === 2);
	if (shown.length < 3)
		return '';
	return `<details class="contents"><summary>On this page</summary><ul>${
		shown.map(x => `<li><a href="#${x.id}">${escape(x.title)}</a></li>`).join('')
	}</ul></details>`;
}

// The front page begins with the lab: a sentence and a button (web/page/door.js). Without
// JavaScript, neither is there.
const DOOR = `<section class="door later" aria-label="See it happen" hidden>
<p>One machine puts a message into another machine’s memory: watch every packet of it cross, in this page.</p>
<p><button type="button" class="start">Send the first message</button></p>
<p class="cost"></p>
</section>`;

// For an error line, on the front page and in troubleshooting (web/page/ask.js).
const ASK = `<section class="ask later" aria-label="What does this error mean?" hidden>
<label>What does this error mean? <textarea rows="2" spellcheck="false" autocomplete="off" placeholder="Paste a line of any RDMA program, or a whole log. It stays in this page."></textarea></label>
<div class="answer" role="status"></div>
</section>`;
const ASKED = ['README.md', 'docs/troubleshooting.md'];

// After the page's main heading.
const below = ({html, path, door}) => html.replace('</h1>', all =>
	[all, ...door ? [DOOR] : [], ...ASKED.includes(path) ? [ASK] : []].join('\n'));

// page: {place, path, title, html, sections, chapter, door: the chapter that the
// front page's lab is of, styled: it has a ladder}; site: {menu, order, name}
export function layout(page, site) {
	const up = file => relative(page.place, file);
	const title = page.title === site.name ? site.name : `${page.title} · ${site.name}`;
	return `<!doctype html>
<html lang="en-GB">
<head>
<meta charset="utf-8">
${policyTag(page)}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${up('web/page/style.css')}">${page.styled ? `
<link rel="stylesheet" href="${up('web/page/lab.css')}">` : ''}
<script src="${up('web/page/theme.js')}"></script>
<script type="module" src="${up('web/page/book.js')}" data-top="${up('index.html').replace(/index\.html$/, '') || './'}"></script>
</head>
<body${page.chapter ? ` data-chapter="${page.chapter}"` : ''}${page.door ? ` data-door="${page.door}"` : ''}>
<a class="skip" href="#text">To the text</a>
<header>
<details class="menu"><summary>Contents</summary><nav aria-label="All pages">${navigation(page.place, site.menu)}</nav></details>
<a class="home" href="${up('index.html')}">${escape(site.name)}</a>
<form class="search later" role="search" hidden><label>Search <input type="search" autocomplete="off"></label><div class="found" role="status" aria-live="polite"></div></form>
<button type="button" class="theme later" hidden>Dark or light</button>
</header>
<main id="text">
${page.chapter ? `<div class="lab-open later" hidden><button type="button">Open the lab: real Soft-RoCE in this page</button></div>
<noscript><p class="note">With JavaScript, two machines with Soft-RoCE run in this page. The text needs none.</p></noscript>` : ''}
${contents(page.sections ?? [])}
${below(page)}
${neighbours(page.place, site.order)}
</main>
<footer><a href="${up('web/capture.html')}">Open a capture</a> · <a href="${up('web/inside.html')}">What is inside these pages</a></footer>
</body>
</html>
`;
}

export {escape};
