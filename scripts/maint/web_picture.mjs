// web_picture.mjs - takes README's picture of the page with the lab
//
// usage: node scripts/maint/web_picture.mjs
//
// Opens the lab of a chapter that has all tabs, in Chromium, on what `make web` has
// built, lets the plain run match and writes docs/pictures/web.png. Look at it before
// you commit it.
import {openLab, openSite} from '../../tests/web/browser.mjs';

const CHAPTER = '03_pure_verbs', PICTURE = 'docs/pictures/web.png';

if (process.argv.length > 2) {
	console.error('usage: node scripts/maint/web_picture.mjs');
	process.exit(process.argv[2] === '-h' ? 0 : 2);
}
process.chdir(new URL('../..', import.meta.url).pathname);
const site = await openSite();
try {
	const {page, until} = await openLab(site, `${CHAPTER}/index.html?lab&run=write`,
		{viewport: {width: 1500, height: 1250}});
	await page.locator('[role=tabpanel]:not([hidden])').getByRole('button', {name: 'Run', exact: true}).click();
	await until(`document.querySelector('.lab .good')`, 'the run matches');
	await page.locator('.ladder-box').evaluate(x => { x.scrollTop = 0; });
	await page.screenshot({path: PICTURE});
	console.log(PICTURE);
} finally {
	await site.close();
}
