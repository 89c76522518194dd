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

/** Returns the labels of each row and the options of menus. */
const rows = (all: readonly Button[]) =>
  renderButtons(all).messages.map((message) =>
    message.map(({ components }) =>
      components.flatMap((component) => {
        if (component.type === ComponentType.StringSelect)
          return [component.placeholder, ...component.options.map(({ label }) => label)];
        return component.type === ComponentType.Button && 'label' in component ? [component.label] : [];
      }),
    ),
  );

describe('buttons', () => {
  it('that fit form one row', () => {
    expect(rows([...buttons(4), LINK])).toEqual([[['Do 0', 'Do 1', 'Do 2', 'Do 3', 'To “Rain”']]]);
  });

  it('that do not fit show the first four and a menu with the rest', () => {
    expect(rows([...buttons(16), LINK])).toEqual([
      [
        ['Do 0', 'Do 1', 'Do 2', 'Do 3', 'To “Rain”'],
        ['More actions', ...Array.from({ length: 12 }, (_, at) => `Do ${at + 4}`)],
      ],
    ]);
  });

  it('beyond the limit of a menu get further menus and messages', () => {
    expect(rows(buttons(130)).map((message) => message.map((row) => row.length))).toEqual([
      [4, 26, 26, 26, 26],
      [26, 2],
    ]);
  });

  it('with the same label are numbered, and duplicates are dropped', () => {
    const [one] = buttons(1);
    const other: Button = { type: 'action', id: 'song.do:k:0', label: 'Do 0' };
    expect(rows([...(one ? [one, one] : []), other])).toEqual([[['Do 0', 'Do 0 (2)']]]);
  });

  it('in a menu describe what they apply to', () => {
    const described = buttons(6).map((button) => ({ ...button, about: 'a fox' }));
    const [, row] = renderButtons(described).messages[0] ?? [];
    const options = [
      { label: 'Do 4', description: 'a fox' },
      { label: 'Do 5', description: 'a fox' },
    ];
    expect(row?.components).toMatchObject([{ placeholder: 'More actions', options }]);
  });

  it('of a group form a row with icons and short labels, and those with a hint are in the menu', () => {
    const take = (number: number): Button[] =>
      Array.from({ length: 5 }, (_, index) => ({
        type: 'action',
        id: `song.do${index}:j:${number}`,
        label: `Do ${index} with take ${number}`,
        short: `Do ${index}.${number}`,
        icon: 'play',
        group: `Take ${number}`,
        ...(index >= 3 && { hint: 'What it does' }),
      }));
    const all = [...take(1), ...take(2), ...buttons(1)];
    expect(rows(all)[0]).toEqual([
      ['Do 0.1', 'Do 1.1', 'Do 2.1'],
      ['Do 0.2', 'Do 1.2', 'Do 2.2'],
      ['Do 0'],
      ['More actions', ...[1, 2].flatMap((take) => [3, 4].map((index) => `Do ${index} with take ${take}`))],
    ]);
    const [first, , , menu] = renderButtons(all).messages[0] ?? [];
    expect(first?.components[0]).toMatchObject({ label: 'Do 0.1', emoji: { name: '▶️' } });
    expect(menu?.components[0]).toMatchObject({
      options: Array.from({ length: 4 }, () => ({ description: 'What it does', emoji: { name: '▶️' } })),
    });
  });

  it('keep their long labels if the short ones are the same', () => {
    const same = buttons(2).map((button) => ({ ...button, short: 'Do' }));
    expect(rows(same)).toEqual([[['Do 0', 'Do 1']]]);
  });

  it('include at most one primary button', () => {
    const styles = renderButtons(buttons(4, 'primary'))
      .messages.flat()
      .flatMap(({ components }) =>
        components.map((component) => ('style' in component ? component.style : undefined)),
      );
    expect(styles).toEqual([1, 2, 2, 2]);
  });
});
