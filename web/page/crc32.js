// The CRC-32 of Ethernet, of which the ICRC is made.
const TABLE = Uint32Array.from({length: 256}, (_, x) => {
	for (let i = 0; i < 8; i++)
		x = x & 1 ? x >>> 1 ^ 0xedb88320 : x >>> 1;
	return x;
});

export function crc32(bytes) {
	let crc = ~0;
	for (const byte of bytes)
		crc = crc >>> 8 ^ TABLE[(crc ^ byte) & 0xff];
	return ~crc >>> 0;
}
