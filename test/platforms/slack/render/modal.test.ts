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

/** Submits the form unchanged. */
function submitUnchanged(form: Form) {
  const view = formView(form, { address: ADDRESS });
  expect(viewProblems(view)).toEqual([]);
  const { values } = fillForm({ ...view }, {}, () => ({}));
  return formOptions(values);
}

it('splits a long text into two fields, and joins it again', () => {
  const lyrics = Array.from({ length: 120 }, (_, line) => `Line ${line} of a long song about rain`).join(
    '\n',
  );
  expect(lyrics.length).toBeGreaterThan(3000);
  expect(submitUnchanged(formWith(lyrics))).toEqual({ title: 'Rain', lyrics });
});

it('shows a text that is too long for a menu in a text field', () => {
  const options = { voice: { type: 'text', description: 'A voice', autocomplete: true } } as const;
  const voice = 'a voice with a long name '.repeat(20).trim();
  const form: Form = { id: 'song', title: 'Sing it', submitLabel: 'Go', options, initial: { voice } };
  expect(submitUnchanged(form)).toEqual({ voice });
});

it('keeps every text complete, with any line lengths', () => {
  const long = fc.array(fc.string({ maxLength: 400 }), { minLength: 10, maxLength: 20 });
  fc.assert(
    fc.property(long, (lines) => {
      const lyrics = lines.join('\n').slice(0, 5000);
      fc.pre(lyrics.trim() !== '');
      expect(submitUnchanged(formWith(lyrics))).toMatchObject({ lyrics });
    }),
  );
});

it('preselects the current value of a menu, or else its default', () => {
  const per = {
    type: 'choice',
    description: 'Period',
    choices: ['hour', 'day'].map((value) => ({ name: value, value })),
    default: 'day',
  } as const;
  const form: Form = { id: 'limits set', title: 'Limit', submitLabel: 'Set', options: { per }, initial: {} };
  expect(submitUnchanged(form)).toEqual({ per: 'day' });
  expect(submitUnchanged({ ...form, initial: { per: 'hour' } })).toEqual({ per: 'hour' });
});

it('lets a required box stay unticked', () => {
  const view = formView(
    {
      id: 'limits exempt',
      title: 'Exempt',
      submitLabel: 'Go',
      options: { exempt: { type: 'flag', description: 'On', required: true } },
      initial: { exempt: true },
    },
    { address: ADDRESS },
  );
  expect(view.blocks).toMatchObject([{ optional: true }]);
  const { values } = fillForm({ ...view }, { exempt: [] }, () => ({}));
  expect(formOptions(values)).toEqual({ exempt: false });
});

it("uses the bot token for Slack's files, but not for addresses that an app chose", () => {
  const file = { name: 'a.png', url_private: 'https://files.slack.com/files-pri/T-F/a.png' };
  expect(fileReference(file)).toMatchObject({ attached: true });
  expect(fileReference({ ...file, is_external: true })).toEqual({ name: 'a.png', url: file.url_private });
});

it('asks important things first, hides rare ones, and explains each field in a sentence', () => {
  const options = {
    prompt: { type: 'text', description: 'Describe it', label: 'Description', help: 'What is it about?' },
    instrumental: { type: 'flag', description: 'No vocals', help: 'Make it without vocals.' },
    voice: { type: 'text', description: 'A voice', rare: true },
    model: { type: 'text', description: 'A model', rare: true },
  } as const;
  const form: Form = {
    id: 'song',
    title: 'New song',
    submitLabel: 'Make song',
    options,
    initial: { voice: 'Ada' },
  };
  const fields = (expanded: boolean) => {
    const view = formView(form, { address: ADDRESS, expanded });
    expect(viewProblems(view)).toEqual([]);
    return view.blocks.map(({ block_id }) => block_id);
  };
  expect(fields(false)).toEqual(['prompt', 'instrumental', 'voice', 'more-options']);
  expect(fields(true)).toEqual(['prompt', 'instrumental', 'voice', 'model']);
  expect(formView(form, { address: ADDRESS })).toMatchObject({
    submit: { text: 'Make song' },
    blocks: [
      { label: { text: 'Description' }, hint: { text: 'What is it about?' } },
      { element: { options: [{ text: { text: 'Make it without vocals.' } }] } },
      {},
      {},
    ],
  });
});
