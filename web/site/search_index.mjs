// What the search looks through: every section of every page.
import MiniSearch from 'minisearch';
import {SEARCH_OPTIONS} from '../page/search_options.js';

export function searchIndex(pages) {
	const index = new MiniSearch(SEARCH_OPTIONS);
	let id = 0;
	for (const page of pages)
		for (const section of page.sections)
			index.add({id: id++, page: page.title, title: section.title,
				href: `${page.place}${section.id ? `#${section.id}` : ''}`,
				text: section.text});
	return JSON.stringify(index);
}
