// A third party at the wire, which reads and sends: what it can do, and what MACsec
// leaves of that.
import {button, element} from './dom.js';
import {LINKS, linksOf} from './wiretap.js';

const cells = (tag, texts) => element('tr', {}, texts.map(text => element(tag, {}, String(text))));

export function wiretapPanel(page) {
	const rows = element('tbody'), said = element('p', {role: 'status'});
	const choice = element('select', {'ariaLabel': 'What the third party does'},
		linksOf(page.chapter).map(name => element('option', {value: name}, `${name}: ${LINKS[name]}`)));
	const run = async () => {
		go.disabled = true;
		said.textContent = 'Both programs are made ready, and run …';
		try {
			const {forged, memory, send, delivered, duplicates} = await page.lab.wiretap(choice.value);
			rows.append(cells('td', [choice.value, forged, memory, send, delivered ? 'yes' : 'no', duplicates]));
			said.textContent = '';
		} catch (error) {
			said.textContent = error.message;
		}
		go.disabled = false;
	};
	const go = button('Run', run, {disabled: true});
	page.root.addEventListener('ready', () => { go.disabled = false; });
	return element('div', {}, choice, go, said, element('div', {className: 'scroll'}, element('table', {},
		element('thead', {}, cells('th', ['link', 'forged', 'the memory in the end', 'SEND',
			'delivered', 'duplicates'])), rows)),
	element('p', {}, element('a', {href: new URL('docs/psn_security.html', page.top).href},
		'What this shows')));
}
