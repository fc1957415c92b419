// Where the lab cannot run: the recorded run of the chapter.
import {element} from './dom.js';

export function recorded(chapter, top) {
	const at = name => new URL(`${chapter}/expected/${name}`, top).href;
	return element('div', {}, element('p', {}, element('a', {href: at('wire.pcapng')},
		'The packets of the recorded run')),
	element('img', {src: at('wire.svg'), alt: 'The packets of the recorded run'}));
}
