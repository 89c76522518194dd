import { ComponentType } from 'discord.js';
import { describe, expect, it } from 'vitest';
import type { Button } from '../../../../src/core/message.ts';
import { renderButtons } from '../../../../src/platforms/discord/render/buttons.ts';

const buttons = (count: number, emphasis?: 'primary'): Button[] =>
  Array.from({ length: count }, (_, index) => ({
    type: 'action',
    id: `song.do:j:${index}`,
    label: `Do ${index}`,
    ...(emphasis ? { emphasis } : {}),
  }));
const LINK: Button = { type: 'link', url: 'https://discord.com/channels/1/2/3', label: 'To “Rain”' };

/** The labels of each row, and what a menu offers. */
const rows = (all: readonly Button[]) =>
  renderButtons(all, {}).messages.map((message) =>
    message.map(({ components }) =>
      components.flatMap((component) => {
        if (component.type === ComponentType.StringSelect)
          return [component.placeholder, ...component.options.map(({ label }) => label)];
        return component.type === ComponentType.Button && 'label' in component ? [component.label] : [];
      }),
    ),
  );

describe('buttons', () => {
  it('that fit are one row', () => {
    expect(rows([...buttons(4), LINK])).toEqual([[['Do 0', 'Do 1', 'Do 2', 'Do 3', 'To “Rain”']]]);
  });

  it('that are more are the first four, with the rest in one menu below', () => {
    expect(rows([...buttons(16), LINK])).toEqual([
      [
        ['Do 0', 'Do 1', 'Do 2', 'Do 3', 'To “Rain”'],
        ['More …', ...Array.from({ length: 12 }, (_, at) => `Do ${at + 4}`)],
      ],
    ]);
  });

  it('past what a menu takes get further menus, and further messages', () => {
    expect(rows(buttons(130)).map((message) => message.map((row) => row.length))).toEqual([
      [4, 26, 26, 26, 26],
      [26, 2],
    ]);
  });

  it('of one name are told apart, but for one that comes twice', () => {
    const [one] = buttons(1);
    const other: Button = { type: 'action', id: 'song.do:k:0', label: 'Do 0' };
    expect(rows([...(one ? [one, one] : []), other])).toEqual([[['Do 0', 'Do 0 (2)']]]);
  });

  it('in a menu say what they act on', () => {
    const known = buttons(6).map((button) => ({ ...button, about: 'a fox' }));
    const [, row] = renderButtons(known, { title: 'Rain' }).messages[0] ?? [];
    const options = [
      { label: 'Do 4', description: 'a fox' },
      { label: 'Do 5', description: 'a fox' },
    ];
    expect(row?.components).toMatchObject([{ placeholder: 'More … for Rain', options }]);
  });

  it('have one primary among them at most', () => {
    const styles = renderButtons(buttons(4, 'primary'), {})
      .messages.flat()
      .flatMap(({ components }) =>
        components.map((component) => ('style' in component ? component.style : undefined)),
      );
    expect(styles).toEqual([1, 2, 2, 2]);
  });
});
