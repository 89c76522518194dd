import { describe, expect, it } from 'vitest';
import { classifyMessage } from '../../../src/platforms/shared/talk.ts';

const COMMANDS = [{ name: 'song' }];

describe('a message in a channel where every message is a question', () => {
  it.each(['.net or java?', '$AAPL price?', '~nice~', '$AAPL fell', '-5 or 5?', '...and then', '?', 'why'])(
    'is a question: %s',
    (text) => expect(classifyMessage(text, COMMANDS)).toBe('question'),
  );

  it.each([
    '!play rain',
    '!play what is love?',
    '.help',
    '?rank',
    '$work',
    ';;skip',
    '-play rain',
    '/imagine',
  ])('is a command of another bot: %s', (text) => expect(classifyMessage(text, COMMANDS)).toBe('none'));

  it('is a command of the bot: /song', () => {
    expect(classifyMessage('/song about rain', COMMANDS)).toBe('command');
  });
});
