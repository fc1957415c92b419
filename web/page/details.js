// One packet: its fields, its bytes, and the line of code that it comes from.
import {element} from './dom.js';

function bytesOf(packet, marked) {
	const {bytes} = packet, out = [];
	for (let at = 0; at < bytes.length; at += 16) {
		const cells = [...bytes.subarray(at, at + 16)].map((byte, i) => {
			const inside = marked && at + i >= marked.at && at + i < marked.at + marked.size;
			return element('span', {className: inside ? 'marked' : ''},
				byte.toString(16).padStart(2, '0'));
		});
		out.push(`${at.toString(16).padStart(4, '0')}  `,
			...cells.flatMap(cell => [cell, ' ']), '\n');
	}
	return out;
}

// heading: of the level that fits where it stands.
export function details(entry, code, link, heading = 'h3') {
	const {packet, record} = entry;
	const hex = element('pre', {className: 'bytes', tabIndex: 0}, bytesOf(packet));
	const rows = packet.fields.map(field => element('tr', {
		tabIndex: 0,
		onmouseenter: () => hex.replaceChildren(...bytesOf(packet, field)),
		onfocus: () => hex.replaceChildren(...bytesOf(packet, field))},
	element('td', {}, field.layer), element('td', {}, field.name),
	element('td', {}, String(field.at)), element('td', {}, field.text)));
	return element('div', {className: 'details'},
		element(heading, {}, packet.text),
		element('p', {}, record.captured ? `From ${packet.src} to ${packet.dst}, ${record.bytes.length} bytes. ` +
			(packet.broken ? `It is not whole: ${packet.broken}.` : '') : `From node ${record.from} to node ${record.to}, ` +
			`${record.bytes.length} bytes; ${fates[record.fate]}. ` +
			(record.forged ? 'The third party has sent it. ' : ''),
		record.forged || record.captured ? '' : code ? element('span', {}, 'Sent by ',
			element('a', {href: link(code)}, `${code.file}:${code.line}`), ': ',
			element('code', {}, code.text)) : byItself(packet)),
		element('div', {className: 'scroll'}, element('table', {},
			element('thead', {}, element('tr', {}, ...['header', 'field', 'byte', 'value']
				.map(x => element('th', {}, x)))), element('tbody', {}, rows))),
		hex);
}

const fates = {waits: 'it waits', crosses: 'it is on its way', arrived: 'it has arrived',
	lost: 'it was lost on the wire', cut: 'the wire was cut'};

function byItself({kind}) {
	if (/^(ACK|NAK|RNR|RDMA READ response)/.test(kind))
		return 'Sent by the device, by itself.';
	if (kind.startsWith('TLS'))
		return 'Sent by OpenSSL; what it is, is encrypted.';
	return 'Sent by the kernel, by itself.';
}
