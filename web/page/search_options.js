// Shared by the site's builder, which makes the index, and the page, which asks it.
export const SEARCH_OPTIONS = {
	fields: ['title', 'text'],
	storeFields: ['page', 'title', 'href'],
	searchOptions: {boost: {title: 3}, prefix: true, fuzzy: 0.1, combineWith: 'AND'},
};
