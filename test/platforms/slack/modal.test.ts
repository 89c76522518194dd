import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Form } from '../../../src/command.ts';
import { formOptions, formView } from '../../../src/platforms/slack/modal.ts';
import { viewProblems } from '../../servers/slack/view-problems.ts';
import { fillForm } from '../../servers/slack/view-state.ts';

const ADDRESS = { platform: 'slack', guild: 'T0', channel: 'C0', person: 'U0' };

function formWith(lyrics: string): Form {
  return {
    id: 'song',
    title: 'Sing it',
    submitLabel: 'Make the song',
    options: {
      title: { type: 'text', description: 'Its title', maximumLength: 80 },
      lyrics: { type: 'text', description: 'The words', maximumLength: 5000, multiline: true },
    },
    initial: { title: 'Rain', lyrics },
  };
}

/** A person opens the form and sends it as it is. */
function sentAsItIs(form: Form) {
  const view = formView(form, ADDRESS);
  expect(viewProblems(view)).toEqual([]);
  const { values } = fillForm({ ...view }, {}, () => ({}));
  return formOptions(values);
}

it('a text that one field cannot hold stands in two, and comes back whole', () => {
  const lyrics = Array.from({ length: 120 }, (_, line) => `Line ${line} of a long song about rain`).join(
    '\n',
  );
  expect(lyrics.length).toBeGreaterThan(3000);
  expect(sentAsItIs(formWith(lyrics))).toEqual({ title: 'Rain', lyrics });
});

it('no text is cut, however its lines are', () => {
  const long = fc.array(fc.string({ maxLength: 400 }), { minLength: 10, maxLength: 20 });
  fc.assert(
    fc.property(long, (lines) => {
      const lyrics = lines.join('\n').slice(0, 5000);
      fc.pre(lyrics.trim() !== '');
      const { lyrics: sent } = sentAsItIs(formWith(lyrics));
      expect(String(sent).replaceAll('\n', '')).toBe(lyrics.replaceAll('\n', ''));
    }),
  );
});
