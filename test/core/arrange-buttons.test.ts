import { expect, test } from 'vitest';
import { arrangeButtons, type Button } from '../../src/core/message.ts';

const actions = (count: number): Button[] =>
  Array.from({ length: count }, (_, index) => ({
    type: 'action',
    id: `song.x:j:${index}`,
    label: `${index}`,
  }));
const links = (count: number): Button[] =>
  Array.from({ length: count }, (_, index) => ({
    type: 'link',
    url: `https://a.example/${index}`,
    label: 'Link',
  }));

test.each([
  ['all, where they fit', 3, 2, 5, 0],
  ['four and a menu, without links', 12, 0, 4, 8],
  ['four, a link and a menu', 12, 1, 5, 8],
  ['two links take the room of an action more', 12, 2, 5, 9],
])('a row holds five at most: %s', (_name, some, other, shown, more) => {
  const arranged = arrangeButtons([...actions(some), ...links(other)]);
  expect([arranged.shown.length, arranged.more.length]).toEqual([shown, more]);
});
