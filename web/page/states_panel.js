// The states of both nodes' queue pairs, as `rdma resource show qp` says them, on
// the picture of the states.
import {button, element} from './dom.js';

const EVERY_MS = 1500;

async function picture(top) {
	const text = await fetch(new URL('docs/qp_state_machine.svg', top)).then(x => x.text());
	const host = element('div');
	// By itself, so that its style is its own.
	host.attachShadow({mode: 'open'}).innerHTML = text;
	return host;
}

// queuePairs: {a: [{lqpn, state, …}], b: […]}
export function mark(root, queuePairs) {
	root.querySelectorAll('.now').forEach(x => x.remove());
	for (const name of root.querySelectorAll('.name text')) {
		const here = Object.entries(queuePairs).flatMap(([node, list]) =>
			list.filter(qp => qp.state === name.textContent).map(qp =>
				`${node}: 0x${Number(qp.lqpn).toString(16)}`));
		here.slice(0, 3).forEach((text, i) => {
			const label = name.cloneNode();
			label.textContent = i === 2 && here.length > 3 ? `and ${here.length - 2} more` : text;
			label.setAttribute('class', 'now');
			label.setAttribute('y', Number(name.getAttribute('y')) + 34 + 14 * i);
			label.setAttribute('style', 'fill: #0b57d0; font-size: 12px');
			name.after(label);
		});
	}
}

export function statesPanel(page) {
	const box = element('div', {className: 'scroll'});
	const table = element('pre', {tabIndex: 0});
	const panel = element('div', {}, button('Look now', () => look()), box, table);
	let host = null, up = false;
	const look = async () => {
		if (!up || page.lab.frozen)
			return;
		host ??= await picture(page.top);
		box.replaceChildren(host);
		const [a, b] = await Promise.all(['a', 'b'].map(x => page.lab.queuePairs(x)));
		mark(host.shadowRoot, {a, b});
		table.textContent = [...a.map(x => ['a', x]), ...b.map(x => ['b', x])].map(([node, x]) =>
			`${node}  ${Object.entries(x).map(pair => pair.join(' ')).join('  ')}`).join('\n') ||
			'No program has a queue pair now.';
	};
	page.root.addEventListener('ready', () => { up = true; });
	panel.addEventListener('show', look);
	setInterval(() => !panel.hidden && look(), EVERY_MS);
	return panel;
}
