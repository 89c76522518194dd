import { describe, expect, it } from 'vitest';
import { type Message, stageToSay } from '../../src/core/message.ts';

const composing = (title?: string): Message => ({
  ...(title === undefined ? {} : { title }),
  progress: { stage: 'Composing', startedAt: 0 },
});

describe('what happens now', () => {
  it('is left unsaid where the title says it', () => {
    expect(stageToSay(composing('Composing “rain”'))).toBe('');
    expect(stageToSay(composing('Rain'))).toBe('Composing');
    expect(stageToSay(composing())).toBe('Composing');
    expect(stageToSay({})).toBe('');
  });
});
