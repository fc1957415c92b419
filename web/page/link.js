// What a link such as ?lab&a=ls&wire=loss:0.1 asks for in the lab. Whoever wrote the
// link may wish the reader ill, so a link fills in and never presses a key.

// A carriage return is Enter; other control characters run, complete or change what
// is on the line, and some characters are not seen at all, or turn others round. So
// only printable ASCII is typed, which is all that commands here need, and not more
// than a reader sees at a glance.
const LONGEST = 200;

// Why a link may not type this; '' if it may.
export function untypable(text) {
	const [wrong] = /[^ -~]/u.exec(text) ?? [];
	if (wrong)
		return `It has the character U+${wrong.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}; ` +
			'a link may type only visible ASCII and spaces.';
	if (text.length > LONGEST)
		return `It has ${text.length} characters; a link may type ${LONGEST} at most.`;
	return '';
}

// Sets the wire and types; what it refuses, it says.
export function follow(wish, lab, say) {
	for (const pair of (wish.get('wire') ?? '').split(',').filter(Boolean)) {
		const [name, value = ''] = pair.split(':');
		lab.wire({[name]: value === '' ? true : Number(value)});
	}
	for (const [name, node] of Object.entries(lab.nodes)) {
		const text = wish.get(name) ?? '', why = untypable(text);
		if (why)
			say(`The link's text for node ${name} was not typed. ${why}`, true);
		else if (text)
			node.type(text);
	}
}
