import { expect, test } from 'vitest';
import { commands } from '../../../commands/index.ts';
import { completeLine } from '../../../src/platforms/shared/completion.ts';

test('offers two songs of the same title once', async () => {
  const suggest = async () => [
    { name: 'Rain, take 1', value: 'job1:0', typed: 'Rain' },
    { name: 'Rain, take 2', value: 'job2:0', typed: 'Rain' },
    { name: 'Snow', value: 'job3:0', typed: 'Snow' },
  ];
  const { candidates } = await completeLine('/stems --song ', { commands, suggest });
  expect(candidates.map(({ value }) => value)).toEqual(['Rain', 'Snow']);
});
