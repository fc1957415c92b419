// The form of a guess, beside a case: first what the reader expects, then, when it has
// run, whether that was right.
import {button, element} from './dom.js';
import {guess, guessOf, judge, score} from './guesses.js';

// {form, show(name), ran()}
export function guessForm(lab) {
	let name = null, done = false;
	const text = element('input', {type: 'text', maxLength: 300, autocomplete: 'off'});
	const asks = element('form', {className: 'guess', onsubmit: event => {
		event.preventDefault();
		guess(lab.chapter, name, text.value);
		draw();
	}}, element('label', {}, 'Your guess, in a line: ', text), ' ', element('button', {type: 'submit'}, 'Keep it'));
	const said = element('div', {className: 'guess', role: 'status'});
	const answer = right => button(right ? 'I was right' : 'I was wrong', () => {
		judge(lab.chapter, name, right);
		draw();
	});
	const draw = () => {
		const known = name && guessOf(lab.chapter, name), {right, all} = score();
		asks.hidden = Boolean(known) || done;
		said.replaceChildren(...known ? [element('span', {}, `Your guess: ${known.text} `)] : [],
			...known && known.right === null && done ? [answer(true), ' ', answer(false)] : [],
			...known && known.right === null && !done ? [button('Another guess', () => {
				asks.hidden = false;
				text.value = known.text;
				text.focus();
			})] : [],
			...known && known.right !== null ? [element('span', {}, known.right ? 'You were right. ' : 'You were wrong. ')] : [],
			...all ? [element('span', {}, ` You were right in ${right} of the ${all} ${
				all === 1 ? 'case' : 'cases'} for which you have guessed.`)] : []);
	};
	return {form: element('div', {}, asks, said),
		show: chosen => {
			name = chosen;
			done = false;
			text.value = '';
			draw();
		},
		// It has run: what is guessed now is none.
		ran: () => {
			done = true;
			draw();
		}};
}
