// What the parts of the story have in common: places in this book, and small words.

const TROUBLE = 'docs/troubleshooting';
export const PLACES = {
	rnr: `${TROUBLE}/requests.html#status-13`,
	access: `${TROUBLE}/requests.html#status-10`,
	invalid: `${TROUBLE}/requests.html#status-9`,
	remote: `${TROUBLE}/requests.html#status-11`,
	silent: `${TROUBLE}/requests.html#status-12`,
	rejected: `${TROUBLE}/connecting.html#rejected`,
	unreachable: `${TROUBLE}/connecting.html#unreachable`,
	refused: `${TROUBLE}/connecting.html#connection-refused`,
	tls: `${TROUBLE}/connecting.html#tls`,
	left: `${TROUBLE}/ending.html#left`,
	gid: `${TROUBLE}/queue_pairs.html#rtr-no-device`,
	hang: `${TROUBLE}/waiting.html#retry-hang`,
	waited: `${TROUBLE}/waiting.html#silent`,
	protocol: `${TROUBLE}/requests.html#refused`,
	bytes: `${TROUBLE}/waiting.html#wrong-bytes`,
	rds: `${TROUBLE}/rds_sockets.html#rds-answer`,
	lost: 'docs/wire.html',
};

export const hex = (value, digits = 6) => `0x${value.toString(16).padStart(digits, '0')}`;
// So long is nobody silent who has something to send: the longest timer of a device here
// is a second.
export const SILENCE_MS = 1500;

export const times = n => n === 1 ? 'once' : n === 2 ? 'twice' : `${n} times`;
export const isRequest = x => x.transport === 'roce' && x.cm === undefined && (x.opcode < 13 ||
	x.opcode > 18) && x.opcode < 32;
