// Opens a capture beside the page, so that the page does not stand still.
import {openCapture} from './open_capture.js';

onmessage = async ({data: file}) => {
	try {
		const bytes = new Uint8Array(await file.arrayBuffer());
		postMessage({done: openCapture(bytes, count => postMessage({count}))});
	} catch (error) {
		postMessage({trouble: error.message});
	}
};
