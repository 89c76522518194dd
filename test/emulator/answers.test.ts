import { expect, test } from 'vitest';
import { writeAnswer } from '../../src/emulator/text/answers.ts';
import type { ConversationMessage } from '../../src/emulator/text/conversation.ts';

const conversation = (...texts: string[]): ConversationMessage[] =>
  texts.map((text, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', text, pictures: [] }));

async function answer(messages: readonly ConversationMessage[]): Promise<string> {
  return (await writeAnswer(messages, 100_000)).text;
}

test.each([
  ['What is 12 * 3 + 4?', '12 * 3 + 4 = **40**'],
  ['10 - 4 / 2 - 1', '10 - 4 / 2 - 1 = **7**'],
  ['how much is seven? no: 7 times 8', '7 * 8 = **56**'],
  ['What is 1000 divided by 8?', '1000 / 8 = **125**'],
  ['0.1 + 0.2', '0.1 + 0.2 = **0.3**'],
])('%s', async (question, expected) => {
  expect(await answer(conversation(question))).toBe(expected);
});

test.each([
  ['Write a haiku about otters', /Otters/],
  ['Write a poem about the sea', /sea/i],
  ['List 4 planets', /1\. .*\n2\. .*\n3\. .*\n4\. .*$/],
  ['Give me three ideas for a garden party', /1\. .*\n2\. .*\n3\. /],
  ['Explain gravity', /\*\*Gravity\*\*[\s\S]*- /],
  ['Compare tea and coffee', /\| \| Tea \| Coffee \|\n\| --- \|/],
  ['Write a python function that reverses a string', /```python\n[\s\S]*def reverse/],
  ['Write code to greet a user', /```typescript[\s\S]*```/],
  ['Hello!', /Ask me/],
  ['What can you do?', /`\/song .*`[\s\S]*`\/minstrel`/],
  ['make me a song about rain', /`\/song rain --style .*`/],
  ['Please write a song for `Ada`', /`\/song Ada --style .*`/],
  ['Purple submarines on Tuesday', /purple[\s\S]*submarines/i],
])('answers %s', async (question, expected) => {
  expect(await answer(conversation(question))).toMatch(expected);
});

test('equal conversations get equal answers, different ones get different answers', async () => {
  expect(await answer(conversation('Explain tides'))).toBe(await answer(conversation('Explain tides')));
  expect(await answer(conversation('Explain tides'))).not.toBe(await answer(conversation('Explain bridges')));
});

test('recalls earlier messages and invents none', async () => {
  expect(await answer(conversation('My name is Ada', 'Hello', 'what is my name?'))).toContain('Ada');
  expect(await answer(conversation('My name is Ada', 'Hi', 'call me Bea', 'Hi', "what's my name"))).toContain(
    'Bea',
  );
  expect(await answer(conversation('what is my name?'))).toContain('not told me');
  expect(await answer(conversation('Explain tides', 'They go up', 'what did I ask?'))).toContain(
    'Explain tides',
  );
});

test('an essay can be long', async () => {
  expect((await answer(conversation('Write an essay of 40 paragraphs about tea'))).length).toBeGreaterThan(
    8000,
  );
});

test.each(['', ' ', '?', '🦉', '((((', '-', 'what is', 'list', '1'.repeat(5000), '[](http://x)'])(
  'answers %j',
  async (question) => {
    expect((await answer(conversation(question))).length).toBeGreaterThan(5);
  },
);
