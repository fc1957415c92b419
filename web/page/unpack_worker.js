// Unpacks the picture that the nodes start from, piece by piece. v86 has a zstd in it,
// and here is one in a thread of its own: what it takes is gone when the thread ends,
// whereas the memory of a v86 that has unpacked something never shrinks again.

// Longer than what v86 asks for.
const TABLE = {element: 'anyfunc', initial: 4096};
let zstd, context;

async function get(address) {
	const response = await fetch(address);
	if (!response.ok)
		throw new Error(`${address}: ${response.status} ${response.statusText}`);
	return response.arrayBuffer();
}

// No machine runs in it, so it has nothing to call.
async function instantiate(bytes) {
	const module = await WebAssembly.compile(bytes);
	const env = Object.fromEntries(WebAssembly.Module.imports(module).map(({name, kind}) =>
		[name, kind === 'table' ? new WebAssembly.Table(TABLE) : () => {
			throw new Error(`zstd calls ${name}`);
		}]));
	return (await WebAssembly.instantiate(module, {env})).exports;
}

const orders = {
	open: async ({address}) => {
		const [packed, bytes] = await Promise.all([get(address),
			get(new URL('../libraries/v86.wasm', import.meta.url))]);
		zstd = await instantiate(bytes);
		context = zstd.zstd_create_ctx(packed.byteLength);
		new Uint8Array(zstd.memory.buffer, zstd.zstd_get_src_ptr(context) >>> 0).set(
			new Uint8Array(packed));
		postMessage({});
	},
	// The bytes that come next, into those that the page lends for it.
	read: ({bytes}) => {
		const at = zstd.zstd_read(context, bytes.length) >>> 0;
		bytes.set(new Uint8Array(zstd.memory.buffer, at, bytes.length));
		zstd.zstd_read_free(at, bytes.length);
		postMessage({bytes}, [bytes.buffer]);
	},
};

self.onmessage = async ({data}) => {
	try {
		await orders[data.type](data);
	} catch (error) {
		postMessage({trouble: String(error?.message ?? error)});
	}
};
