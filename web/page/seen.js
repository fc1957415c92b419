// What was just seen on the ladder, in a sentence or two, from the packets themselves.

// packets: as Lab.packets() has them. '' if no message has crossed.
export function seen(packets) {
	const sends = packets.filter(x => x.kind.startsWith('SEND'));
	const lost = packets.filter(x => x.fate === 'lost' || x.fate === 'cut');
	const agreed = packets.some(x => x.kind === 'ConnectRequest') &&
		packets.some(x => x.kind === 'ReadyToUse');
	if (lost.length && sends.some(x => x.mark === 'again'))
		return sentAgain(sends, lost);
	if (lost.some(x => x.kind.startsWith('SEND')))
		return 'The SEND with the cross never arrived, and nobody reported that. Its sender’s device did ' +
			'not send it again while the program waited: the terminals say how long that was.';
	if (!sends.length)
		return '';
	return `You have seen ${packets.length} packets. ` + (agreed ?
		'First the connection managers agreed: ConnectRequest, ConnectReply, ReadyToUse. ' : '') +
		'Then each program posted one SEND; the other end had posted a receive, and the device ' +
		'itself, not the program, answered with an ACK. The ACK is why “send completed” was printed.';
}

function sentAgain(sends, lost) {
	const first = lost.find(x => x.kind.startsWith('SEND')) ?? lost[0];
	const again = sends.find(x => x.mark === 'again' && x.psn === first.psn) ?? sends.find(x => x.mark === 'again');
	return `The ${first.kind.split(' ')[0]} with the cross never arrived, and nobody reported that. ` +
		`Its sender’s device waited for an ACK; none came in time, so it sent the same packet, with the same PSN ${
			hex(again.psn)}, again (dashed). Both programs print what they printed before: they have not noticed.`;
}

const hex = psn => `0x${psn.toString(16).padStart(6, '0')}`;
