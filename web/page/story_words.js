// What the parts of the story have in common: places in this book, and small words.

const TROUBLE = 'docs/troubleshooting.html';
export const PLACES = {
	rnr: `${TROUBLE}#status-13-rnr-retry-counter-exceeded`,
	access: `${TROUBLE}#status-10-remote-access-error`,
	invalid: `${TROUBLE}#status-9-remote-invalid-request-error`,
	remote: `${TROUBLE}#status-11-remote-operation-error`,
	silent: `${TROUBLE}#status-12-transport-retry-counter-exceeded`,
	rejected: `${TROUBLE}#rdma_cm_event_rejected-status-8-status-28`,
	unreachable: `${TROUBLE}#rdma_cm_event_unreachable-status--110-connection-timed-out`,
	refused: `${TROUBLE}#error-connect-connection-refused`,
	tls: `${TROUBLE}#error-tls-handshake-`,
	left: `${TROUBLE}#error-the-peer-left--the-peer-closed-the-connection-`,
	gid: `${TROUBLE}#ibv_modify_qp-to-rtr-no-such-device-19-no-data-available-61`,
	hang: `${TROUBLE}#it-hangs-and-no-completion-ever-comes`,
	waited: `${TROUBLE}#error--nothing-came-within-10-s`,
	protocol: `${TROUBLE}#error-the-peers-message--the-peer-speaks-version--protocol-error`,
	bytes: `${TROUBLE}#error--byte-n-of-the-memory--is-wrong-or-should-be--what-arrived-is-not-what-was-sent`,
	rds: `${TROUBLE}#an-answer-nothing-came-within-10-s-rds`,
	lost: 'docs/wire.html',
};

export const hex = (value, digits = 6) => `0x${value.toString(16).padStart(digits, '0')}`;
export const times = n => n === 1 ? 'once' : n === 2 ? 'twice' : `${n} times`;
export const isRequest = x => x.transport === 'roce' && x.cm === undefined && (x.opcode < 13 ||
	x.opcode > 18) && x.opcode < 32;
