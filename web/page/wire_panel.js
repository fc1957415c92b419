// The wire's controls: hold and step, loss, delay and the like, scissors, capture.
import {button, element} from './dom.js';

const SLIDERS = [['loss', 'Loss', 0, 50, '%', 100], ['delay', 'Delay', 0, 500, 'ms', 1],
	['duplicate', 'Twice', 0, 50, '%', 100], ['reorder', 'Overtaken', 0, 50, '%', 100]];

function slider(lab, [name, title, min, max, unit, scale]) {
	const value = element('output', {}, `0 ${unit}`);
	const input = element('input', {type: 'range', min, max, value: 0, 'ariaLabel': title,
		oninput: () => lab.wire({[name]: Number(input.value) / scale})});
	// A link or a test may set it, too.
	lab.addEventListener('wire', ({detail: settings}) => {
		input.value = Math.round(settings[name] * scale);
		value.textContent = `${input.value} ${unit}`;
	});
	return element('label', {}, `${title} `, input, ' ', value);
}

function save(name, data, type) {
	const url = URL.createObjectURL(new Blob([data], {type}));
	element('a', {href: url, download: name}).click();
	setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export {save};

export function wirePanel(lab) {
	const waits = element('span', {role: 'status'});
	const step = button('Let one go', () => lab.link.step(), {disabled: true});
	const drop = button('Drop it', () => lab.link.step('drop'), {disabled: true});
	const hold = button('Hold', () => toggle(hold, 'hold'), {'ariaPressed': 'false',
		title: 'Packets wait at the wire, and no time passes on the nodes'});
	const cut = button('✂ Cut', () => toggle(cut, 'cut'), {'ariaPressed': 'false'});
	const toggle = (pressed, name) =>
		lab.wire({[name]: pressed.getAttribute('aria-pressed') !== 'true'});
	lab.addEventListener('wire', ({detail: settings}) => {
		hold.setAttribute('aria-pressed', settings.hold);
		cut.setAttribute('aria-pressed', settings.cut);
	});
	lab.addEventListener('hold', ({detail: holding}) => {
		step.disabled = drop.disabled = !holding;
		waits.textContent = holding ? 'A packet waits; both nodes stand still.' : '';
	});
	return element('fieldset', {className: 'wire'}, element('legend', {}, 'The wire'),
		hold, step, drop, cut, ...SLIDERS.map(x => slider(lab, x)),
		button('Clear', () => lab.clear()),
		button('Save as pcapng', () => save(`${lab.chapter}.pcapng`, lab.capture(),
			'application/vnd.tcpdump.pcap')), waits);
}
