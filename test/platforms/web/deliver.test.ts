import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { Bot } from '../../../src/core/bot/create-bot.ts';
import type { Invocation } from '../../../src/core/invocation.ts';
import { SILENT_BOT } from '../../core/silent-bot.ts';
import { openWeb, watchChat } from './harness.ts';

const ADDRESS = { person: 'mo', channel: 'general' };
const requestId = (number: number) => `request${String(number).padStart(12, '0')}`;

async function open(bot: Bot = SILENT_BOT) {
  const chat = await openWeb();
  onTestFinished(chat.close);
  const start = async () => {
    const web = chat.make();
    await web.start(bot);
    const page = watchChat(web.browserChat, 'mo');
    onTestFinished(page.leave);
    const texts = () => page.messages().map(({ body }) => JSON.stringify(body));
    const say = (number: number, line: string) =>
      web.browserChat.ask({ type: 'line', ...ADDRESS, id: requestId(number), line });
    return { ...web.browserChat, texts, say };
  };
  return { ...chat, start };
}

test('stores the newest 200 messages of a channel', async () => {
  const { start } = await open();
  const web = await start();
  await web.ask({ type: 'line', ...ADDRESS, channel: 'songs', id: requestId(0), line: 'elsewhere' });
  for (let number = 1; number <= 205; number += 1) await web.say(number, `line ${number}.`);
  const later = watchChat(web, 'mo');
  await later.leave();
  for (const texts of [web.texts(), later.messages().map(({ body }) => JSON.stringify(body))]) {
    expect(texts).toHaveLength(201);
    expect(texts.join()).toContain('elsewhere');
    expect(texts.join()).not.toMatch(/line [1-5]\./);
    expect(texts.join()).toMatch(/line 6\..*line 205\./);
  }
});

test('gives repeated requests the same invocation id', async () => {
  const invocations: Invocation[] = [];
  const run: Bot['run'] = async (invocation) => {
    invocations.push(invocation);
    return { type: 'message', visibility: 'channel', message: { text: 'There.' } };
  };
  const { start } = await open({ ...SILENT_BOT, run });
  const web = await start();
  for (let time = 0; time < 2; time += 1) await web.say(1, '@Minstrel hello');
  expect(new Set(invocations.map(({ id }) => id)).size).toBe(1);
  expect(web.texts()).toHaveLength(2);
});

test('drops the oldest uploads, and reports it when one is used', async () => {
  const { start } = await open();
  const web = await start();
  const upload = () => web.upload('rain.mp3', 'audio/mpeg', Buffer.alloc(25 * 1024 * 1024));
  const { id } = z.object({ id: z.string() }).parse(upload());
  expect(web.uploaded(id)?.contentType).toBe('audio/mpeg');
  for (let file = 0; file < 4; file += 1) upload();
  expect(web.uploaded(id)).toBeUndefined();
  await web.ask({ type: 'line', ...ADDRESS, id: requestId(1), line: 'Listen', uploads: [id] });
  expect(web.texts().join()).toMatch(/file.*again/i);
});

test('clears only one channel', async () => {
  const { start } = await open();
  const web = await start();
  await web.say(1, 'here');
  await web.ask({ type: 'line', ...ADDRESS, channel: 'songs', id: requestId(2), line: 'elsewhere' });
  await web.ask({ type: 'clear', ...ADDRESS });
  expect(web.texts()).toHaveLength(1);
  expect(web.texts().join()).toContain('elsewhere');
});
