// Tabs: one of several panels at a time. The arrow keys go from tab to tab.
import {button, element} from './dom.js';

let made = 0;

// panels: {name: element}; first: the name of the one that is shown at first. Returns
// {row, box, show(name)}; box holds the panels.
export function makeTabs(panels, first, label) {
	const names = Object.keys(panels), box = element('div');
	const row = element('div', {className: 'tabs', role: 'tablist', ariaLabel: label});
	const tabs = new Map();
	const show = name => {
		for (const [other, tab] of tabs) {
			tab.setAttribute('aria-selected', other === name);
			tab.tabIndex = other === name ? 0 : -1;
			panels[other].hidden = other !== name;
		}
		panels[name].dispatchEvent(new Event('show'));
	};
	for (const name of names) {
		const id = `tab-${++made}`, tab = button(name, () => show(name), {role: 'tab', id});
		panels[name].id ||= `${id}-panel`;
		tab.setAttribute('aria-controls', panels[name].id);
		panels[name].setAttribute('role', 'tabpanel');
		panels[name].setAttribute('aria-labelledby', id);
		tabs.set(name, tab);
		row.append(tab);
		box.append(panels[name]);
	}
	arrows(row, [...tabs.values()]);
	show(first);
	return {row, box, show};
}

function arrows(row, tabs) {
	row.addEventListener('keydown', event => {
		const at = tabs.indexOf(document.activeElement);
		const to = {ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1}[event.key];
		if (at < 0 || to === undefined)
			return;
		event.preventDefault();
		tabs[(to + tabs.length) % tabs.length].focus();
	});
}

// On a small screen, what stands side by side elsewhere is one tab each. views: {name:
// [elements]}; the first is shown at first. body: what they are in, whose data-view
// says which is chosen; the style sheet hides the others, on small screens only.
export function makeViews(body, views) {
	const names = Object.keys(views);
	const row = element('div', {className: 'tabs views', role: 'group',
		ariaLabel: 'What is shown of the lab'});
	const show = name => {
		body.dataset.view = name.toLowerCase();
		for (const one of row.children)
			one.setAttribute('aria-pressed', one.textContent === name);
	};
	for (const name of names) {
		row.append(button(name, () => show(name)));
		for (const part of views[name])
			part.classList.add('view', `view-${name.toLowerCase()}`);
	}
	show(names[0]);
	return {row, show};
}
