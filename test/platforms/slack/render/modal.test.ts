import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Form } from '../../../../src/core/options.ts';
import { fileReference, formOptions, formView } from '../../../../src/platforms/slack/render/modal.ts';
import { viewProblems } from '../../../servers/slack/view-problems.ts';
import { fillForm } from '../../../servers/slack/view-state.ts';

const ADDRESS = { platform: 'slack', guild: 'T0', channel: 'C0', person: 'U0' };

function formWith(lyrics: string): Form {
  return {
    id: 'song',
    title: 'Sing it',
    submitLabel: 'Create song',
    options: {
      title: { type: 'text', description: 'Title', maximumLength: 80 },
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

it('a text that one field cannot hold is in two, and comes back whole', () => {
  const lyrics = Array.from({ length: 120 }, (_, line) => `Line ${line} of a long song about rain`).join(
    '\n',
  );
  expect(lyrics.length).toBeGreaterThan(3000);
  expect(sentAsItIs(formWith(lyrics))).toEqual({ title: 'Rain', lyrics });
});

it('a text that a menu cannot hold is in a field of its own, and comes back whole', () => {
  const options = { voice: { type: 'text', description: 'A voice', autocomplete: true } } as const;
  const voice = 'a voice with a long name '.repeat(20).trim();
  const form: Form = { id: 'song', title: 'Sing it', submitLabel: 'Go', options, initial: { voice } };
  expect(sentAsItIs(form)).toEqual({ voice });
});

it('no text is cut, however its lines are', () => {
  const long = fc.array(fc.string({ maxLength: 400 }), { minLength: 10, maxLength: 20 });
  fc.assert(
    fc.property(long, (lines) => {
      const lyrics = lines.join('\n').slice(0, 5000);
      fc.pre(lyrics.trim() !== '');
      expect(sentAsItIs(formWith(lyrics))).toMatchObject({ lyrics });
    }),
  );
});

it('a box that is required can be left empty: that is an answer', () => {
  const view = formView(
    {
      id: 'limits exempt',
      title: 'Exempt',
      submitLabel: 'Go',
      options: { exempt: { type: 'flag', description: 'On', required: true } },
      initial: { exempt: true },
    },
    ADDRESS,
  );
  expect(view.blocks).toMatchObject([{ optional: true }]);
  const { values } = fillForm({ ...view }, { exempt: [] }, () => ({}));
  expect(formOptions(values)).toEqual({ exempt: false });
});

it('the bot’s token opens files of Slack’s own, and no file whose address an app chose', () => {
  const file = { name: 'a.png', url_private: 'https://files.slack.com/files-pri/T-F/a.png' };
  expect(fileReference(file)).toMatchObject({ attached: true });
  expect(fileReference({ ...file, is_external: true })).toEqual({ name: 'a.png', url: file.url_private });
});
