// The third party at the wire sends what scripts/lib/wiretap/ sends in the lab.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import test from 'node:test';
import {ThirdParty, forge, icrc, told} from '../../web/page/third_party.js';

const LIKE = Uint8Array.from([2, 0, 0, 0, 2, 1, 2, 0, 0, 0, 2, 2, 8, 0]);
const ADDRESSES = [192, 0, 2, 2, 192, 0, 2, 1];
const WRITE = {qpn: 0x12, psn: 0xfffffe, va: 0x56167a0c000n, rkey: 0x80000706};
const PAYLOAD = new TextEncoder().encode('forged: neither of you wrote this\0');
const hex = bytes => Buffer.from(bytes).toString('hex');

function python(code) {
	return execFileSync('python3', ['-B', '-c', `from lib.wiretap import roce
${code}`],
		{encoding: 'utf8', env: {...process.env, PYTHONPATH: 'scripts'}}).trim();
}

test('a forged frame is the one that the lab\'s switch would send', () => {
	for (const payload of [PAYLOAD, PAYLOAD.subarray(0, 5), new Uint8Array()])
		assert.equal(hex(forge(LIKE, ADDRESSES, WRITE, payload)), python(`print(roce.forge(
    bytes.fromhex('${hex(LIKE.subarray(0, 12))}'), bytes(${JSON.stringify(ADDRESSES)}),
    roce.write_body(roce.Write(${WRITE.qpn}, ${WRITE.psn}, ${WRITE.va}, ${WRITE.rkey}, 0),
        bytes.fromhex('${hex(payload)}'))).hex())`));
});

// A client's WRITE, as it would cross.
const write = psn => forge(LIKE, ADDRESSES, {...WRITE, psn}, PAYLOAD);
const psnOf = frame => frame[51] << 16 | frame[52] << 8 | frame[53];
const rkeyOf = frame => new DataView(frame.buffer).getUint32(62);

test('it sends once, behind the first WRITE, with the PSN that is next', () => {
	const third = new ThirdParty('open'), other = write(7);
	other[42] = 4;
	assert.equal(third.look(other), null);
	assert.equal(psnOf(third.look(write(0xffffff))), 0);
	assert.equal(third.look(write(0)), null);
	assert.equal(third.sent, 1);
});

test('what it sends may be nothing, or have a wrong key', () => {
	assert.equal(rkeyOf(new ThirdParty('badkey').look(write(1))), 0x80000786);
	const nothing = new ThirdParty('nothing').look(write(1));
	assert.equal(rkeyOf(nothing), 0);
	assert.equal(nothing.length, 14 + 20 + 8 + 12 + 16 + 4);
});

test('who is told the numbers reads no packet, and tries behind each', () => {
	const third = new ThirdParty('told'), encrypted = write(1);
	encrypted.set([0x88, 0xe5], 12);
	assert.equal(third.look(encrypted), null);
	for (const line of ['INIT -> RTR: dest_qp_num=0x000011, rq_psn=0x1', 'RTR -> RTS: sq_psn=0xffffff, retry_cnt=6',
		'[DEBUG] peer_mr.addr=0xb6c02000, peer_mr.rkey=0x188e'])
		third.hear(line);
	assert.deepEqual(told(third.lines), {qpn: 0x11, psn: 1, va: 0xb6c02000n, rkey: 0x188e});
	assert.equal(psnOf(third.look(encrypted)), 2);
	assert.equal(psnOf(third.look(encrypted)), 2);
	assert.equal(third.sent, 3);
});

test('who is told the numbers when the packet is past sends at once', () => {
	const third = new ThirdParty('told'), encrypted = write(1);
	encrypted.set([0x88, 0xe5], 12);
	assert.equal(third.look(encrypted), null);
	assert.equal(third.hear('INIT -> RTR: dest_qp_num=0x000011, rq_psn=0x1'), null);
	assert.equal(third.hear('RTR -> RTS: sq_psn=0x4, retry_cnt=6'), null);
	assert.equal(psnOf(third.hear('[DEBUG] peer_mr.addr=0xb6c02000, peer_mr.rkey=0x188e')), 7);
	assert.equal(third.hear('a line behind that'), null);
	assert.equal(third.sent, 1);
});

test('the ICRC is that of a packet that a device has sent', () => {
	const [packet, sum] = python(`
import glob, struct
data = open(sorted(glob.glob('02_write_read/expected/wire.pcapng'))[0], 'rb').read()
at = 0
while at < len(data):
    kind, length = struct.unpack_from('<II', data, at)
    if kind == 6:
        size = struct.unpack_from('<I', data, at + 20)[0]
        frame = data[at + 28:at + 28 + size]
        if roce.is_roce(frame):
            packet = roce.packet_of(frame)
            print(packet[:-4].hex(), packet[-4:][::-1].hex())
            break
    at += length`).split(' ');
	assert.equal(icrc(Buffer.from(packet, 'hex')).toString(16).padStart(8, '0'), sum);
});
