import { describe, expect, it } from 'vitest';
import type { Button } from '../../../src/message.ts';
import { renderButtons } from '../../../src/platforms/discord/buttons.ts';

const buttons = (count: number, group?: string): Button[] =>
  Array.from({ length: count }, (_, index) => ({
    type: 'action',
    id: `song.do:${group ?? 'whole'}:${index}`,
    label: `${group ?? 'whole'} ${index}`,
    ...(group === undefined ? {} : { group }),
  }));
const rowLengths = (all: readonly Button[]) =>
  renderButtons(all).messages.map((rows) => rows.map(({ components }) => components.length));

describe('buttons', () => {
  it('of one group stand in rows of their own, of even length', () => {
    expect(rowLengths([...buttons(6, 'take 0'), ...buttons(6, 'take 1'), ...buttons(4)])).toEqual([
      [3, 3, 3, 3, 4],
    ]);
    expect(rowLengths([...buttons(4, 'take 0'), ...buttons(2)])).toEqual([[4, 2]]);
  });

  it('without a group fill rows of five', () => {
    expect(rowLengths(buttons(7))).toEqual([[5, 2]]);
  });

  it('fill rows one by one where groups would make more rows than a message has', () => {
    const many = Array.from({ length: 6 }, (_, index) => buttons(2, `g${index}`)).flat();
    expect(rowLengths(many)).toEqual([[5, 5, 2]]);
    expect(rowLengths([...many, ...buttons(20)])).toEqual([
      [5, 5, 5, 5, 5],
      [5, 2],
    ]);
  });
});
