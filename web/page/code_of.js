// Which line of a chapter has sent a packet.
import {isHead} from './words.js';

// What sends a packet: its kind, and what to look for in which file of the chapter.
// What no line of a chapter sends, such as an acknowledgement, is not here.
const SENDERS = [
	[/^ConnectRequest$/, 'rdma.c', /rdma_connect\(conn->id/],
	[/^ConnectReply$/, 'rdma.c', /rdma_accept\(conn->id/],
	// librdmacm answers the REP when the program asks for its next event.
	[/^ReadyToUse$/, 'rdma.c', /rdma_get_cm_event\(/],
	[/^Disconnect/, 'rdma.c', /rdma_disconnect\(conn->id/],
	// Chapter 07.
	[/^file SEND/, 'stream.c', /\.opcode = IBV_WR_SEND,/],
	[/^file RDMA WRITE/, 'stream.c', /\.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,/],
	[/^file RDMA READ Request/, 'stream.c', /\.opcode = IBV_WR_RDMA_READ,/],
	[/^SEND/, 'message.c', /\.opcode = IBV_WR_SEND,/],
	[/^SEND/, 'transfer.c', /\.opcode = IBV_WR_SEND,/],
	[/^RDMA (WRITE|READ Request)/, 'transfer.c', /IBV_WR_RDMA_WRITE :\s+IBV_WR_RDMA_READ/],
	[/^SEND/, 'talk.c', /\.opcode = IBV_WR_SEND,/],
	[/^RDMA (READ Request|WRITE)/, 'talk.c', /talk_copy\(struct talk/],
	[/^(Fetch and Add|Compare and Swap)/, 'talk.c', /\.wr\.atomic = \{/],
	[/^TCP text "HELLO/, 'oob.c', /line_send\(&oob->line, HELLO/],
	[/^TCP text "RDMA/, 'oob.c', /line_send\(&oob->line, text/],
	[/^TCP text "READY/, 'oob.c', /line_send\(&oob->line, READY/],
	[/^TCP text "BYE/, 'oob.c', /send\(oob->line\.fd, BYE/],
	[/^TCP FIN/, 'oob.c', /\bclose\(oob->(line\.)?fd\)/],
	[/^TLS (Client|Server) Hello/, 'line.c', /\bSSL_do_handshake\(/],
	[/^TLS Application Data/, 'line.c', /\bSSL_write(_ex)?\(/],
];

// files: {path: text}, those of the chapter.
export function codeOf(packet, files) {
	let what = packet.kind === 'TCP text' ? packet.text.replace('TCP ', 'TCP text ') : packet.kind;
	// Chapter 07: what belongs to a stream.
	if (packet.payload && (isHead(packet.payload) || /WRITE.*with Immediate/.test(what)))
		what = `file ${what}`;
	for (const [kind, name, call] of SENDERS) {
		if (!kind.test(what))
			continue;
		const path = Object.keys(files).find(x => x === name || x.endsWith(`/${name}`));
		const at = path === undefined ? -1 : files[path].search(call);
		if (at < 0)
			continue;
		const before = files[path].slice(0, at).split('\n');
		return {file: path, line: before.length,
			text: files[path].split('\n')[before.length - 1].trim()};
	}
	return null;
}
