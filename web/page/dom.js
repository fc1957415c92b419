// Elements in a line: element('button', {type: 'button', onclick: f}, 'text', …).
const SVG = 'http://www.w3.org/2000/svg';

function fill(node, properties, children) {
	for (const [name, value] of Object.entries(properties ?? {})) {
		if (value === undefined || value === null || value === false)
			continue;
		if (name.startsWith('on'))
			node.addEventListener(name.slice(2), value);
		else if (name in node && !(node instanceof SVGElement))
			node[name] = value;
		else
			node.setAttribute(name, value);
	}
	node.append(...children.flat().filter(x => x !== null && x !== undefined));
	return node;
}

export const element = (tag, properties, ...children) =>
	fill(document.createElement(tag), properties, children);
export const drawing = (tag, properties, ...children) =>
	fill(document.createElementNS(SVG, tag), properties, children);
export const button = (text, onclick, properties = {}) =>
	element('button', {type: 'button', onclick, ...properties}, text);
